//! One chunk of a job: its rows in, their results out.

use super::intake::count;
use super::stored;
use crate::valuation::batch::nth;
use crate::valuation::look_up::Answers;
use crate::valuation::row::{RowDone, Shared, parse, value, wanted};
use domesday_contract::v3::result::Status;
use domesday_registers::Postcode;
use domesday_state::{ChunkDone, Tally};
use std::collections::BTreeSet;
use std::sync::Arc;
use uuid::Uuid;

/// How often a row that was left undone by our fault is begun.
pub const ATTEMPTS: u32 = 3;

/// A chunk in work. It is valued row by row, and can be set aside between two rows.
pub struct Chunk {
    rows: Arc<[String]>,
    results: Vec<Option<RowDone>>,
    /// The round that is under way, from 1.
    round: u32,
    /// The next row of the round to look at.
    next: usize,
}

impl Chunk {
    /// A chunk of these rows, of which nothing is done yet.
    pub fn new(rows: Arc<[String]>) -> Chunk {
        Chunk {
            results: rows.iter().map(|_| None).collect(),
            rows,
            round: 1,
            next: 0,
        }
    }

    /// Its rows.
    pub fn rows(&self) -> Arc<[String]> {
        self.rows.clone()
    }

    /// The postcodes of the round's rows that the snapshot leaves open. Blocks.
    pub fn open(&self, shared: &Shared) -> BTreeSet<Postcode> {
        let undone = |at: &usize| self.results[*at].as_ref().is_none_or(|done| done.undone);
        (0..self.rows.len())
            .filter(undone)
            .filter_map(|at| wanted(&parse(&self.rows[at], shared), shared))
            .collect()
    }

    /// Values rows until the round is over, or until `set_aside` says so after a row. Blocks.
    pub fn work(
        &mut self,
        shared: &Shared,
        answers: &Answers,
        first_valuation_id: Uuid,
        set_aside: impl Fn() -> bool,
    ) {
        while let Some(result) = self.results.get_mut(self.next) {
            let (index, row) = (self.next, &self.rows[self.next]);
            self.next += 1;
            if result.as_ref().is_none_or(|done| done.undone) {
                let valuation_id = nth(first_valuation_id, index);
                let done = value(&parse(row, shared), shared, answers, valuation_id, None);
                if let Some(problem) = &done.problem {
                    tracing::warn!(
                        execution_id = %shared.execution_id,
                        %valuation_id,
                        release_id = shared.release.id,
                        problem,
                        "a row of a job"
                    );
                }
                *result = Some(done);
                if set_aside() {
                    return;
                }
            }
        }
    }

    /// Whether every row of the round was looked at.
    pub fn round_over(&self) -> bool {
        self.next == self.rows.len()
    }

    /// Begins another round for the rows that were left undone, if there are any and they were not
    /// begun often enough.
    pub fn again(&mut self) -> bool {
        let undone = self.results.iter().flatten().any(|done| done.undone);
        if !undone || self.round >= ATTEMPTS {
            return false;
        }
        self.round += 1;
        self.next = 0;
        true
    }

    /// The results. Rows that are still undone stand in it as failed, and are given back.
    pub fn done(&self, chunk: u32) -> ChunkDone {
        let mut tally = Tally::default();
        let results = || self.results.iter().flatten();
        for result in results() {
            *match result.status {
                Status::Valued => &mut tally.valued,
                Status::Referred => &mut tally.referred,
                Status::Rejected => &mut tally.rejected,
                Status::ValuationFailed => &mut tally.valuation_failed,
            } += 1;
        }
        ChunkDone {
            chunk,
            output: stored::results_to_bytes(results().map(|result| &*result.json)),
            tally,
            refund: count(results().filter(|result| result.undone).count()),
        }
    }
}
