//! Synthetic subjects and evidence for tests.

use domesday_sdk::*;
use std::cell::Cell;

/// 2024-06-01.
pub(crate) const VALUATION_DAY: Day = 19_875;

/// Returns a semi-detached house of 90 m² with all attributes known.
pub(crate) fn subject() -> Subject {
    Subject {
        valuation_day: VALUATION_DAY,
        uprn: Some(1_000),
        place: Place {
            easting: 450_000,
            northing: 300_000,
        },
        precision: PlacePrecision::Property,
        postcode: "ZZ1 1AA".to_owned(),
        country: Country::England,
        authority: "E07999999".to_owned(),
        property_type: PropertyType::SemiDetached,
        subtype: PropertySubtype::HouseSemiDetached,
        tenure: Tenure::Freehold,
        build_status: BuildStatus::Existing,
        occupancy: Occupancy::OwnerOccupied,
        lease: None,
        size: Size {
            floor_area: Some(90.0),
            bedrooms: Some(3),
            living_rooms: Some(2),
            storeys: Some(2),
            habitable_rooms: Some(5),
            floor_level: None,
        },
        fabric: Fabric {
            wall_type: None,
            roof_type: None,
            floor_type: None,
            glazing: None,
        },
        energy: Energy {
            age_band: Some(AgeBand::D),
            rating: Some(EnergyRating::D),
            score: Some(60),
        },
        provenance: Provenance {
            customer: Attributes::FLOOR_AREA,
            stored: Attributes::empty(),
            applied: Attributes::empty(),
        },
        stored_data: true,
        evidence_through: Some(VALUATION_DAY - 1),
    }
}

/// Returns a sale of a home like the subject, 100 m away and half a year ago.
pub(crate) fn sale(id: u64) -> Sale {
    Sale {
        id,
        uprn: Some(2_000 + id),
        day: VALUATION_DAY - 180,
        price: 250_000.0,
        place: Place {
            easting: 450_000,
            northing: 300_100,
        },
        precision: PlacePrecision::Postcode,
        distance: 100.0,
        nearness: Nearness::SameSector,
        property_type: PropertyType::SemiDetached,
        subtype: Some(PropertySubtype::HouseSemiDetached),
        tenure: Tenure::Freehold,
        new_build: false,
        standard: true,
        floor_area: Some(90.0),
        habitable_rooms: Some(5),
        age_band: Some(AgeBand::D),
        rating: Some(EnergyRating::D),
        score: None,
        floor_level: None,
        fabric: Fabric {
            wall_type: None,
            roof_type: None,
            floor_type: None,
            glazing: None,
        },
        attributes_day: Some(VALUATION_DAY - 300),
    }
}

#[derive(Clone, Debug)]
/// Evidence from lists. It answers a question for sales by type and radius, as the host would.
pub(crate) struct FakeEvidence {
    pub(crate) near: Vec<Sale>,
    pub(crate) own: Vec<Sale>,
    pub(crate) index: Option<Vec<IndexPoint>>,
    pub(crate) figures: Option<Figures>,
    pub(crate) queries: Cell<u32>,
    pub(crate) refuse_after: u32,
}

impl FakeEvidence {
    pub(crate) fn of(near: Vec<Sale>) -> FakeEvidence {
        FakeEvidence {
            near,
            own: Vec::new(),
            index: Some(vec![IndexPoint {
                month: 0,
                value: 100.0,
            }]),
            figures: None,
            queries: Cell::new(0),
            refuse_after: 32,
        }
    }

    fn count_query(&self) -> Result<(), Refusal> {
        self.queries.set(self.queries.get() + 1);
        if self.queries.get() > self.refuse_after {
            return Err(Refusal::TooManyQuestions);
        }
        Ok(())
    }
}

fn flag(kind: PropertyType) -> PropertyTypes {
    match kind {
        PropertyType::Detached => PropertyTypes::DETACHED,
        PropertyType::SemiDetached => PropertyTypes::SEMI_DETACHED,
        PropertyType::Terraced => PropertyTypes::TERRACED,
        PropertyType::Flat => PropertyTypes::FLAT,
        PropertyType::Other => PropertyTypes::OTHER,
    }
}

impl Evidence for FakeEvidence {
    fn nearby_sales(&self, query: SalesQuery) -> Result<Sales, Refusal> {
        self.count_query()?;
        let fits = |s: &&Sale| {
            query.types & flag(s.property_type) == flag(s.property_type)
                && s.distance <= f64::from(query.radius)
                && s.day >= query.since
        };
        Ok(self
            .near
            .iter()
            .filter(fits)
            .take(query.limit as usize)
            .collect())
    }

    fn own_sales(&self) -> Result<Vec<Sale>, Refusal> {
        self.count_query()?;
        Ok(self.own.clone())
    }

    fn price_index(
        &self,
        _: Option<PropertyType>,
        _: Month,
    ) -> Result<Option<IndexSeries>, Refusal> {
        self.count_query()?;
        let of = |points: &Vec<IndexPoint>| IndexSeries {
            level: AreaLevel::LocalAuthority,
            points: points.clone(),
        };
        Ok(self.index.as_ref().map(of))
    }

    fn area_figures(
        &self,
        _: AreaLevel,
        _: Option<PropertyType>,
    ) -> Result<Option<Figures>, Refusal> {
        self.count_query()?;
        Ok(self.figures)
    }
}
