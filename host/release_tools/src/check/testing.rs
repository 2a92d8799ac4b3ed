//! Homes and answers for the unit tests of the checks.

use super::rows::{Home, RowResult};
use crate::build::sold_subject::typical_lease;
use domesday_engine::outcome::{Cost, Outcome, Valuation, ValueRange};
use domesday_engine::subject::{
    BuildStatus, Energy, Fabric, GridPoint, Occupancy, Precision, Provenance, Size, Subject,
};
use domesday_evaluation::report::{AsAt, Header, TrainingData};
use domesday_evaluation::request_shape::RequestShape;
use domesday_evaluation::row::{Prediction, Row, StatedInputs};
use domesday_registers::codes::{PropertyType, Subtype, Tenure};
use domesday_registers::records::Country;
use domesday_registers::{Day, Postcode};
use std::sync::Arc;

/// Returns a house of 80 square metres.
pub fn home(name: &str) -> Home {
    Home {
        name: name.to_owned(),
        subject: Arc::new(Subject {
            valuation_day: Day(20_700),
            uprn: Some(1),
            place: GridPoint {
                easting: 400_000,
                northing: 300_000,
            },
            precision: Precision::Property,
            postcode: Postcode::parse("QA1 1AF").unwrap(),
            country: Country::England,
            authority: String::new(),
            property_type: PropertyType::SemiDetached,
            subtype: Subtype::HouseSemiDetached,
            tenure: Tenure::Freehold,
            build_status: BuildStatus::Existing,
            occupancy: Occupancy::OwnerOccupied,
            lease: None,
            size: Size {
                floor_area_m2: Some(80.0),
                ..Size::default()
            },
            fabric: Fabric::default(),
            energy: Energy::default(),
            provenance: Provenance::default(),
            stored_data: true,
            evidence_through: Some(Day(20_600)),
        }),
    }
}

/// Returns [`home`] as a flat with a lease.
pub fn flat(name: &str) -> Home {
    home(name).with_change("as a flat", |subject| {
        subject.property_type = PropertyType::Flat;
        subject.lease = Some(typical_lease());
    })
}

/// Returns a home's result with this estimate and a range of a tenth either way.
pub fn valued_row(name: &str, estimate: f64) -> RowResult {
    RowResult {
        name: name.to_owned(),
        outcome: Ok(Outcome::Valued(Valuation {
            estimate,
            range: Some(ValueRange {
                lower: estimate * 0.9,
                upper: estimate * 1.1,
            }),
            confidence: 0.5,
            comparables: Vec::new(),
            derived: Vec::new(),
            dispersion: None,
            own_sales_share: None,
        })),
        cost: Cost {
            fuel: 1_000,
            memory_bytes: 65_536,
            questions: 1,
        },
    }
}

/// Returns the header of a back-test of two months, whose ranges are to hold 80 % of prices.
pub fn header() -> Header {
    Header {
        release_id: "r-1".to_owned(),
        model: "m".to_owned(),
        model_version: "1".to_owned(),
        parameters_sha256: None,
        snapshot_id: "p-1".to_owned(),
        snapshot_content: String::new(),
        synthetic: true,
        from: "2026-01-01".to_owned(),
        to: "2026-02-01".to_owned(),
        as_at: AsAt::Sale,
        request: RequestShape::Stored,
        not_stated: 0,
        evidence_lag_days: 0,
        training_data: TrainingData::Nothing,
        sales_in_window: 0,
        not_askable: 0,
        taken_every: 1,
        nominal_coverage: 0.8,
        least_rows: 30,
    }
}

/// Returns a sale for £100 that is valued exactly. Each has another postcode.
pub fn sale(at: usize) -> Row {
    Row {
        id: at as u64,
        day: Day(20_500),
        price: 100.0,
        property_type: PropertyType::Flat,
        authority: String::new(),
        postcode_area: "QA".to_owned(),
        postcode: format!("QA1 {at}"),
        stated: StatedInputs {
            subtype: Subtype::FlatPurposeBuilt,
            tenure: Tenure::Leasehold,
            bedrooms: Some(2),
        },
        new_build: false,
        floor_area: true,
        answer: Prediction::Valued {
            estimate: 100.0,
            range: Some([90.0, 110.0]),
            band: "high".to_owned(),
        },
        baselines: [None, None],
    }
}
