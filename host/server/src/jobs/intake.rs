//! From the body of a submission to the chunks that are kept of it.

use super::stored;
use crate::valuation::row::{Shared, parse};
use domesday_state::NewChunk;

/// Rows of a chunk. Few enough that little is done twice after a crash and that a chunk's results
/// are a small thing to stream; many enough that a commit each does not matter.
pub const CHUNK_ROWS: usize = 64;

/// The chunks of these rows, each with the units that it costs. Every row is read in full, since
/// only a row without a fault costs a unit; it is read again when it is valued.
pub fn chunks(rows: &[&str], shared: &Shared) -> Vec<NewChunk> {
    rows.chunks(CHUNK_ROWS)
        .map(|rows| {
            let admitted = rows.iter().filter(|row| parse(row, shared).admitted());
            NewChunk {
                units: count(admitted.count()),
                rows: count(rows.len()),
                input: stored::rows_to_bytes(rows),
            }
        })
        .collect()
}

/// A number of rows, of which there are never more than the contract's few thousand.
pub fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}
