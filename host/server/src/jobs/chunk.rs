//! One chunk of a job: its rows in, their results out.

use super::chunking::count;
use super::persisted;
use domesday_contract::v3::result::Status;
use domesday_registers::Postcode;
use domesday_state::{ChunkResults, Tally};
use domesday_valuation::pipeline::address_lookup::AddressLookups;
use domesday_valuation::pipeline::batch::nth;
use domesday_valuation::pipeline::row::{RenderedRow, RequestContext, parse, value};
use std::collections::BTreeSet;
use std::sync::Arc;
use uuid::Uuid;

/// Maximum attempts per row after a host failure.
pub const ATTEMPTS: u32 = 3;

/// A chunk in work. It runs row by row, and can yield between two rows.
pub struct Chunk {
    rows: Arc<[String]>,
    results: Vec<Option<RenderedRow>>,
    /// The current round, from 1.
    round: u32,
    /// The next row of the round.
    next: usize,
}

impl Chunk {
    /// Returns a chunk of these rows, none of which ran.
    pub fn new(rows: Arc<[String]>) -> Chunk {
        Chunk {
            results: rows.iter().map(|_| None).collect(),
            rows,
            round: 1,
            next: 0,
        }
    }

    /// Returns its rows.
    pub fn rows(&self) -> Arc<[String]> {
        self.rows.clone()
    }

    /// Returns the postcodes to look up for the rows of the round. Blocks.
    pub fn postcodes_to_look_up(&self, context: &RequestContext) -> BTreeSet<Postcode> {
        let refundable = |at: &usize| {
            self.results[*at]
                .as_ref()
                .is_none_or(|rendered| rendered.refundable)
        };
        (0..self.rows.len())
            .filter(refundable)
            .filter_map(|at| parse(&self.rows[at], context).postcode_to_look_up(context))
            .collect()
    }

    /// Runs rows until the round is over, or until `yield_now` returns true after a row. Blocks.
    pub fn work(
        &mut self,
        context: &RequestContext,
        answers: &AddressLookups,
        first_valuation_id: Uuid,
        yield_now: impl Fn() -> bool,
    ) {
        while let Some(result) = self.results.get_mut(self.next) {
            let (index, row) = (self.next, &self.rows[self.next]);
            self.next += 1;
            if result.as_ref().is_none_or(|rendered| rendered.refundable) {
                let valuation_id = nth(first_valuation_id, index);
                let rendered = value(&parse(row, context), context, answers, valuation_id, None);
                if let Some(problem) = &rendered.problem {
                    tracing::warn!(
                        execution_id = %context.execution_id,
                        %valuation_id,
                        release_id = context.release.id,
                        problem,
                        "a row of a job"
                    );
                }
                *result = Some(rendered);
                if yield_now() {
                    return;
                }
            }
        }
    }

    /// Reports whether the round is over.
    pub fn round_over(&self) -> bool {
        self.next == self.rows.len()
    }

    /// Begins another round for the refundable rows, unless there are none or this was the last
    /// attempt.
    pub fn start_next_round(&mut self) -> bool {
        let refundable = self
            .results
            .iter()
            .flatten()
            .any(|rendered| rendered.refundable);
        if !refundable || self.round >= ATTEMPTS {
            return false;
        }
        self.round += 1;
        self.next = 0;
        true
    }

    /// Returns the results. A row that is still refundable has failed, and its unit is refunded.
    pub fn finish(&self, chunk: u32) -> ChunkResults {
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
        ChunkResults {
            chunk,
            output: persisted::results_to_bytes(results().map(|result| &*result.json)),
            tally,
            refund: count(results().filter(|result| result.refundable).count()),
        }
    }
}
