//! Evidence from memory, for the sandboxed side.

use domesday_engine::evidence::{
    EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource, Nearness, Sale,
};
use domesday_engine::fixture::Fixture;
use domesday_engine::subject::{GridPoint, Precision, Subject};
use domesday_registers::codes::{AgeBand, EnergyRating, PropertyType, Subtype, Tenure};
use domesday_registers::{Day, Postcode};

/// A fixture's answers, by question.
pub struct ReplayedEvidence(Vec<(EvidenceQuery, EvidenceResponse)>);

impl ReplayedEvidence {
    pub fn of(fixture: &Fixture) -> ReplayedEvidence {
        ReplayedEvidence(
            fixture
                .evidence
                .iter()
                .map(|e| (e.question.clone(), e.answer.clone()))
                .collect(),
        )
    }
}

impl EvidenceSource for ReplayedEvidence {
    fn ask(
        &self,
        _subject: &Subject,
        question: &EvidenceQuery,
    ) -> Result<EvidenceResponse, EvidenceError> {
        let known = self.0.iter().find(|(asked, _)| asked == question);
        Ok(
            known.map_or(EvidenceResponse::Sales(Vec::new()), |(_, answer)| {
                answer.clone()
            }),
        )
    }
}

/// The same sales to every question.
pub struct RepeatedSales(Vec<Sale>);

impl RepeatedSales {
    pub fn of(count: usize) -> RepeatedSales {
        let sale = |id: usize| Sale {
            id: id as u64,
            uprn: Some(999_000_000_000 + id as u64),
            day: Day(20_000),
            price_gbp: 250_000,
            place: GridPoint {
                easting: 450_000,
                northing: 300_000,
            },
            precision: Precision::Postcode,
            distance_m: id as f64,
            nearness: Nearness::SameSector,
            postcode: Postcode::parse("QX1 1AB").unwrap(),
            property_type: PropertyType::SemiDetached,
            subtype: Some(Subtype::HouseSemiDetached),
            tenure: Some(Tenure::Freehold),
            new_build: false,
            standard: true,
            floor_area_m2: Some(90.0),
            habitable_rooms: Some(5),
            age_band: Some(AgeBand::D),
            rating: Some(EnergyRating::D),
            attributes_day: Some(Day(19_900)),
        };
        RepeatedSales((0..count).map(sale).collect())
    }
}

impl EvidenceSource for RepeatedSales {
    fn ask(
        &self,
        _subject: &Subject,
        _question: &EvidenceQuery,
    ) -> Result<EvidenceResponse, EvidenceError> {
        Ok(EvidenceResponse::Sales(self.0.clone()))
    }
}
