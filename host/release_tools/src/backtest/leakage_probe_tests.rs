//! An evidence that looks ahead is caught, whichever of its answers does.

use super::*;
use crate::backtest::lagged_evidence::LaggedEvidence;
use crate::testing::{demo, releases};
use domesday_engine::evidence::{EvidenceError, EvidenceQuery, EvidenceResponse, SnapshotEvidence};
use domesday_engine::subject::Subject;
use domesday_evaluation::report::AsAt;
use domesday_evaluation::request_shape::RequestShape;

fn run_probe(evidence_of: &EvidenceOf<'_>) -> LeakageProbe {
    let open = demo();
    let database = releases()
        .join("property")
        .join(open.manifest.snapshot.id.as_str())
        .join("snapshot.redb");
    let tested = BacktestInput {
        manifest: &open.manifest,
        release: &open.release,
        snapshot: &open.snapshot,
        database: &database,
        synthetic: true,
    };
    let options = BacktestOptions {
        from: Day::from_ymd(2026, 4, 1).unwrap(),
        to: Day::from_ymd(2026, 9, 30).unwrap(),
        as_at: AsAt::Sale,
        request: RequestShape::Stored,
        evidence_lag_days: 0,
        sample: None,
        probe_homes: 60,
        allow_overlap: true,
    };
    probe(&tested, &options, evidence_of, &mut |_, _, _| {}).unwrap()
}

/// A predicate of the queries that leak.
type Leaks = fn(&EvidenceQuery) -> bool;

/// Answers one kind of question as if it were asked two months later.
struct Leaky {
    evidence: SnapshotEvidence,
    leaks: Leaks,
}

impl EvidenceSource for Leaky {
    fn ask(
        &self,
        subject: &Subject,
        question: &EvidenceQuery,
    ) -> Result<EvidenceResponse, EvidenceError> {
        let mut subject = subject.clone();
        if (self.leaks)(question) {
            subject.valuation_day = Day(subject.valuation_day.0 + 61);
        }
        self.evidence.ask(&subject, question)
    }
}

#[test]
fn evidence_of_the_past_passes() {
    let found = run_probe(&|snapshot| Arc::new(LaggedEvidence::new(snapshot, 0)));
    assert!(found.passed, "{found:?}");
    assert_eq!(found.cuts.len(), 3);
    for cut in &found.cuts {
        assert!(cut.homes > 20 && cut.sales > 0, "{cut:?}");
        assert!(cut.figures > 0 && cut.index_points > 0, "{cut:?}");
    }
}

#[test]
fn every_way_of_looking_ahead_is_caught() {
    let leaks: [(&str, Leaks); 4] = [
        ("sales near by", |asked| {
            matches!(asked, EvidenceQuery::NearbySales(_))
        }),
        ("own sales", |asked| {
            matches!(asked, EvidenceQuery::OwnSales)
        }),
        ("the index", |asked| {
            matches!(asked, EvidenceQuery::PriceIndex { .. })
        }),
        ("area figures", |asked| {
            matches!(asked, EvidenceQuery::AreaFigures { .. })
        }),
    ];
    for (what, leaks) in leaks {
        let found = run_probe(&|snapshot| {
            Arc::new(Leaky {
                evidence: SnapshotEvidence::new(snapshot),
                leaks,
            })
        });
        assert!(!found.passed, "{what}");
        let first = &found.cuts[0];
        assert!(first.different > 0, "{what}: {first:?}");
        assert!(first.first_difference.is_some(), "{what}");
    }
}
