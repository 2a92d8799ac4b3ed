//! Homes and answers for the unit tests of the checks.

use super::rows::{Home, RowResult};
use domesday_engine::outcome::{Cost, Outcome, Valuation, ValueRange};
use domesday_engine::subject::{
    BuildStatus, Energy, Fabric, GridPoint, Occupancy, Precision, Provenance, Size, Subject,
};
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
