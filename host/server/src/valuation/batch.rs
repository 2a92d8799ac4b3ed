//! Many rows of one request, in pieces over the workers.
//!
//! A batch has only as many pieces with the workers as keep them busy, and hands in the next when one
//! comes back; so requests that arrive together take turns, and a single value waits for pieces, never
//! for whole batches.

use super::look_up::Answers;
use super::row::{ParsedRow, RowDone, Shared, late, value as value_row, wanted};
use crate::workers::Workers;
use domesday_breaks::broken;
use domesday_contract::v3::result::Summary;
use domesday_identity::Provider;
use domesday_registers::Postcode;
use futures_util::stream::{self, StreamExt};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use uuid::Uuid;

/// Rows of a piece: some milliseconds of work, against some tens of microseconds that it costs to hand
/// a piece over.
const PIECE: usize = 32;
/// Pieces that the identity provider is asked for at the same time, so that it has always enough to do.
const ASKED: usize = 64;

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
    provider: Option<&Arc<Provider>>,
    shared: &Arc<Shared>,
    rows: Vec<ParsedRow>,
    first: Uuid,
    deadline: Instant,
) -> Valued {
    let rows: Arc<[ParsedRow]> = in_order(rows).into();
    let work = async {
        let open = match provider {
            Some(_) => open(workers, &rows, shared).await,
            None => Vec::new(),
        };
        let all = open.iter().flatten().cloned().collect();
        (open, Arc::new(Answers::wanted(provider.cloned(), all)))
    };
    let looked = tokio::time::timeout_at(deadline.into(), work).await;
    // Where there was no time even for that, nothing is begun.
    let (open, answers) = looked.unwrap_or_else(|_| (Vec::new(), Arc::new(Answers::none())));
    let pieces = split(&rows, &open, first);
    // What waits for nobody goes first, and what was answered meanwhile goes in between.
    let (ready, asking): (Vec<_>, Vec<_>) = (0..pieces.len()).partition(|&at| !pieces[at].waits);
    let asked = stream::iter(asking)
        .map(|at| {
            let wanted: BTreeSet<_> = open[pieces[at].rows.clone()].iter().flatten().collect();
            let asked = answers.clone().ask(wanted.into_iter().cloned().collect());
            async move {
                asked.await;
                at
            }
        })
        .buffer_unordered(ASKED);
    let work = stream::select(stream::iter(ready), asked)
        .map(|at| {
            let (pieces, rows) = (pieces.clone(), rows.clone());
            let (shared, answers) = (shared.clone(), answers.clone());
            workers.run_in_turn(move || pieces[at].work(&rows, &shared, &answers, deadline))
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
        while let Some(index) = piece.nth(progress.done) {
            let done = late(&rows[index], shared, nth(first, index));
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

/// The postcode of each row that the snapshot leaves open.
async fn open(
    workers: &Workers,
    rows: &Arc<[ParsedRow]>,
    shared: &Arc<Shared>,
) -> Vec<Option<Postcode>> {
    let (rows, shared) = (rows.clone(), shared.clone());
    let found = workers.run_divided_in_turn(move || {
        let rows = rows.par_iter().with_min_len(PIECE);
        rows.map(|row| wanted(row, &shared)).collect()
    });
    // Where that was lost, the rows that would have been asked for say that nobody answered.
    found.await.unwrap_or_default()
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

/// Some rows that follow each other, and all wait for the identity provider or none of them does.
struct Piece {
    rows: Range<usize>,
    /// The valuation id of the request's first row.
    first: Uuid,
    waits: bool,
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

fn in_order(mut rows: Vec<ParsedRow>) -> Vec<ParsedRow> {
    if broken("endpoints-2-order") {
        rows.reverse();
    }
    rows
}

/// Divides the rows, of which `open` (where it is not empty) tells who waits.
fn split(rows: &[ParsedRow], open: &[Option<Postcode>], first: Uuid) -> Arc<[Piece]> {
    let waits = |at: usize| open.get(at).is_some_and(Option::is_some);
    let mut pieces: Vec<Piece> = Vec::with_capacity(rows.len().div_ceil(PIECE));
    for at in 0..rows.len() {
        match pieces.last_mut() {
            Some(last) if last.rows.len() < PIECE && last.waits == waits(at) => {
                last.rows.end = at + 1;
            }
            _ => pieces.push(Piece {
                rows: at..at + 1,
                first,
                waits: waits(at),
                progress: Mutex::default(),
            }),
        }
    }
    pieces.into()
}

impl Piece {
    /// The place in the request of the piece's row `at`.
    fn nth(&self, at: usize) -> Option<usize> {
        self.rows.clone().nth(at)
    }

    fn work(&self, rows: &[ParsedRow], shared: &Shared, answers: &Answers, deadline: Instant) {
        for index in self.rows.clone() {
            let id = nth(self.first, index);
            let done = value_row(&rows[index], shared, answers, id, Some(deadline));
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
