//! Converts a release's evidence queries to the host's types.

use super::{wit, wit_evidence as ask};
use crate::evidence::{AreaLevel, EvidenceQuery, Refusal, RowWork, SalesOrder, SalesQuery};
use crate::subject::GridPoint;
use domesday_registers::Day;
use domesday_registers::codes::PropertyType;

pub(crate) fn nearby_sales(query: ask::SalesQuery) -> Result<EvidenceQuery, Refusal> {
    Ok(EvidenceQuery::NearbySales(SalesQuery {
        center: GridPoint {
            easting: query.center.easting,
            northing: query.center.northing,
        },
        radius_m: query.radius,
        since: Day(query.since),
        types: types(query.types),
        standard_only: query.standard_only,
        floor_area_only: query.floor_area_only,
        order: match query.order {
            ask::SalesOrder::Nearest => SalesOrder::Nearest,
            ask::SalesOrder::Newest => SalesOrder::Newest,
            ask::SalesOrder::Other => return Err(Refusal::InvalidQuestion),
        },
        limit: query.limit,
        work: RowWork::default(),
    }))
}

pub(super) fn area_figures(
    level: ask::AreaLevel,
    kind: Option<wit::PropertyType>,
) -> Result<EvidenceQuery, Refusal> {
    let level = match level {
        ask::AreaLevel::PostcodeSector => AreaLevel::PostcodeSector,
        ask::AreaLevel::PostcodeDistrict => AreaLevel::PostcodeDistrict,
        ask::AreaLevel::LocalAuthority => AreaLevel::LocalAuthority,
        ask::AreaLevel::Region | ask::AreaLevel::Country | ask::AreaLevel::Other => {
            return Err(Refusal::InvalidQuestion);
        }
    };
    Ok(EvidenceQuery::AreaFigures {
        level,
        kind: property_type(kind)?,
    })
}

pub(super) fn price_index(
    kind: Option<wit::PropertyType>,
    since: i32,
) -> Result<EvidenceQuery, Refusal> {
    Ok(EvidenceQuery::PriceIndex {
        kind: property_type(kind)?,
        since,
    })
}

fn property_type(kind: Option<wit::PropertyType>) -> Result<Option<PropertyType>, Refusal> {
    kind.map(|kind| match kind {
        wit::PropertyType::Detached => Ok(PropertyType::Detached),
        wit::PropertyType::SemiDetached => Ok(PropertyType::SemiDetached),
        wit::PropertyType::Terraced => Ok(PropertyType::Terraced),
        wit::PropertyType::Flat => Ok(PropertyType::Flat),
        wit::PropertyType::Other => Err(Refusal::InvalidQuestion),
    })
    .transpose()
}

fn types(set: wit::PropertyTypes) -> Vec<PropertyType> {
    [
        (wit::PropertyTypes::DETACHED, PropertyType::Detached),
        (
            wit::PropertyTypes::SEMI_DETACHED,
            PropertyType::SemiDetached,
        ),
        (wit::PropertyTypes::TERRACED, PropertyType::Terraced),
        (wit::PropertyTypes::FLAT, PropertyType::Flat),
        (wit::PropertyTypes::OTHER, PropertyType::Other),
    ]
    .into_iter()
    .filter(|(flag, _)| set.contains(*flag))
    .map(|(_, kind)| kind)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_about_every_type_or_one_of_the_four() {
        for (asked, expected) in [
            (None, Ok(None)),
            (
                Some(wit::PropertyType::Detached),
                Ok(Some(PropertyType::Detached)),
            ),
            (Some(wit::PropertyType::Flat), Ok(Some(PropertyType::Flat))),
            (
                Some(wit::PropertyType::Other),
                Err(Refusal::InvalidQuestion),
            ),
        ] {
            assert_eq!(property_type(asked), expected);
        }
    }

    #[test]
    fn a_set_of_types_is_a_list_in_rising_order() {
        let set = wit::PropertyTypes::OTHER | wit::PropertyTypes::DETACHED;
        assert_eq!(types(set), [PropertyType::Detached, PropertyType::Other]);
        assert!(types(wit::PropertyTypes::empty()).is_empty());
    }
}
