//! Paired rows and comparisons for tests.

use super::comparison::Comparison;
use super::header::{ComparedRelease, Header, Source};
use super::paired::{ComparedOutcome, PairedRow, Side};
use super::sides::Sides;
use crate::report::TrainingData;
use domesday_registers::codes::PropertyType;

/// Returns an estimate with a range of a tenth either way, in this band.
pub(crate) fn in_band(estimate: f64, band: &str) -> ComparedOutcome {
    ComparedOutcome::Valued {
        estimate,
        range: Some([estimate * 0.9, estimate * 1.1]),
        confidence: 0.5,
        band: band.to_owned(),
    }
}

/// Returns the same in an arbitrary band.
pub(crate) fn valued_outcome(estimate: f64) -> ComparedOutcome {
    in_band(estimate, "medium")
}

/// Returns a referral.
pub(crate) fn referral(reason: &str) -> ComparedOutcome {
    ComparedOutcome::Referred {
        reason: reason.to_owned(),
    }
}

/// Returns a row with these outcomes, at the same cost.
pub(crate) fn paired_row(
    row: &str,
    price: Option<f64>,
    a: ComparedOutcome,
    b: ComparedOutcome,
) -> PairedRow {
    let side = |outcome| Side {
        outcome,
        fuel: 1_000,
        micros: 50.0,
    };
    PairedRow {
        row: row.to_owned(),
        property_type: PropertyType::Terraced,
        authority: "E07000900".to_owned(),
        postcode_area: "ZZ".to_owned(),
        postcode: None,
        price,
        sides: Sides {
            a: side(a),
            b: side(b),
        },
    }
}

/// Returns a row that both value.
pub(crate) fn pair(a: f64, b: f64) -> PairedRow {
    paired_row("a row", None, valued_outcome(a), valued_outcome(b))
}

/// Returns the comparison on these rows.
pub(crate) fn comparison(rows: &[PairedRow]) -> Comparison {
    Comparison::of(header(), rows, &|code| {
        (code == "E07000900").then(|| "Zed & Ledbury <North>".to_owned())
    })
}

/// Returns a header of nothing in particular.
pub(crate) fn header() -> Header {
    let release = |release_id: &str| ComparedRelease {
        release_id: release_id.to_owned(),
        model: "made-up".to_owned(),
        model_version: "1.0.0".to_owned(),
        snapshot_id: "made-up".to_owned(),
        snapshot_content: "0".repeat(64),
        latest_sale: Some("2024-12-31".to_owned()),
        nominal_coverage: 0.8,
        bands: ["high", "medium", "low"].map(str::to_owned).to_vec(),
        training_data: TrainingData::Nothing,
    };
    Header {
        releases: Sides {
            a: release("made-up-1"),
            b: release("made-up-2"),
        },
        rows: Source::Sales {
            first: "2024-01-01".to_owned(),
            last: "2024-12-31".to_owned(),
            in_window: 100,
            not_askable: 3,
            taken_every: 1,
            evidence_lag_days: 0,
            synthetic: true,
        },
        least_rows: crate::LEAST_ROWS,
    }
}
