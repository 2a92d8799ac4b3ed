//! Rows and reports for tests.

use crate::report::{AsAt, Header, Report, TrainingData};
use crate::request_shape::RequestShape;
use crate::row::{Prediction, Row, StatedInputs};
use domesday_registers::Day;
use domesday_registers::codes::{PropertyType, Subtype, Tenure};

/// Returns a sale at a price with an estimate, a range of a tenth either way, and no baselines.
pub(crate) fn row(price: f64, estimate: f64) -> Row {
    Row {
        id: 1,
        day: Day(20_000),
        price,
        property_type: PropertyType::Terraced,
        authority: "E07000900".to_owned(),
        postcode_area: "ZZ".to_owned(),
        postcode: "ZZ1 1AA".to_owned(),
        stated: StatedInputs {
            subtype: Subtype::HouseMidTerrace,
            tenure: Tenure::Freehold,
            bedrooms: Some(3),
        },
        new_build: false,
        floor_area: true,
        answer: Prediction::Valued {
            estimate,
            range: Some([estimate * 0.9, estimate * 1.1]),
            band: "high".to_owned(),
        },
        baselines: [None, None],
    }
}

/// Returns the same, without an answer.
pub(crate) fn row_with(answer: Prediction) -> Row {
    Row {
        answer,
        ..row(200_000.0, 200_000.0)
    }
}

/// Returns a header of nothing in particular.
pub(crate) fn header() -> Header {
    Header {
        release_id: "made-up-1".to_owned(),
        model: "made-up".to_owned(),
        model_version: "1.0.0".to_owned(),
        parameters_sha256: None,
        snapshot_id: "made-up".to_owned(),
        snapshot_content: "0".repeat(64),
        synthetic: true,
        from: "2024-01-01".to_owned(),
        to: "2024-12-31".to_owned(),
        as_at: AsAt::Sale,
        request: RequestShape::Stored,
        not_stated: 0,
        evidence_lag_days: 0,
        training_data: TrainingData::Nothing,
        sales_in_window: 100,
        not_askable: 0,
        taken_every: 1,
        nominal_coverage: 0.8,
        least_rows: crate::LEAST_ROWS,
    }
}

/// Returns the report on these rows.
pub(crate) fn report(rows: &[Row]) -> Report {
    let bands = ["high", "medium", "low"].map(str::to_owned);
    Report::of(header(), rows, &bands, &|code| {
        (code == "E07000900").then(|| "Zed & Ledbury <North>".to_owned())
    })
}
