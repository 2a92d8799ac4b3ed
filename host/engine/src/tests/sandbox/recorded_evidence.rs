//! A replay answers from its record alone.

use super::common::subject;
use domesday_engine::evidence::{
    EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource, Exchange, RecordedEvidence,
};

/// Returns a record of one question.
fn recording() -> RecordedEvidence {
    RecordedEvidence::new(vec![Exchange {
        question: EvidenceQuery::OwnSales,
        answer: EvidenceResponse::Sales(Vec::new()),
    }])
}

#[test]
fn a_question_that_is_not_recorded_is_counted_from_one() {
    let recorded = recording();
    let ask = || recorded.ask(&subject(3), &EvidenceQuery::OwnSales);
    assert_eq!(recorded.question_count(), 0);
    assert!(matches!(ask(), Ok(EvidenceResponse::Sales(_))));
    assert!(matches!(
        ask(),
        Err(EvidenceError::NotRecorded { number: 2 })
    ));
    assert_eq!(recorded.question_count(), 2);
}

#[test]
fn a_recorded_answer_belongs_to_its_own_question() {
    let other = EvidenceQuery::PriceIndex {
        kind: None,
        since: 0,
    };
    assert!(matches!(
        recording().ask(&subject(3), &other),
        Err(EvidenceError::NotRecorded { number: 1 })
    ));
}
