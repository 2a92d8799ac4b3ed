//! What one row's store holds: the subject, its evidence, and the row's limits.

use crate::config::{MAX_CORE_INSTANCES, MAX_MEMORIES, MAX_TABLES};
use crate::evidence::{Answer, Bounds, EvidenceSource, Question, Refusal, Sale};
use crate::subject::Subject;
use crate::wasi::Wasi;
use std::sync::Arc;
use wasmtime::ResourceLimiter;

/// The state of one row's store.
pub(crate) struct RowState {
    subject: Arc<Subject>,
    evidence: Arc<dyn EvidenceSource>,
    memory_limit: usize,
    table_limit: usize,
    pub(crate) bounds: Bounds,
    /// Every sale that the release was shown, so that its comparables can be checked and rendered.
    pub(crate) shown: Vec<Sale>,
    /// Linear memory at its largest, bytes.
    pub(crate) memory_peak: usize,
    wasi: Option<Wasi>,
}

impl RowState {
    pub(crate) fn new(
        subject: Arc<Subject>,
        evidence: Arc<dyn EvidenceSource>,
        memory_limit: usize,
        table_limit: usize,
    ) -> RowState {
        RowState {
            subject,
            evidence,
            memory_limit,
            table_limit,
            bounds: Bounds::default(),
            shown: Vec::new(),
            memory_peak: 0,
            wasi: None,
        }
    }

    /// What the row has of WASI, made when it is first asked for.
    pub(crate) fn wasi(&mut self) -> &mut Wasi {
        let day = self.subject.valuation_day.0;
        self.wasi.get_or_insert_with(|| Wasi::new(day))
    }

    /// Answers a question within the row's bounds. An error is the host's, and ends the row.
    pub(crate) fn ask(&mut self, question: Result<Question, Refusal>) -> wasmtime::Result<Answer> {
        let question = match self.bounds.admit(question) {
            Ok(question) => question,
            Err(refusal) => return Ok(Answer::Refused(refusal)),
        };
        let answer = self
            .evidence
            .ask(&self.subject, &question)
            .map_err(|fault| HostFault(fault.to_string()))?;
        Ok(self.bounds.release(answer))
    }

    /// Remembers sales that the release is shown.
    pub(crate) fn show(&mut self, sales: Vec<Sale>) {
        if self.shown.is_empty() {
            self.shown = sales;
        } else {
            self.shown.extend(sales);
        }
    }
}

/// A fault of the host's own, on its way through the guest.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct HostFault(pub(crate) String);

/// The guest asked for more than it may have.
#[derive(Debug, thiserror::Error)]
#[error("more {what} than {limit}")]
pub(crate) struct LimitReached {
    pub(crate) what: &'static str,
    pub(crate) limit: usize,
}

/// A denied growth ends the row rather than answering -1: whether memory is to be had must never
/// be something that a release can see and act upon.
impl ResourceLimiter for RowState {
    fn instances(&self) -> usize {
        MAX_CORE_INSTANCES as usize
    }

    fn memories(&self) -> usize {
        MAX_MEMORIES as usize
    }

    fn tables(&self) -> usize {
        MAX_TABLES as usize
    }

    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > self.memory_limit {
            return Err(LimitReached {
                what: "memory",
                limit: self.memory_limit,
            }
            .into());
        }
        self.memory_peak = self.memory_peak.max(desired).max(current);
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(HostFault(format!("memory could not be grown: {error}")).into())
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > self.table_limit {
            return Err(LimitReached {
                what: "table elements",
                limit: self.table_limit,
            }
            .into());
        }
        Ok(true)
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(HostFault(format!("a table could not be grown: {error}")).into())
    }
}
