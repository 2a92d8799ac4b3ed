//! The findings on a journal.

use super::model_inputs::ModelInputs;
use domesday_journal::Receipt;
use serde::Serialize;
use std::path::PathBuf;

/// Problems that the report lists. It counts further ones.
const MAX_PROBLEMS: usize = 100;

/// The result of a replay.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// The journal's folder.
    pub journal: PathBuf,
    /// The engine that replayed it.
    pub engine: &'static str,
    /// The host's key.
    pub host: Option<String>,
    /// True if the chain holds from its beginning to its end and agrees with every head.
    pub proved: bool,
    /// The first flaw.
    pub broken: Option<String>,
    /// Receipts in the chain, up to the first flaw.
    pub receipts: u64,
    /// The last receipt that a head vouches for.
    pub signed: u64,
    /// Bytes of a receipt that was being written when the host ended.
    pub unfinished_bytes: u64,
    /// Receipts that were asked for.
    pub selected: u64,
    /// Of these, replayed with the same outcome to the bit.
    pub identical: u64,
    /// Of these, sealed under a key that was not given.
    pub sealed: u64,
    /// Of these, replayed with another outcome, or not to be replayed.
    pub failed: u64,
    /// The inputs that the release shows of its model, for each replayed receipt of one valuation.
    pub model_inputs: Vec<ModelInputs>,
    /// The distinct problems of the failed receipts.
    pub problems: Vec<Problem>,
    /// The reason why the options chose no receipt that could be proved.
    pub nothing_proved: Option<String>,
    /// Parts of the proof that the folder's owner could have forged, and what could not be shown.
    pub warnings: Vec<String>,
}

/// The reason why a receipt is not proved.
#[derive(Debug, Serialize)]
pub struct Problem {
    /// Its number.
    pub receipt: u64,
    /// Its valuation.
    pub valuation_id: String,
    /// The problem's description.
    pub problem: String,
    /// Later receipts with the same problem.
    pub more: u64,
}

impl Report {
    /// Reports whether the chain holds and every chosen receipt that a key opens is proved.
    pub fn is_proof(&self) -> bool {
        self.proved && self.failed == 0 && self.nothing_proved.is_none()
    }

    /// Counts a receipt that is not proved, and lists each problem once, with its first receipt.
    pub(super) fn add_problem(&mut self, receipt: &Receipt, problem: String) {
        self.failed += 1;
        let has_space = self.problems.len() < MAX_PROBLEMS;
        let mut problems = self.problems.iter_mut();
        match problems.find(|listed| listed.problem == problem) {
            Some(listed) => listed.more += 1,
            None if has_space => self.problems.push(Problem {
                receipt: receipt.sequence,
                valuation_id: receipt.about.valuation_id.clone(),
                problem,
                more: 0,
            }),
            None => {}
        }
    }
}
