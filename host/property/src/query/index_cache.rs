//! Series of a house price index that a snapshot keeps in memory.

use quick_cache::sync::Cache;
use std::sync::Arc;

/// The series that homes of one request share, by their keys. A type of an authority has a series,
/// so that the largest snapshot has some two thousand.
pub(crate) type IndexCache = Cache<u64, Arc<[u8]>>;

/// Series that one snapshot keeps at most: at ten bytes a month some 20 MB.
pub(crate) const SERIES_KEPT: usize = 1 << 12;
