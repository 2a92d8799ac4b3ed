//! Evidence as it was known some days before the valuation day.

use domesday_engine::evidence::{
    EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource, SnapshotEvidence,
};
use domesday_engine::subject::Subject;
use domesday_property::Snapshot;
use domesday_registers::Day;
use std::sync::Arc;

/// The snapshot's evidence, as if each question were asked some days earlier. Registers lag: a
/// sale is in the Land Registry's file some weeks or months after its day.
pub struct LaggedEvidence {
    evidence: SnapshotEvidence,
    days: u16,
}

impl LaggedEvidence {
    /// Returns evidence that ends at least `days` before each valuation day.
    pub fn new(snapshot: Arc<Snapshot>, days: u16) -> LaggedEvidence {
        LaggedEvidence {
            evidence: SnapshotEvidence::new(snapshot),
            days,
        }
    }

    /// Returns the last day whose sales a valuation as at `day` can see.
    pub fn through(&self, day: Day) -> Day {
        Day(day.0 - 1 - i32::from(self.days))
    }
}

impl EvidenceSource for LaggedEvidence {
    fn ask(
        &self,
        subject: &Subject,
        question: &EvidenceQuery,
    ) -> Result<EvidenceResponse, EvidenceError> {
        if self.days == 0 {
            return self.evidence.ask(subject, question);
        }
        let mut earlier = subject.clone();
        earlier.valuation_day = Day(subject.valuation_day.0 - i32::from(self.days));
        self.evidence.ask(&earlier, question)
    }
}
