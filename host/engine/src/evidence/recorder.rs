//! Keeps every question and answer of one valuation.

use super::{EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource};
use crate::subject::Subject;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

/// One question with its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// The query of the release.
    pub question: EvidenceQuery,
    /// The response.
    pub answer: EvidenceResponse,
}

/// An evidence source that forwards questions and records them with their answers.
pub struct Recorder {
    source: Arc<dyn EvidenceSource>,
    exchanges: Mutex<Vec<Exchange>>,
}

impl Recorder {
    /// Returns a recorder in front of `source`.
    pub fn new(source: Arc<dyn EvidenceSource>) -> Recorder {
        Recorder {
            source,
            exchanges: Mutex::new(Vec::new()),
        }
    }

    /// Takes the exchanges so far, in order, and starts a new record.
    pub fn take(&self) -> Vec<Exchange> {
        match self.exchanges.lock() {
            Ok(mut exchanges) => std::mem::take(&mut exchanges),
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
        match self.exchanges.lock() {
            Ok(mut exchanges) => exchanges.push(exchange),
            Err(poisoned) => poisoned.into_inner().push(exchange),
        }
        Ok(answer)
    }
}
