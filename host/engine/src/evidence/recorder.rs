//! Keeps every question and answer of one valuation.

use super::{EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource};
use crate::subject::Subject;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

/// One question with its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// What the release asked.
    pub question: EvidenceQuery,
    /// The response.
    pub answer: EvidenceResponse,
}

/// Passes questions on and keeps them with their answers.
pub struct Recorder {
    source: Arc<dyn EvidenceSource>,
    kept: Mutex<Vec<Exchange>>,
}

impl Recorder {
    /// Records what `source` is asked.
    pub fn new(source: Arc<dyn EvidenceSource>) -> Recorder {
        Recorder {
            source,
            kept: Mutex::new(Vec::new()),
        }
    }

    /// Takes the exchanges so far, in order, and starts a new record.
    pub fn take(&self) -> Vec<Exchange> {
        match self.kept.lock() {
            Ok(mut kept) => std::mem::take(&mut kept),
            Err(poisoned) => std::mem::take(&mut poisoned.into_inner()),
        }
    }
}

impl EvidenceSource for Recorder {
    fn ask(
        &self,
        subject: &Subject,
        question: &EvidenceQuery,
    ) -> Result<EvidenceResponse, EvidenceError> {
        let answer = self.source.ask(subject, question)?;
        let exchange = Exchange {
            question: question.clone(),
            answer: answer.clone(),
        };
        match self.kept.lock() {
            Ok(mut kept) => kept.push(exchange),
            Err(poisoned) => poisoned.into_inner().push(exchange),
        }
        Ok(answer)
    }
}
