//! Spans of the work in a request, for whoever listens to their target. Where nobody does, a span
//! costs a comparison.

use domesday_engine::evidence::{
    EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource, PackedResponse,
};
use domesday_engine::subject::Subject;
use std::sync::Arc;
use tracing::{Span, info_span};

/// The target of all spans. Nothing else has it.
pub const SPANS: &str = "domesday::spans";

/// Returns the span of one run of a release, and the evidence with a span for each question.
pub fn of_run(
    release_id: &str,
    evidence: Arc<dyn EvidenceSource>,
) -> (Span, Arc<dyn EvidenceSource>) {
    let span = info_span!(target: SPANS, "guest", domesday.release_id = release_id);
    match span.is_disabled() {
        true => (span, evidence),
        false => (span, Arc::new(TracedEvidence(evidence))),
    }
}

/// An evidence source with a span for each question.
struct TracedEvidence(Arc<dyn EvidenceSource>);

impl EvidenceSource for TracedEvidence {
    fn ask(
        &self,
        subject: &Subject,
        question: &EvidenceQuery,
    ) -> Result<EvidenceResponse, EvidenceError> {
        span_of(question).in_scope(|| self.0.ask(subject, question))
    }

    fn ask_packed(
        &self,
        subject: &Subject,
        question: &EvidenceQuery,
    ) -> Result<PackedResponse, EvidenceError> {
        span_of(question).in_scope(|| self.0.ask_packed(subject, question))
    }
}

/// Returns the span of a question. The question itself may tell where the home is.
fn span_of(question: &EvidenceQuery) -> Span {
    let kind = match question {
        EvidenceQuery::NearbySales(_) => "nearby_sales",
        EvidenceQuery::OwnSales => "own_sales",
        EvidenceQuery::PriceIndex { .. } => "price_index",
        EvidenceQuery::AreaFigures { .. } => "area_figures",
    };
    info_span!(target: SPANS, "evidence", domesday.question = kind)
}
