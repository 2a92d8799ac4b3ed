//! A row is recorded whole, replays to the same bit, and every difference is named.

use super::common::{Nothing, subject};
use super::demo::{demo, demo_evidence, homes, recorded_rows};
use super::guest::component;
use domesday_engine::config::Allocation;
use domesday_engine::evidence::{
    EvidenceQuery, EvidenceResponse, EvidenceSource, Exchange, RecordedEvidence, Refusal,
};
use domesday_engine::fixture::{self, Fixture, FixtureError, RecordedResult};
use domesday_engine::outcome::{Outcome, RowFailure};
use domesday_engine::replay::{Mismatch, agrees, replay};
use domesday_engine::{Limits, Release, Runtime};
use std::sync::Arc;

/// Bedrooms for which the misbehaving guest traps, and for which it queries until it is refused.
const TRAPS: u32 = 2;
const FLOODS: u32 = 9;

fn admit(component: &[u8], fuel: u64) -> Release {
    let runtime = Runtime::new(Allocation::OnDemand).unwrap();
    runtime
        .admit(component, Limits::new(fuel, 16 << 20))
        .unwrap()
}

fn demo_release() -> Release {
    let path = demo("valuation/synthetic-hedonic-2027-05/component.wasm");
    admit(&std::fs::read(path).unwrap(), 50_000_000)
}

fn misbehaving() -> Release {
    admit(&component("guest-misbehaving"), 200_000_000)
}

fn record(
    release: &Release,
    bedrooms: u32,
    evidence: Arc<dyn EvidenceSource>,
) -> Result<Fixture, FixtureError> {
    let row = format!("row-{bedrooms}");
    Fixture::record(row, release, subject(bedrooms), evidence)
}

/// Returns the place of a difference, with what was expected there and found.
#[track_caller]
fn difference(found: Result<(), Mismatch>) -> (String, String, String) {
    let mismatch = found.unwrap_err();
    assert_eq!(mismatch.row, "home-01");
    (mismatch.field, mismatch.expected, mismatch.found)
}

#[test]
fn every_recorded_row_replays_and_agrees_with_its_snapshot() {
    let (release, evidence) = (demo_release(), demo_evidence());
    for home in homes() {
        assert_eq!(replay(&release, &home), Ok(()));
        assert_eq!(agrees(&*evidence, &home), Ok(()));
    }
}

/// The recorded fuel is that of the release when it was published.
#[test]
fn every_release_replays_every_recorded_row_at_its_recorded_cost() {
    for release in [
        "valuation/synthetic-hedonic-2027-05",
        "../sandbox/releases/valuation/sandbox-2027-01",
    ] {
        let rows = recorded_rows(release);
        let component = std::fs::read(demo(release).join("component.wasm")).unwrap();
        for allocation in [Allocation::OnDemand, Allocation::Pooling { instances: 1 }] {
            let runtime = Runtime::new(allocation).unwrap();
            let limits = Limits::new(50_000_000, 16 << 20);
            let release = runtime.admit(&component, limits).unwrap();
            for row in rows.iter().chain(&rows) {
                assert_eq!(replay(&release, row), Ok(()));
                let evidence = Arc::new(RecordedEvidence::new(row.evidence.clone()));
                let found = release.value(&Arc::new(row.subject.clone()), evidence);
                assert_eq!(found.cost, row.cost, "{}", row.row);
            }
        }
    }
}

#[test]
fn a_difference_is_named_by_its_place() {
    let release = demo_release();
    let home = homes().into_iter().find(|home| home.row == "home-01");
    let home = home.unwrap();

    let mut dearer = home.clone();
    if let RecordedResult::Outcome(Outcome::Valued(valuation)) = &mut dearer.result {
        valuation.estimate += 1.0;
    }
    let (field, expected, found) = difference(replay(&release, &dearer));
    assert_eq!(field, "/result/outcome/estimate");
    assert_ne!(expected, found);

    let mut longer = home.clone();
    longer.evidence.push(Exchange {
        question: EvidenceQuery::OwnSales,
        answer: EvidenceResponse::Index(None),
    });
    let count = home.evidence.len();
    let questions = |count: usize| format!("{count} questions");
    let expected = (
        "/evidence".to_owned(),
        questions(count + 1),
        questions(count),
    );
    assert_eq!(difference(replay(&release, &longer)), expected);

    let mut refused = home.clone();
    refused.evidence[0].answer = EvidenceResponse::Refused(Refusal::TooManySales);
    let (field, ..) = difference(agrees(&*demo_evidence(), &refused));
    assert_eq!(field, "/evidence/0/answer/answer");

    let nothing = RecordedEvidence::new(Vec::new());
    let (field, expected, _) = difference(agrees(&nothing, &home));
    assert_eq!((&*field, &*expected), ("/evidence/0/answer", "an answer"));
}

#[test]
fn a_final_failure_is_recorded_and_a_failure_of_the_host_is_not() {
    let release = misbehaving();
    let flood = record(&release, FLOODS, Arc::new(Nothing)).unwrap();
    assert_eq!(flood.evidence.len(), 32);
    assert_eq!(
        (flood.cost.questions, &*flood.engine),
        (33, Runtime::version())
    );
    assert_eq!(replay(&release, &flood), Ok(()));

    let trap = record(&release, TRAPS, Arc::new(Nothing)).unwrap();
    assert!(matches!(
        &trap.result,
        RecordedResult::Failure(failure @ RowFailure::Trapped { .. }) if !failure.retryable()
    ));
    assert_eq!(replay(&release, &trap), Ok(()));

    let unreadable = Arc::new(RecordedEvidence::new(Vec::new()));
    match record(&release, FLOODS, unreadable) {
        Err(FixtureError::HostFailure { row, failure }) => {
            assert!(row == "row-9" && failure.retryable(), "{row}: {failure}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn fixtures_are_read_as_written_and_a_fault_names_its_line() {
    let release = misbehaving();
    let rows = [0, TRAPS].map(|bedrooms| record(&release, bedrooms, Arc::new(Nothing)).unwrap());
    let mut file = Vec::new();
    fixture::write(&rows, &mut file).unwrap();
    assert_eq!(fixture::read(&*file).unwrap(), rows);

    let text = String::from_utf8(file).unwrap();
    let (first, second) = text.trim_end().split_once('\n').unwrap();
    for (text, start, end) in [
        ("\n \n".to_owned(), "the file holds no fixture", "one row"),
        (
            format!("{first}\n\n{{\"row\": 7}}\n"),
            "line 3 is not a fixture, at column ",
            ": invalid type: integer `7`, expected a string",
        ),
        (
            format!("{first}\n\n{second}\n{first}\n"),
            "line 4 has the name of an earlier row, \"row-0\"",
            "its own name",
        ),
    ] {
        let fault = fixture::read(text.as_bytes()).unwrap_err().to_string();
        assert!(fault.starts_with(start) && fault.ends_with(end), "{fault}");
    }
}
