//! Answers from a record, so that a replay needs no snapshot.

use super::{EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource, Exchange};
use crate::subject::Subject;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Gives the recorded answers, in order; any other question is an error.
pub struct RecordedEvidence {
    exchanges: Vec<Exchange>,
    next: AtomicUsize,
}

impl RecordedEvidence {
    /// Answers from these exchanges.
    pub fn new(exchanges: Vec<Exchange>) -> RecordedEvidence {
        RecordedEvidence {
            exchanges,
            next: AtomicUsize::new(0),
        }
    }

    /// Returns the number of questions that were asked so far.
    pub fn question_count(&self) -> usize {
        self.next.load(Ordering::Relaxed)
    }
}

impl EvidenceSource for RecordedEvidence {
    fn ask(
        &self,
        _subject: &Subject,
        question: &EvidenceQuery,
    ) -> Result<EvidenceResponse, EvidenceError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        match self.exchanges.get(number) {
            Some(exchange) if exchange.question == *question => Ok(exchange.answer.clone()),
            _ => Err(EvidenceError::NotRecorded { number: number + 1 }),
        }
    }
}
