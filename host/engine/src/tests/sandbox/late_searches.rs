//! A search that outlives its row. The guest cannot end then, since its call is at the host.

use super::common::subject;
use super::demo::demo_evidence;
use super::guest::component;
use domesday_engine::config::Allocation;
use domesday_engine::evidence::{
    EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource, SnapshotEvidence,
};
use domesday_engine::fixture::{Fixture, FixtureError};
use domesday_engine::outcome::{Outcome, RowFailure};
use domesday_engine::subject::{GridPoint, Subject};
use domesday_engine::{Limits, Release, Runtime};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The time of a row: enough to ask a question on a busy machine.
const ROW_TIME: Duration = Duration::from_secs(1);
/// The guest asks once for the sales near by.
const COMPARE: u32 = 13;

/// A snapshot whose disk stalls for as long as the row has time.
struct StalledEvidence {
    snapshot: Arc<SnapshotEvidence>,
    ends: Mutex<Vec<Option<EvidenceError>>>,
}

impl EvidenceSource for StalledEvidence {
    fn ask(
        &self,
        subject: &Subject,
        question: &EvidenceQuery,
    ) -> Result<EvidenceResponse, EvidenceError> {
        let EvidenceQuery::NearbySales(query) = question else {
            panic!("{question:?}");
        };
        let begun = Instant::now();
        while !query.work.is_late() && begun.elapsed() < 30 * ROW_TIME {
            std::thread::sleep(Duration::from_millis(1));
        }
        let answer = self.snapshot.ask(subject, question);
        self.ends
            .lock()
            .unwrap()
            .push(answer.as_ref().err().cloned());
        answer
    }
}

fn release(deadline: Duration) -> Release {
    let runtime = Runtime::new(Allocation::OnDemand).unwrap();
    let limits = Limits {
        deadline,
        ..Limits::new(200_000_000, 16 << 20)
    };
    let guest = component("guest-misbehaving");
    // The runtime goes, and its clock stays with the release.
    runtime.admit(&guest, limits).unwrap()
}

/// Returns a home in a town of the demo.
fn home() -> Subject {
    let place = GridPoint {
        easting: 386_030,
        northing: 635_325,
    };
    Subject {
        place,
        ..subject(COMPARE)
    }
}

#[test]
fn a_search_ends_with_the_time_of_its_row_and_the_row_is_retryable() {
    let evidence = || {
        Arc::new(StalledEvidence {
            snapshot: demo_evidence(),
            ends: Mutex::default(),
        })
    };
    let release = release(ROW_TIME);
    let stalled = evidence();
    let row = release.value(&Arc::new(home()), stalled.clone());
    assert_eq!(row.outcome, Err(RowFailure::OutOfTime));
    assert!(RowFailure::OutOfTime.retryable());
    let ends = stalled.ends.lock().unwrap();
    assert!(
        matches!(ends.as_slice(), [Some(EvidenceError::OutOfTime)]),
        "{ends:?}"
    );
    // A row that ran out of time is never a record of the release.
    let recorded = Fixture::record("late".to_owned(), &release, home(), evidence());
    assert!(
        matches!(
            &recorded,
            Err(FixtureError::HostFailure {
                failure: RowFailure::OutOfTime,
                ..
            })
        ),
        "{recorded:?}"
    );
}

#[test]
fn a_row_in_time_has_the_answer_that_any_other_time_gives_it() {
    let estimates = [60, 600].map(|seconds| {
        let release = release(Duration::from_secs(seconds));
        let row = release.value(&Arc::new(home()), demo_evidence());
        match row.outcome {
            Ok(Outcome::Valued(valuation)) => (valuation, row.cost),
            other => panic!("{other:?}"),
        }
    });
    let [(one, _), _] = &estimates;
    assert!(!one.comparables.is_empty());
    assert_eq!(estimates[0], estimates[1]);
}
