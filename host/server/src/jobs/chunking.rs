//! Divides the rows of a submission into chunks.

use super::persisted;
use domesday_state::NewChunk;
use domesday_valuation::pipeline::row::{RequestContext, parse};

/// Rows of a chunk. They are few enough that a crash repeats little work, and many enough that a
/// commit per chunk costs little.
pub const CHUNK_ROWS: usize = 64;

/// Returns the chunks of these rows with their units. It parses every row, since only a row without
/// errors costs a unit. The runner parses the row again.
pub fn chunks(rows: &[&str], context: &RequestContext) -> Vec<NewChunk> {
    rows.chunks(CHUNK_ROWS)
        .map(|rows| {
            let billable = rows.iter().filter(|row| parse(row, context).is_billable());
            NewChunk {
                units: count(billable.count()),
                rows: count(rows.len()),
                input: persisted::rows_to_bytes(rows),
            }
        })
        .collect()
}

/// Converts a number of rows. The contract allows a few thousand.
pub fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}
