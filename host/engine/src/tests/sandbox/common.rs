//! Fixtures of the engine's suites: a subject to value, and a snapshot that holds nothing.

use domesday_engine::evidence::{EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource};
use domesday_engine::subject::{
    BuildStatus, Energy, Fabric, GridPoint, Occupancy, Precision, Provenance, Size, Subject,
};
use domesday_registers::codes::{PropertyType, Subtype, Tenure};
use domesday_registers::records::Country;
use domesday_registers::{Day, Postcode};

/// Returns a made-up house. The misbehaving guest reads its act from the number of bedrooms.
pub fn subject(bedrooms: u32) -> Subject {
    Subject {
        valuation_day: Day::from_ymd(2026, 6, 1).unwrap(),
        uprn: None,
        place: GridPoint {
            easting: 450_000,
            northing: 300_000,
        },
        precision: Precision::Postcode,
        postcode: Postcode::parse("QX1 1AA").unwrap(),
        country: Country::England,
        authority: String::new(),
        property_type: PropertyType::SemiDetached,
        subtype: Subtype::HouseSemiDetached,
        tenure: Tenure::Freehold,
        build_status: BuildStatus::Existing,
        occupancy: Occupancy::Vacant,
        lease: None,
        size: Size {
            bedrooms: Some(bedrooms),
            ..Size::default()
        },
        fabric: Fabric::default(),
        energy: Energy::default(),
        provenance: Provenance::default(),
        stored_data: false,
        evidence_through: None,
    }
}

/// A snapshot in which nothing was ever sold.
pub struct Nothing;

impl EvidenceSource for Nothing {
    fn ask(
        &self,
        _subject: &Subject,
        question: &EvidenceQuery,
    ) -> Result<EvidenceResponse, EvidenceError> {
        Ok(match question {
            EvidenceQuery::NearbySales(_) | EvidenceQuery::OwnSales => {
                EvidenceResponse::Sales(Vec::new())
            }
            EvidenceQuery::PriceIndex { .. } => EvidenceResponse::Index(None),
            EvidenceQuery::AreaFigures { .. } => EvidenceResponse::Figures(None),
        })
    }
}
