//! A seed: a compact row that one pass of a build hands to the next.

use serde::{Serialize, de::DeserializeOwned};

/// A row that one pass hands to the next.
pub(crate) trait Seed: Clone + Serialize + DeserializeOwned {
    /// The sort key of seeds. Seeds with equal keys come in any order, so seeds that differ in
    /// relevant fields must differ in their keys.
    type Key: Ord;

    /// Returns the place in the order.
    fn key(&self) -> Self::Key;

    /// Returns the number of bytes on the heap behind the seed.
    fn heap(&self) -> usize {
        0
    }
}
