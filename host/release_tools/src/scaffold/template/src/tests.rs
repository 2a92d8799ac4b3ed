//! The model against evidence that is made up here.

use super::*;
use domesday_sdk::{
    Attributes, BuildStatus, Country, Energy, Fabric, Figures, IndexSeries, Month, Nearness,
    Occupancy, Place, PlacePrecision, PropertySubtype, PropertyType, Provenance, Refusal, Sale,
    Sales, SalesQuery, Size, Tenure,
};

/// Areas with a price of a square metre, and the home's own sales.
struct Prices(Vec<(AreaLevel, f64)>, Vec<Sale>);

impl Evidence for Prices {
    fn nearby_sales(&self, _: SalesQuery) -> Result<Sales, Refusal> {
        Ok(Sales::default())
    }

    fn own_sales(&self) -> Result<Vec<Sale>, Refusal> {
        Ok(self.1.clone())
    }

    fn price_index(
        &self,
        _: Option<PropertyType>,
        _: Month,
    ) -> Result<Option<IndexSeries>, Refusal> {
        Ok(None)
    }

    fn area_figures(
        &self,
        level: AreaLevel,
        _: Option<PropertyType>,
    ) -> Result<Option<Figures>, Refusal> {
        let known = self.0.iter().find(|(of, _)| *of == level);
        Ok(known.map(|(_, price)| Figures {
            to_month: 650,
            sales_count: 40,
            median_price: None,
            price_per_sqm: Some(*price),
            floor_area_sales: None,
            mean_floor_area: None,
            price_change: None,
        }))
    }
}

fn house(floor_area: Option<f64>) -> Subject {
    Subject {
        valuation_day: 20_000,
        uprn: None,
        place: Place {
            easting: 450_000,
            northing: 300_000,
        },
        precision: PlacePrecision::Postcode,
        postcode: "ZZ1 1AA".to_owned(),
        country: Country::England,
        authority: String::new(),
        property_type: PropertyType::Terraced,
        subtype: PropertySubtype::HouseMidTerrace,
        tenure: Tenure::Freehold,
        build_status: BuildStatus::Existing,
        occupancy: Occupancy::OwnerOccupied,
        lease: None,
        size: Size {
            floor_area,
            bedrooms: None,
            living_rooms: None,
            storeys: None,
            habitable_rooms: None,
            floor_level: None,
        },
        fabric: Fabric {
            wall_type: None,
            roof_type: None,
            floor_type: None,
            glazing: None,
        },
        energy: Energy {
            age_band: None,
            rating: None,
            score: None,
        },
        provenance: Provenance {
            customer: Attributes::FLOOR_AREA,
            stored: Attributes::empty(),
            applied: Attributes::empty(),
        },
        stored_data: false,
        evidence_through: Some(19_999),
    }
}

#[test]
fn the_smallest_area_with_a_price_decides() {
    let areas = vec![
        (AreaLevel::LocalAuthority, 2_000.0),
        (AreaLevel::PostcodeDistrict, 2_500.0),
    ];
    let prices = Prices(areas, Vec::new());
    match LocalPrice::value(&house(Some(80.0)), &prices) {
        Outcome::Valued(valuation) => {
            assert_eq!(valuation.estimate, 200_000.0);
            assert_eq!(valuation.confidence, 0.7 * 40.0 / 45.0);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn missing_inputs_are_referred() {
    let no_prices = Prices(Vec::new(), Vec::new());
    let nowhere = LocalPrice::value(&house(Some(80.0)), &no_prices);
    assert_eq!(nowhere, refer(ReferralReason::InsufficientEvidence, None));
    let no_area = LocalPrice::value(&house(None), &no_prices);
    let about = Some(Attribute::FloorArea);
    assert_eq!(no_area, refer(ReferralReason::MissingInput, about));
}

#[test]
fn the_last_sale_moves_the_estimate_but_is_not_all() {
    assert_eq!(towards(None, 200_000.0), 200_000.0);
    let moved = towards(Some(300_000.0), 200_000.0);
    assert!(moved > 200_000.0 && moved < 300_000.0, "{moved}");
}

/// Returns a sale of the home itself.
fn own_sale(day: i32) -> Sale {
    let home = house(Some(80.0));
    Sale {
        id: 1,
        uprn: None,
        day,
        price: 300_000.0,
        place: home.place,
        precision: home.precision,
        distance: 0.0,
        nearness: Nearness::SameProperty,
        property_type: home.property_type,
        subtype: None,
        tenure: home.tenure,
        new_build: false,
        standard: true,
        floor_area: None,
        habitable_rooms: None,
        age_band: None,
        rating: None,
        score: None,
        floor_level: None,
        fabric: home.fabric,
        attributes_day: None,
    }
}

#[test]
fn the_share_of_an_own_sale_is_stated_where_it_counts() {
    let share = |own: Vec<Sale>| {
        let prices = Prices(vec![(AreaLevel::LocalAuthority, 2_000.0)], own);
        match LocalPrice::value(&house(Some(80.0)), &prices) {
            Outcome::Valued(valuation) => valuation.own_sales_share,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(share(Vec::new()), None);
    assert_eq!(share(vec![own_sale(19_900)]), Some(OWN_SHARE));
    // Too long ago to count.
    assert_eq!(share(vec![own_sale(20_000 - OWN_DAYS - 1)]), None);
}
