//! The same subject and evidence in the SDK's own types, for the model run natively.

use domesday_engine::evidence as host;
use domesday_engine::fixture::Fixture;
use domesday_engine::subject as given;
use domesday_registers::codes;
use domesday_sdk as sdk;

/// Two closed sets with cases of the same names.
macro_rules! same_names {
    ($($name:ident: $from:ty => $to:ty { $($case:ident),* })*) => {$(
        fn $name(value: $from) -> $to {
            match value { $(<$from>::$case => <$to>::$case),* }
        }
    )*};
}

same_names! {
    property_type: codes::PropertyType => sdk::PropertyType { Detached, SemiDetached, Terraced, Flat, Other }
    subtype: codes::Subtype => sdk::PropertySubtype {
        HouseDetached, HouseSemiDetached, HouseMidTerrace, HouseEndTerrace, BungalowDetached,
        BungalowSemiDetached, BungalowTerraced, FlatPurposeBuilt, FlatConverted, Maisonette
    }
    tenure: codes::Tenure => sdk::Tenure { Freehold, Leasehold }
    age_band: codes::AgeBand => sdk::AgeBand { A, B, C, D, E, F, G, H, I, J, K, L }
    rating: codes::EnergyRating => sdk::EnergyRating { A, B, C, D, E, F, G }
    nearness: host::Nearness => sdk::Nearness {
        SameProperty, SamePostcode, SameSector, SameDistrict, SameArea, Elsewhere
    }
}

/// Converts a subject to the SDK's type, as far as the model reads it.
pub fn subject(given: &given::Subject) -> sdk::Subject {
    sdk::Subject {
        valuation_day: given.valuation_day.0,
        uprn: given.uprn,
        place: sdk::Place {
            easting: given.place.easting,
            northing: given.place.northing,
        },
        precision: sdk::PlacePrecision::Postcode,
        postcode: given.postcode.as_str().to_owned(),
        country: sdk::Country::England,
        authority: given.authority.clone(),
        property_type: property_type(given.property_type),
        subtype: subtype(given.subtype),
        tenure: tenure(given.tenure),
        build_status: sdk::BuildStatus::Existing,
        occupancy: sdk::Occupancy::OwnerOccupied,
        lease: given.lease.as_ref().map(|lease| sdk::Lease {
            years_remaining: lease.years_remaining,
            start: lease.start.map(|day| day.0),
            term_years: lease.term_years,
            ground_rent: lease.ground_rent_gbp,
            service_charge: lease.service_charge_gbp,
        }),
        size: sdk::Size {
            floor_area: given.size.floor_area_m2,
            bedrooms: given.size.bedrooms,
            living_rooms: given.size.living_rooms,
            storeys: given.size.storeys,
            habitable_rooms: given.size.habitable_rooms,
            floor_level: given.size.floor_level,
        },
        fabric: sdk::Fabric {
            wall_type: None,
            roof_type: None,
            floor_type: None,
            glazing: None,
        },
        energy: sdk::Energy {
            age_band: given.energy.age_band.map(age_band),
            rating: given.energy.rating.map(rating),
            score: given.energy.score,
        },
        provenance: sdk::Provenance {
            customer: sdk::Attributes::FLOOR_AREA,
            stored: sdk::Attributes::empty(),
            applied: sdk::Attributes::empty(),
        },
        stored_data: given.stored_data,
        evidence_through: given.evidence_through.map(|day| day.0),
    }
}

fn sale(sale: &host::Sale) -> sdk::Sale {
    sdk::Sale {
        id: sale.id,
        uprn: sale.uprn,
        day: sale.day.0,
        price: sale.price_gbp as f64,
        place: sdk::Place {
            easting: sale.place.easting,
            northing: sale.place.northing,
        },
        precision: sdk::PlacePrecision::Postcode,
        distance: sale.distance_m,
        nearness: nearness(sale.nearness),
        property_type: property_type(sale.property_type),
        subtype: sale.subtype.map(subtype),
        tenure: sale.tenure.map_or(sdk::Tenure::Other, tenure),
        new_build: sale.new_build,
        standard: sale.standard,
        floor_area: sale.floor_area_m2,
        habitable_rooms: sale.habitable_rooms,
        age_band: sale.age_band.map(age_band),
        rating: sale.rating.map(rating),
        score: None,
        floor_level: None,
        fabric: sdk::Fabric {
            wall_type: None,
            roof_type: None,
            floor_type: None,
            glazing: None,
        },
        attributes_day: sale.attributes_day.map(|day| day.0),
    }
}

/// A fixture's answers by kind of question; the benchmarked home asks each kind once.
pub struct ReplayedEvidence {
    nearby: Vec<sdk::Sale>,
    own: Vec<sdk::Sale>,
    index: Option<sdk::IndexSeries>,
}

impl ReplayedEvidence {
    pub fn of(fixture: &Fixture) -> ReplayedEvidence {
        let mut replayed = ReplayedEvidence {
            nearby: Vec::new(),
            own: Vec::new(),
            index: None,
        };
        for exchange in &fixture.evidence {
            match (&exchange.question, &exchange.answer) {
                (host::EvidenceQuery::NearbySales(_), host::EvidenceResponse::Sales(sales)) => {
                    replayed.nearby = sales.iter().map(sale).collect();
                }
                (host::EvidenceQuery::OwnSales, host::EvidenceResponse::Sales(sales)) => {
                    replayed.own = sales.iter().map(sale).collect();
                }
                (_, host::EvidenceResponse::Index(Some(series))) => {
                    let points = series
                        .points
                        .iter()
                        .map(|&(month, value)| sdk::IndexPoint { month, value });
                    replayed.index = Some(sdk::IndexSeries {
                        level: sdk::AreaLevel::LocalAuthority,
                        points: points.collect(),
                    });
                }
                _ => {}
            }
        }
        replayed
    }
}

impl sdk::Evidence for ReplayedEvidence {
    fn nearby_sales(&self, _query: sdk::SalesQuery) -> Result<sdk::Sales, sdk::Refusal> {
        Ok(self.nearby.iter().collect())
    }

    fn own_sales(&self) -> Result<Vec<sdk::Sale>, sdk::Refusal> {
        Ok(self.own.clone())
    }

    fn price_index(
        &self,
        _kind: Option<sdk::PropertyType>,
        _since: sdk::Month,
    ) -> Result<Option<sdk::IndexSeries>, sdk::Refusal> {
        Ok(self.index.clone())
    }

    fn area_figures(
        &self,
        _level: sdk::AreaLevel,
        _kind: Option<sdk::PropertyType>,
    ) -> Result<Option<sdk::Figures>, sdk::Refusal> {
        Ok(None)
    }
}
