//! Series of a house price index that a snapshot keeps in memory.

use crate::model::{PointDigests, Series};
use quick_cache::sync::Cache;
use std::sync::Arc;

/// Series that one snapshot keeps at most: at 16 bytes a month some 30 MB.
const SERIES_KEPT: usize = 1 << 12;

/// The series that homes of one request share. A type of an authority has a series, so that the
/// largest snapshot has some two thousand.
pub(crate) struct IndexCache {
    /// By the keys of the series.
    pub(super) series: Cache<u64, Arc<Series>>,
    pub(super) digests: Arc<PointDigests>,
}

impl Default for IndexCache {
    fn default() -> IndexCache {
        IndexCache {
            series: Cache::new(SERIES_KEPT),
            digests: Arc::default(),
        }
    }
}
