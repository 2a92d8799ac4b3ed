//! Converts the host's evidence responses to the interface's types.

use super::subject::{age_band, precision, property_type, rating, subtype, tenure};
use super::{wit, wit_evidence as ask};
use crate::evidence::{Figures, Nearness, Refusal, Sale};

pub(super) fn refusal(refusal: Refusal) -> ask::Refusal {
    match refusal {
        Refusal::TooManyQuestions => ask::Refusal::TooManyQuestions,
        Refusal::TooManySales => ask::Refusal::TooManySales,
        Refusal::InvalidQuestion => ask::Refusal::InvalidQuestion,
    }
}

pub(crate) fn nearness(nearness: Nearness) -> ask::Nearness {
    match nearness {
        Nearness::SameProperty => ask::Nearness::SameProperty,
        Nearness::SamePostcode => ask::Nearness::SamePostcode,
        Nearness::SameSector => ask::Nearness::SameSector,
        Nearness::SameDistrict => ask::Nearness::SameDistrict,
        Nearness::SameArea => ask::Nearness::SameArea,
        Nearness::Elsewhere => ask::Nearness::Elsewhere,
    }
}

pub(super) fn sale(sale: &Sale) -> ask::Sale {
    ask::Sale {
        id: sale.id,
        uprn: sale.uprn,
        day: sale.day.0,
        price: sale.price_gbp as f64,
        place: wit::Place {
            easting: sale.place.easting,
            northing: sale.place.northing,
        },
        precision: precision(sale.precision),
        distance: sale.distance_m,
        nearness: nearness(sale.nearness),
        property_type: property_type(sale.property_type),
        subtype: sale.subtype.map(subtype),
        tenure: tenure(sale.tenure),
        new_build: sale.new_build,
        standard: sale.standard,
        floor_area: sale.floor_area_m2,
        habitable_rooms: sale.habitable_rooms,
        age_band: sale.age_band.map(age_band),
        rating: sale.rating.map(rating),
        // Snapshots do not keep these with a sale yet.
        score: None,
        floor_level: None,
        fabric: wit::Fabric {
            wall_type: None,
            roof_type: None,
            floor_type: None,
            glazing: None,
        },
        attributes_day: sale.attributes_day.map(|day| day.0),
    }
}

pub(super) fn figures(figures: Figures) -> ask::Figures {
    ask::Figures {
        to_month: figures.to_month,
        sales_count: figures.sales_count,
        median_price: figures.median_price_gbp,
        price_per_sqm: figures.price_per_sqm_gbp,
        floor_area_sales: None,
        mean_floor_area: None,
        price_change: figures.price_change_pct,
    }
}
