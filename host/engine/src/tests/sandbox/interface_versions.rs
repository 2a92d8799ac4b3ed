//! A release of any published version of the interface runs, and both ways of asking for sales say
//! the same.

use super::common::subject;
use super::guest::component;
use domesday_engine::config::Allocation;
use domesday_engine::evidence::{
    EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource, Nearness, Refusal, Sale,
};
use domesday_engine::outcome::{Outcome, Row};
use domesday_engine::subject::{GridPoint, Occupancy, Precision, Subject};
use domesday_engine::{Limits, Runtime};
use domesday_registers::codes::{AgeBand, EnergyRating, PropertyType, Subtype, Tenure};
use domesday_registers::{Day, Postcode};
use std::sync::Arc;

/// The guest `asking`, built against 1.0.0 when there was no later version. Never built again.
const OF_1_0_0: &[u8] = include_bytes!("../fixtures/asking-1.0.0.wasm");

/// Answers every question for sales with the same ones.
struct These(Vec<Sale>);

impl EvidenceSource for These {
    fn ask(
        &self,
        _subject: &Subject,
        question: &EvidenceQuery,
    ) -> Result<EvidenceResponse, EvidenceError> {
        Ok(match question {
            EvidenceQuery::NearbySales(query) => {
                let most = usize::try_from(query.limit).unwrap();
                EvidenceResponse::Sales(self.0.iter().take(most).cloned().collect())
            }
            _ => EvidenceResponse::Refused(Refusal::InvalidQuestion),
        })
    }
}

/// Sales that between them have every case of every vocabulary, and every option with and without.
pub fn sales() -> Vec<Sale> {
    use {AgeBand as A, EnergyRating as E, Nearness as N, PropertyType as P, Subtype as S};
    let ages = [
        A::A,
        A::B,
        A::C,
        A::D,
        A::E,
        A::F,
        A::G,
        A::H,
        A::I,
        A::J,
        A::K,
        A::L,
    ];
    let ratings = [E::A, E::B, E::C, E::D, E::E, E::F, E::G];
    let kinds = [P::Detached, P::SemiDetached, P::Terraced, P::Flat, P::Other];
    let subtypes = [
        S::HouseDetached,
        S::HouseSemiDetached,
        S::HouseMidTerrace,
        S::HouseEndTerrace,
        S::BungalowDetached,
        S::BungalowSemiDetached,
        S::BungalowTerraced,
        S::FlatPurposeBuilt,
        S::FlatConverted,
        S::Maisonette,
    ];
    let nearnesses = [
        N::SameProperty,
        N::SamePostcode,
        N::SameSector,
        N::SameDistrict,
        N::SameArea,
        N::Elsewhere,
    ];
    let tenures = [Some(Tenure::Freehold), Some(Tenure::Leasehold), None];
    let precisions = [Precision::Property, Precision::Postcode, Precision::Site];
    (0..60_usize)
        .map(|n| Sale {
            id: u64::MAX - n as u64,
            uprn: (n % 2 == 0).then_some(999_999_999_999 - n as u64),
            day: Day(-20_000 + 700 * n as i32),
            price_gbp: 1 + 4_321_987 * n as u64,
            place: GridPoint {
                easting: -7 + 12_345 * n as i32,
                northing: 1_299_999 - 21_000 * n as i32,
            },
            precision: precisions[n % 3],
            distance_m: (n as f64).sqrt() * 37.0,
            nearness: nearnesses[n % 6],
            postcode: Postcode::parse("QX1 1AA").unwrap(),
            property_type: kinds[n % 5],
            subtype: (n % 4 != 3).then_some(subtypes[n % 10]),
            tenure: tenures[n / 2 % 3],
            new_build: n % 3 == 1,
            standard: n % 5 != 2,
            floor_area_m2: (n % 3 != 0).then_some(8.25 + n as f64),
            habitable_rooms: (n % 7 != 0).then_some(n as u32 % 9),
            age_band: (n % 5 != 4).then_some(ages[n % 12]),
            rating: (n % 6 != 5).then_some(ratings[n % 7]),
            attributes_day: (n % 2 == 1).then_some(Day(10 * n as i32 - 5)),
        })
        .collect()
}

fn row(component: &[u8], subject: Subject, sales: Vec<Sale>) -> Row {
    let runtime = Runtime::new(Allocation::OnDemand).unwrap();
    let release = runtime
        .admit(component, Limits::new(50_000_000, 16 << 20))
        .unwrap();
    release.value(&Arc::new(subject), Arc::new(These(sales)))
}

/// Returns a subject for which the guest asks one question with sixty sales in its answer.
fn asks() -> Subject {
    let mut subject = subject(1);
    subject.size.storeys = Some(60);
    subject
}

fn estimate(row: Row) -> f64 {
    match row.outcome {
        Ok(Outcome::Valued(valuation)) => valuation.estimate,
        other => panic!("{other:?}"),
    }
}

fn expected_estimate(sales: &[Sale]) -> f64 {
    1.0 + sales.iter().map(|sale| sale.price_gbp as f64).sum::<f64>()
}

#[test]
fn a_release_of_1_0_0_stays_loadable() {
    let sales = sales();
    let expected = expected_estimate(&sales);
    assert_eq!(estimate(row(OF_1_0_0, asks(), sales)), expected);
}

#[test]
fn sales_are_the_same_packed_and_one_by_one() {
    let mut tenanted = asks();
    tenanted.occupancy = Occupancy::Tenanted;
    let sales = sales();
    let expected = expected_estimate(&sales);
    let run = row(&component("guest-queries"), tenanted, sales);
    // Each way is a question, and both show sales that a comparable may name.
    assert_eq!(run.cost.questions, 2);
    assert_eq!(estimate(run), expected);
}
