//! Many rows of one request, in pieces over the workers.
//!
//! A batch queues only as many pieces as keep the workers busy, and queues the next when one is
//! done. So requests that arrive together take turns, and a single value waits for pieces, never
//! for whole batches.

use super::address_lookup::AddressLookups;
use super::deadline::Deadline;
use super::row::{
    ParsedRow, RenderedRow, RequestContext, lost_row, timed_out_row, value as value_row,
};
use crate::worker_pool::WorkerPool;
use domesday_address_lookup::Provider;
use domesday_contract::v3::result::{BATCH_END, Summary, batch_start};
use domesday_registers::Postcode;
use futures_util::future::FutureExt;
use futures_util::stream;
use futures_util::stream::StreamExt;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// Rows of a piece. They take some milliseconds, and queueing a piece takes some tens of
/// microseconds.
const PIECE: usize = 32;
/// Pieces whose addresses are looked up at the same time, so that the provider is never idle.
const PIECES_LOOKED_UP: usize = 64;

/// The results of a batch.
pub struct BatchResults {
    /// The results in the order of the rows, as JSON with commas between those of a piece.
    pieces: Vec<Vec<u8>>,
    /// The bytes of each result.
    pub sizes: Vec<usize>,
    /// The count by status.
    pub summary: Summary,
    /// Units of rows that the host failed or had no time for.
    pub refundable: u32,
    /// The first problem of a row, where any row has one.
    pub problem: Option<String>,
}

impl BatchResults {
    /// Returns the response with all results. They are copied once, into a buffer of its length.
    ///
    /// # Errors
    /// As [`batch_start`].
    pub fn response(&self, release_id: &str) -> serde_json::Result<Vec<u8>> {
        let mut text = batch_start(release_id, self.summary)?;
        let commas = self.pieces.len().saturating_sub(1);
        let results: usize = self.pieces.iter().map(Vec::len).sum();
        text.reserve_exact(results + commas + BATCH_END.len());
        for (at, piece) in self.pieces.iter().enumerate() {
            if at > 0 {
                text.push(b',');
            }
            text.extend_from_slice(piece);
        }
        text.extend_from_slice(BATCH_END);
        Ok(text)
    }
}

/// Runs all rows. A row that is not done at the deadline, or that a panic of its worker lost, gets
/// a result that says so.
///
/// Row `i` has the valuation id [`nth`] of `first` and `i`.
pub async fn value(
    workers: &WorkerPool,
    provider: Option<&Arc<Provider>>,
    context: &Arc<RequestContext>,
    rows: Vec<ParsedRow>,
    first: Uuid,
    deadline: Deadline,
) -> BatchResults {
    let rows: Arc<[ParsedRow]> = rows.into();
    let (to_look_up, answers) = find_lookups(workers, provider, context, &rows, deadline).await;
    let batch = Batch {
        pieces: split(&rows, &to_look_up, first),
        rows,
        context: context.clone(),
        answers,
        deadline,
    };
    let _ = tokio::time::timeout_at(deadline.end().into(), batch.run(workers, &to_look_up)).await;
    batch.assemble()
}

/// Finds the postcodes to look up, by row, and prepares their lookups. Where the deadline passes
/// before that, there are none, and no row is begun.
async fn find_lookups(
    workers: &WorkerPool,
    provider: Option<&Arc<Provider>>,
    context: &Arc<RequestContext>,
    rows: &Arc<[ParsedRow]>,
    deadline: Deadline,
) -> (Vec<Option<Postcode>>, Arc<AddressLookups>) {
    let work = async {
        let to_look_up = match provider {
            Some(_) => postcodes_to_look_up(workers, rows, context).await,
            None => Vec::new(),
        };
        let all = to_look_up.iter().flatten().cloned().collect();
        let answers = Arc::new(AddressLookups::new(provider.cloned(), all));
        (to_look_up, answers)
    };
    let lookups = tokio::time::timeout_at(deadline.end().into(), work).await;
    lookups.unwrap_or_else(|_| (Vec::new(), Arc::new(AddressLookups::none())))
}

/// Returns the postcode to look up of each row that needs a lookup.
async fn postcodes_to_look_up(
    workers: &WorkerPool,
    rows: &Arc<[ParsedRow]>,
    context: &Arc<RequestContext>,
) -> Vec<Option<Postcode>> {
    let (rows, context) = (rows.clone(), context.clone());
    let found = workers.run_parallel_fair(move || {
        let rows = rows.par_iter().with_min_len(PIECE);
        rows.map(|row| row.postcode_to_look_up(&context)).collect()
    });
    // If the task is lost, the rows that need a lookup report `Unavailable`.
    found.await.unwrap_or_default()
}

/// Returns the valuation id of row `index` of a request whose first row has `first`. The ids are
/// consecutive, so one log line identifies all of them.
pub fn nth(first: Uuid, index: usize) -> Uuid {
    Uuid::from_u128(first.as_u128().wrapping_add(index as u128))
}

/// Returns the valuation id of the first row. Its low bits are zero, so that the others count up.
pub fn first(new: Uuid) -> Uuid {
    Uuid::from_u128(new.as_u128() & !0xffff)
}

/// Consecutive rows. All of them need a lookup, or none does.
struct Piece {
    rows: Range<usize>,
    /// The valuation id of the first row of the request.
    first: Uuid,
    waits: bool,
    results: Mutex<PieceResults>,
}

/// The results of a piece so far.
#[derive(Default)]
struct PieceResults {
    json: Vec<u8>,
    sizes: Vec<usize>,
    summary: Summary,
    refundable: u32,
    problem: Option<String>,
    count: usize,
    /// The worker panicked outside of a row.
    lost: bool,
    /// The response is being written, so no more results are taken.
    closed: bool,
}

/// Divides the rows. `to_look_up` holds the postcode of each row that needs a lookup, or is empty.
fn split(rows: &[ParsedRow], to_look_up: &[Option<Postcode>], first: Uuid) -> Arc<[Piece]> {
    let waits = |at: usize| to_look_up.get(at).is_some_and(Option::is_some);
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
                results: Mutex::default(),
            }),
        }
    }
    pieces.into()
}

/// The pieces of a batch, and everything that they need.
struct Batch {
    pieces: Arc<[Piece]>,
    rows: Arc<[ParsedRow]>,
    context: Arc<RequestContext>,
    answers: Arc<AddressLookups>,
    deadline: Deadline,
}

impl Batch {
    /// Runs all pieces. Those without a lookup go first. A piece whose lookup is done goes in
    /// between.
    async fn run(&self, workers: &WorkerPool, to_look_up: &[Option<Postcode>]) {
        let pieces = &self.pieces;
        let (ready, waiting): (Vec<_>, Vec<_>) =
            (0..pieces.len()).partition(|&at| !pieces[at].waits);
        let looked_up = stream::iter(waiting)
            .map(|at| {
                let postcodes: BTreeSet<_> = to_look_up[pieces[at].rows.clone()]
                    .iter()
                    .flatten()
                    .collect();
                let postcodes = postcodes.into_iter().cloned().collect();
                let lookup = self.answers.clone().look_up(postcodes);
                async move {
                    lookup.await;
                    at
                }
            })
            .buffer_unordered(PIECES_LOOKED_UP);
        stream::select(stream::iter(ready), looked_up)
            .map(|at| {
                let (pieces, rows) = (pieces.clone(), self.rows.clone());
                let (context, answers) = (self.context.clone(), self.answers.clone());
                let deadline = self.deadline;
                workers
                    .run_fair(move || pieces[at].work(&rows, &context, &answers, deadline))
                    .map(move |ran| (at, ran))
            })
            .buffer_unordered(workers.threads() + 1)
            // A lost piece leaves its rows without a result. They get one when all are assembled.
            .for_each(|(at, ran)| {
                pieces[at].results().lost = ran.is_err();
                async {}
            })
            .await;
    }

    /// Collects the results of all rows, those included that have no result yet.
    fn assemble(&self) -> BatchResults {
        let mut whole = BatchResults {
            pieces: Vec::with_capacity(self.pieces.len()),
            sizes: Vec::with_capacity(self.rows.len()),
            summary: Summary::default(),
            refundable: 0,
            problem: None,
        };
        for piece in self.pieces.iter() {
            let mut results = piece.results();
            results.closed = true;
            self.complete(piece, &mut results);
            whole.pieces.push(std::mem::take(&mut results.json));
            whole.sizes.append(&mut results.sizes);
            whole.summary.add(results.summary);
            whole.refundable += results.refundable;
            if whole.problem.is_none() {
                whole.problem = results.problem.take();
            }
        }
        whole
    }

    /// Gives each row of a piece without a result one that says why.
    fn complete(&self, piece: &Piece, results: &mut PieceResults) {
        while let Some(index) = piece.nth(results.count) {
            let (row, id) = (&self.rows[index], nth(piece.first, index));
            let row = match results.lost {
                true => lost_row(row, &self.context, id),
                false => timed_out_row(row, &self.context, id, self.deadline),
            };
            results.add(row);
        }
    }
}

impl Piece {
    /// Returns the index in the request of row `at` of the piece.
    fn nth(&self, at: usize) -> Option<usize> {
        self.rows.clone().nth(at)
    }

    fn work(
        &self,
        rows: &[ParsedRow],
        context: &RequestContext,
        answers: &AddressLookups,
        deadline: Deadline,
    ) {
        for index in self.rows.clone() {
            let id = nth(self.first, index);
            let row = value_row(&rows[index], context, answers, id, Some(deadline));
            if let Some(problem) = &row.problem {
                let (release_id, execution_id) = (&context.release.id, context.execution_id);
                tracing::warn!(problem, release_id, %execution_id, valuation_id = %id, "a row has no answer");
            }
            let mut results = self.results();
            if results.closed {
                return;
            }
            results.add(row);
        }
    }

    /// Locks the results. A thread that panicked with the lock changed nothing, because a result
    /// is added whole.
    fn results(&self) -> MutexGuard<'_, PieceResults> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PieceResults {
    fn add(&mut self, row: RenderedRow) {
        if self.json.capacity() == 0 {
            // Results of a piece are of about the same size.
            self.json.reserve((row.json.len() + 64) * PIECE);
        }
        if self.count > 0 {
            self.json.push(b',');
        }
        self.json.extend_from_slice(&row.json);
        self.sizes.push(row.json.len());
        self.summary.count(row.status);
        self.refundable += u32::from(row.refundable);
        if self.problem.is_none() {
            self.problem = row.problem;
        }
        self.count += 1;
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

    #[test]
    fn a_response_has_all_results_and_no_byte_to_spare() {
        // Longer than the room that the start of an envelope is given.
        let long = format!("\"{}\"", "2".repeat(1_000));
        let pieces: [&[&str]; 3] = [&["{\"a\":1}", &long], &["[3]"], &["4", "\"5\"", "null"]];
        for count in 0..=pieces.len() {
            let pieces = &pieces[..count];
            let results = BatchResults {
                pieces: (pieces.iter().map(|piece| piece.join(",").into_bytes())).collect(),
                sizes: Vec::new(),
                summary: Summary::default(),
                refundable: 0,
                problem: None,
            };
            let mut expected = batch_start("synthetic-1", results.summary).unwrap();
            expected.extend_from_slice(pieces.concat().join(",").as_bytes());
            expected.extend_from_slice(BATCH_END);
            let response = results.response("synthetic-1").unwrap();
            assert_eq!(response, expected);
            assert!(count == 0 || response.capacity() == response.len());
        }
    }
}
