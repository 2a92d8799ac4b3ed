//! A replay answers from its record alone.

use crate::common::subject;
use domesday_engine::evidence::{
    EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource, Exchange, RecordedEvidence,
};

#[test]
fn a_question_that_is_not_recorded_is_counted_from_one() {
    let exchange = Exchange {
        question: EvidenceQuery::OwnSales,
        answer: EvidenceResponse::Sales(Vec::new()),
    };
    let recorded = RecordedEvidence::new(vec![exchange]);
    let ask = || recorded.ask(&subject(3), &EvidenceQuery::OwnSales);
    assert!(matches!(ask(), Ok(EvidenceResponse::Sales(_))));
    assert!(matches!(
        ask(),
        Err(EvidenceError::NotRecorded { number: 2 })
    ));
}
