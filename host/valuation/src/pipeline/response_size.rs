//! Bounds the response before any row runs.

use super::render::may_be_derived;
use super::row::{ParsedRow, RequestContext, ValuationRequest};
use domesday_contract::error::{Code, ValidationError};
use domesday_contract::v3::input::Input;
use domesday_contract::v3::request::{PropertyType, Size};
use domesday_contract::v3::result::{Extent, RESPONSE_MAX, rejected};

/// The envelope of a batch without its results: its id is at most 100 bytes, its numbers ten
/// digits.
const ENVELOPE: usize = 400;

/// Checks that the largest possible response to these rows may be sent.
///
/// # Errors
/// `response_too_large`, 413.
pub fn check_response_size(
    rows: &[ParsedRow],
    context: &RequestContext,
) -> Result<(), ValidationError> {
    let bytes = ENVELOPE
        + rows
            .iter()
            .map(|row| largest(row, context) + 1)
            .sum::<usize>();
    if bytes <= RESPONSE_MAX {
        return Ok(());
    }
    let message = format!(
        "The answer may become {bytes} bytes, and at most {RESPONSE_MAX} are sent. Send fewer rows at once, or ask for fewer comparables.",
    );
    Err(ValidationError::new(Code::ResponseTooLarge, message).at("/requests"))
}

/// Returns the most bytes of the result of a row.
fn largest(row: &ParsedRow, context: &RequestContext) -> usize {
    let reference = row.request_reference.as_deref();
    let request = match row.request() {
        Ok(request) => request,
        Err(errors) => return rejected(&context.release.id, reference, errors),
    };
    let extent = Extent {
        release_id: &context.release.id,
        request_reference: reference,
        sections: request.options().sections(context.depth),
        nominal_coverage: context.release.manifest.nominal_coverage,
        authority_name: context.release.authority_name,
        ignored: request.ignored_inputs().len(),
    };
    extent.largest(blank(request).into_iter())
}

/// Returns the inputs that the host or the release may fill.
fn blank(request: &ValuationRequest) -> Vec<Input> {
    let (size, kind, energy) = match request {
        ValuationRequest::Existing(request) => (
            &request.size,
            request.property.property_type,
            request.energy,
        ),
        ValuationRequest::Development(request) => (
            &request.size,
            request.property.property_type,
            request.energy,
        ),
    };
    let flat = kind == PropertyType::Flat;
    let mut blank = blank_size(size);
    match request {
        ValuationRequest::Existing(request) => {
            let fabric = request.fabric;
            for (given, input) in [
                (fabric.wall_type.is_some(), Input::WallType),
                (fabric.roof_type.is_some(), Input::RoofType),
                (fabric.floor_type.is_some(), Input::FloorType),
                (fabric.glazing.is_some(), Input::Glazing),
            ] {
                if !given {
                    blank.push(input);
                }
            }
        }
        // The route sets these, or leaves them to the release.
        ValuationRequest::Development(_) => blank.extend([
            Input::BuildStatus,
            Input::WallType,
            Input::RoofType,
            Input::FloorType,
            Input::Glazing,
        ]),
    }
    for (given, input) in [
        (
            energy.construction_age_band.is_some(),
            Input::ConstructionAgeBand,
        ),
        (energy.rating.is_some(), Input::EnergyRating),
        (energy.efficiency_score.is_some(), Input::EfficiencyScore),
    ] {
        if !given {
            blank.push(input);
        }
    }
    blank.retain(|&input| input == Input::BuildStatus || may_be_derived(input, flat));
    blank
}

fn blank_size(size: &Size) -> Vec<Input> {
    let mut blank = vec![Input::HabitableRooms];
    for (given, input) in [
        (size.floor_area_m2.is_some(), Input::FloorArea),
        (size.bedrooms.is_some(), Input::Bedrooms),
        (size.living_rooms.is_some(), Input::LivingRooms),
        (size.storeys.is_some(), Input::Storeys),
        (size.floor_level.is_some(), Input::FloorLevel),
    ] {
        if !given {
            blank.push(input);
        }
    }
    blank
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::render::contract_referral;
    use domesday_contract::v3::request::Kind;
    use domesday_contract::v3::result::REFERRAL_MESSAGE_MAX;
    use domesday_engine::outcome::ReferralReason;
    use domesday_engine::subject::Attribute;
    use serde_json::json;

    #[test]
    fn the_blank_inputs_are_those_that_the_route_and_the_release_may_fill() {
        let mut house = json!({
            "property": {
                "postcode": "QA1 1AF", "valuation_date": "2026-10-15", "title_tenure": "freehold",
                "type": "S", "subtype": "house_semi_detached",
                "street": "Badger Yard Gardens", "building_number_or_name": "15"
            },
            "occupancy": {"status": "vacant"},
            "size": {"floor_area_m2": 55}
        });
        let blanks = |request: &serde_json::Value, kind| {
            let request = ValuationRequest::read(request.to_string().as_bytes(), kind).unwrap();
            blank(&request)
        };
        let size = [Input::HabitableRooms, Input::Bedrooms, Input::LivingRooms];
        let fabric = [
            Input::WallType,
            Input::RoofType,
            Input::FloorType,
            Input::Glazing,
        ];
        let energy = [
            Input::ConstructionAgeBand,
            Input::EnergyRating,
            Input::EfficiencyScore,
        ];
        let storeys = [Input::Storeys];
        let floor = [Input::FloorLevel];
        let route = [Input::BuildStatus];
        let of_house = [&size[..], &storeys, &fabric, &energy].concat();
        assert_eq!(blanks(&house, Kind::Existing), of_house);

        house["property"]["site_latitude"] = 55.6.into();
        house["property"]["site_longitude"] = (-2.2).into();
        let of_site = [&size[..], &storeys, &route, &fabric, &energy].concat();
        assert_eq!(blanks(&house, Kind::Development), of_site);

        house["property"]["type"] = "F".into();
        house["property"]["subtype"] = "maisonette".into();
        let of_flat = [&size[..], &floor, &route, &fabric, &energy].concat();
        assert_eq!(blanks(&house, Kind::Development), of_flat);
    }

    #[test]
    fn no_referral_says_more_than_is_foreseen() {
        for reason in [
            ReferralReason::OutsidePropertyTypes,
            ReferralReason::UnusualSize,
            ReferralReason::UnusualValue,
            ReferralReason::InsufficientEvidence,
            ReferralReason::ShortLease,
            ReferralReason::MissingInput,
            ReferralReason::ConflictingInputs,
            ReferralReason::Other,
        ] {
            // The attribute with the longest name in a request.
            let referral = contract_referral(reason, Some(Attribute::LeaseServiceCharge));
            let message = serde_json::to_string(&referral.message).unwrap();
            assert!(message.len() <= REFERRAL_MESSAGE_MAX, "{message}");
        }
    }
}
