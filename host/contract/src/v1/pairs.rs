//! Objects whose names are not known when this is compiled, in the order given.

use serde::{Serialize, Serializer};

/// Writes pairs as an object.
///
/// # Errors
/// The writer's.
pub(super) fn object<S: Serializer, V: Serialize>(
    pairs: &[(&'static str, V)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}
