//! Points of a house price index. Answers from one series share them.

use quick_cache::sync::Cache;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Digests that one snapshot keeps at most, some two megabytes.
const DIGESTS_KEPT: usize = 1 << 14;

/// Consecutive points of a series: a month (months since January 1970) and the value of the index,
/// oldest first. Gaps are not filled.
#[derive(Clone)]
pub struct IndexPoints {
    series: Arc<Series>,
    range: Range<usize>,
}

/// All points of an area and type.
pub(crate) struct Series {
    key: u64,
    points: Box<[(i32, f64)]>,
    /// Absent for points that come from no snapshot.
    digests: Option<Arc<PointDigests>>,
}

/// The digests of points of a snapshot's series that somebody asked for.
pub(crate) struct PointDigests(Cache<DigestKey, [u8; 32]>);

#[derive(Clone, PartialEq, Eq, Hash)]
struct DigestKey {
    series: u64,
    label: u8,
    range: Range<usize>,
}

impl Default for PointDigests {
    fn default() -> PointDigests {
        PointDigests(Cache::new(DIGESTS_KEPT))
    }
}

impl Series {
    pub(crate) fn new(key: u64, points: Box<[(i32, f64)]>, digests: Arc<PointDigests>) -> Series {
        Series {
            key,
            points,
            digests: Some(digests),
        }
    }

    /// Returns the points.
    pub(crate) fn points(&self) -> &[(i32, f64)] {
        &self.points
    }
}

impl IndexPoints {
    /// Returns the points of a range. It must lie within the series.
    pub(crate) fn new(series: Arc<Series>, range: Range<usize>) -> IndexPoints {
        IndexPoints { series, range }
    }

    /// Returns the digest of these points under a label. The snapshot keeps it, and computes it
    /// only where it has none.
    ///
    /// `compute` must depend on the label and on the points alone.
    pub fn digest(&self, label: u8, compute: impl FnOnce(&[(i32, f64)]) -> [u8; 32]) -> [u8; 32] {
        let Some(digests) = &self.series.digests else {
            return compute(self);
        };
        let key = DigestKey {
            series: self.series.key,
            label,
            range: self.range.clone(),
        };
        if let Some(digest) = digests.0.get(&key) {
            return digest;
        }
        let digest = compute(self);
        digests.0.insert(key, digest);
        digest
    }
}

impl Deref for IndexPoints {
    type Target = [(i32, f64)];

    fn deref(&self) -> &[(i32, f64)] {
        &self.series.points[self.range.clone()]
    }
}

impl From<Vec<(i32, f64)>> for IndexPoints {
    fn from(points: Vec<(i32, f64)>) -> IndexPoints {
        let range = 0..points.len();
        let series = Series {
            key: 0,
            points: points.into(),
            digests: None,
        };
        IndexPoints::new(Arc::new(series), range)
    }
}

impl PartialEq for IndexPoints {
    fn eq(&self, other: &IndexPoints) -> bool {
        **self == **other
    }
}

impl fmt::Debug for IndexPoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl Serialize for IndexPoints {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for IndexPoints {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<IndexPoints, D::Error> {
        Vec::deserialize(deserializer).map(IndexPoints::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    /// Returns points of a snapshot's series with this key.
    fn points(key: u64, range: Range<usize>, digests: &Arc<PointDigests>) -> IndexPoints {
        let all = (0..10)
            .map(|month| (month, f64::from(month) + 0.5))
            .collect();
        IndexPoints::new(Arc::new(Series::new(key, all, digests.clone())), range)
    }

    #[test]
    fn a_digest_is_computed_once_for_each_label_range_and_series() {
        let digests = Arc::default();
        let computed = Cell::new(0);
        let digest = |points: &IndexPoints, label| {
            let compute = |shown: &[(i32, f64)]| {
                assert_eq!(shown, &**points);
                computed.set(computed.get() + 1);
                [computed.get(); 32]
            };
            points.digest(label, compute)[0]
        };
        let first = points(1, 2..5, &digests);
        assert_eq!((digest(&first, 0), digest(&first, 1)), (1, 2));
        for (key, range, expected) in [(1, 2..4, 3), (1, 3..5, 4), (2, 2..5, 5)] {
            assert_eq!(digest(&points(key, range, &digests), 0), expected);
        }
        assert_eq!(digest(&points(1, 2..5, &digests), 0), 1, "it is kept");
        // Points from no snapshot have nowhere to keep it.
        let alone = IndexPoints::from(first.to_vec());
        assert_eq!((digest(&alone, 0), digest(&alone, 0)), (6, 7));
    }

    #[test]
    fn a_snapshot_keeps_no_more_digests_than_its_bound() {
        let digests = Arc::default();
        for key in 0..2 * DIGESTS_KEPT as u64 {
            points(key, 0..1, &digests).digest(0, |_| [7; 32]);
        }
        let kept = digests.0.len();
        assert!((DIGESTS_KEPT / 2..=DIGESTS_KEPT).contains(&kept), "{kept}");
    }

    proptest! {
        #[test]
        fn points_are_written_and_read_as_a_list_of_pairs(
            list in prop::collection::vec((any::<i32>(), -1e9..1e9), 0..40),
            from in 0_usize..40,
        ) {
            let from = from.min(list.len());
            let series = Series::new(3, list.clone().into(), Arc::default());
            let points = IndexPoints::new(Arc::new(series), from..list.len());
            let text = serde_json::to_string(&points).unwrap();
            prop_assert_eq!(&text, &serde_json::to_string(&list[from..]).unwrap());
            let bytes = postcard::to_stdvec(&points).unwrap();
            prop_assert_eq!(&bytes, &postcard::to_stdvec(&list[from..]).unwrap());
            let read: IndexPoints = postcard::from_bytes(&bytes).unwrap();
            prop_assert_eq!(read, points);
        }
    }
}
