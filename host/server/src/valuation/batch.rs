//! Many rows of one request, in pieces over the workers.
//!
//! A batch has only as many pieces with the workers as keep them busy, and hands in the next when one
//! comes back; so requests that arrive together take turns, and a single value waits for pieces, never
//! for whole batches.

use super::row::{ParsedRow, RowDone, Shared, late, value as value_row};
use crate::workers::Workers;
use domesday_breaks::broken;
use domesday_contract::v3::result::Summary;
use futures_util::stream::{self, StreamExt};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use uuid::Uuid;

/// Rows of a piece: some milliseconds of work, against some tens of microseconds that it costs to hand
/// a piece over.
const PIECE: usize = 32;

/// The results of a batch.
pub struct Valued {
    /// One result a row, in the rows' order, as JSON with commas between.
    pub json: Vec<u8>,
    /// How many of which status.
    pub summary: Summary,
    /// Admitted rows that were left undone by our fault or for want of time.
    pub undone: u32,
    /// The first row's problem, where any had one.
    pub problem: Option<String>,
}

/// Values all rows; the rows that are not done at the deadline get a result that says so.
///
/// Row `i` has the valuation id [`nth`] of `first` and `i`.
pub async fn value(
    workers: &Workers,
    shared: &Arc<Shared>,
    rows: Vec<ParsedRow>,
    first: Uuid,
    deadline: Instant,
) -> Valued {
    let pieces = split(rows, first);
    let work = stream::iter(0..pieces.len())
        .map(|at| {
            let (pieces, shared) = (pieces.clone(), shared.clone());
            workers.run_in_turn(move || pieces[at].work(&shared, deadline))
        })
        .buffer_unordered(workers.threads() + 1)
        // A piece that was lost left its rows undone, and they are filled in below.
        .for_each(|_| async {});
    let _ = tokio::time::timeout_at(deadline.into(), work).await;

    let mut whole = Valued {
        json: Vec::new(),
        summary: Summary::default(),
        undone: 0,
        problem: None,
    };
    for piece in pieces.iter() {
        let mut progress = piece.progress();
        progress.closed = true;
        while let Some(row) = piece.rows.get(progress.done) {
            let done = late(row, shared, nth(piece.first, progress.done));
            progress.add(done);
        }
        if whole.json.capacity() == 0 {
            // The pieces are about as large as each other, and a result is short of a kilobyte.
            whole
                .json
                .reserve((progress.json.len() + 1024) * pieces.len());
        }
        if !whole.json.is_empty() {
            whole.json.push(b',');
        }
        whole.json.append(&mut progress.json);
        whole.summary.add(progress.summary);
        whole.undone += progress.undone;
        if whole.problem.is_none() {
            whole.problem = progress.problem.take();
        }
    }
    whole
}

/// The valuation id of row `index` of a request whose first row has `first`: consecutive numbers, so
/// that one line of a log tells them all.
pub fn nth(first: Uuid, index: usize) -> Uuid {
    let index = if broken("result-valuation-id") {
        0
    } else {
        index
    };
    Uuid::from_u128(first.as_u128().wrapping_add(index as u128))
}

/// The first id of a request's rows out of a new one, with room for the rest to count up.
pub fn first(new: Uuid) -> Uuid {
    Uuid::from_u128(new.as_u128() & !0xffff)
}

/// Some rows that follow each other.
struct Piece {
    rows: Vec<ParsedRow>,
    /// The valuation id of the first.
    first: Uuid,
    progress: Mutex<Progress>,
}

/// What is done of a piece.
#[derive(Default)]
struct Progress {
    json: Vec<u8>,
    summary: Summary,
    undone: u32,
    problem: Option<String>,
    done: usize,
    /// The answer is being written: nothing more is taken.
    closed: bool,
}

fn split(rows: Vec<ParsedRow>, first: Uuid) -> Arc<[Piece]> {
    let mut rows = rows;
    if broken("endpoints-2-order") {
        rows.reverse();
    }
    let mut rows = rows.into_iter();
    let pieces = rows.len().div_ceil(PIECE);
    (0..pieces)
        .map(|at| Piece {
            rows: rows.by_ref().take(PIECE).collect(),
            first: nth(first, at * PIECE),
            progress: Mutex::default(),
        })
        .collect()
}

impl Piece {
    fn work(&self, shared: &Shared, deadline: Instant) {
        for (index, row) in self.rows.iter().enumerate() {
            let id = nth(self.first, index);
            let done = value_row(row, shared, id, Some(deadline));
            if let Some(problem) = &done.problem {
                let (release_id, execution_id) = (&shared.release.id, shared.execution_id);
                tracing::warn!(problem, release_id, %execution_id, valuation_id = %id, "a row has no answer");
            }
            let mut progress = self.progress();
            if progress.closed {
                return;
            }
            progress.add(done);
        }
    }

    /// Whoever held it before and panicked had not begun to change it: a result is added whole.
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    fn add(&mut self, done: RowDone) {
        if self.done > 0 {
            self.json.push(b',');
        }
        self.json.extend_from_slice(&done.json);
        self.summary.count(done.status);
        self.undone += u32::from(done.undone);
        if self.problem.is_none() {
            self.problem = done.problem;
        }
        self.done += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ids_of_a_request_count_up_and_stay_ids_of_version_7() {
        let new = Uuid::from_u128(0x0199_0000_0000_7fff_bfff_ffff_ffff_ffff);
        let first = first(new);
        assert_eq!(nth(first, 0), first);
        let last = nth(first, 2_499);
        assert_eq!(last.as_u128() - first.as_u128(), 2_499);
        for id in [first, last] {
            assert_eq!(id.get_version_num(), 7);
            assert_eq!(id.get_variant(), uuid::Variant::RFC4122);
            assert_eq!(id.as_u128() >> 16, new.as_u128() >> 16);
        }
    }
}
