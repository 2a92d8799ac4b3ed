//! The one place where seeds are put in order.

/// Sorts seeds by their whole content, so that equal input gives equal output whatever order
/// it was read in. In memory; what outgrows it can be spilled here without the passes noticing.
pub(crate) fn sorted<T: Ord>(mut seeds: Vec<T>) -> Vec<T> {
    seeds.sort_unstable();
    seeds
}

/// Groups of neighbours that share a key, of seeds sorted by it.
pub(crate) fn groups<'a, T, K: PartialEq>(
    seeds: &'a [T],
    key: impl Fn(&T) -> K + 'a,
) -> impl Iterator<Item = &'a [T]> {
    seeds.chunk_by(move |a, b| key(a) == key(b))
}

/// The neighbours that share `wanted`, of seeds sorted by `key`.
pub(crate) fn equal_range<T, K: Ord>(seeds: &[T], wanted: K, key: impl Fn(&T) -> K) -> &[T] {
    let start = seeds.partition_point(|seed| key(seed) < wanted);
    let length = seeds[start..].partition_point(|seed| key(seed) == wanted);
    &seeds[start..start + length]
}
