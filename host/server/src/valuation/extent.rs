//! How large an answer can become, before any of its rows is worked on.

use super::render::may_be_derived;
use super::row::{Asked, ParsedRow, Shared};
use domesday_breaks::broken;
use domesday_contract::error::{Code, Fault};
use domesday_contract::v3::input::Input;
use domesday_contract::v3::request::{PropertyType, Size};
use domesday_contract::v3::result::{Extent, RESPONSE_MAX, rejected};

/// The envelope of a batch without its results: its id is at most 100 bytes, its numbers ten digits.
const ENVELOPE: usize = 400;

/// An answer with all these results must fit.
///
/// # Errors
/// `response_too_large`, 413.
pub fn foreseen(rows: &[ParsedRow], shared: &Shared) -> Result<(), Fault> {
    let bytes = ENVELOPE
        + rows
            .iter()
            .map(|row| largest(row, shared) + 1)
            .sum::<usize>();
    if bytes <= RESPONSE_MAX || broken("limit-response") {
        return Ok(());
    }
    let message = format!(
        "The answer may become {bytes} bytes, and at most {RESPONSE_MAX} are sent. Send fewer rows at once, or ask for fewer comparables.",
    );
    Err(Fault::new(Code::ResponseTooLarge, message).at("/requests"))
}

/// Most bytes of the result of a row.
fn largest(row: &ParsedRow, shared: &Shared) -> usize {
    let reference = row.request_reference.as_deref();
    let asked = match row.asked() {
        Ok(asked) => asked,
        Err(faults) => return rejected(&shared.release.id, reference, faults),
    };
    let extent = Extent {
        release_id: &shared.release.id,
        request_reference: reference,
        shown: asked.options().shown(shared.depth),
        nominal_coverage: shared.release.manifest.nominal_coverage,
        authority_name: shared.release.authority_name,
        ignored: asked.ignored_inputs().len(),
    };
    extent.largest(blank(asked).into_iter())
}

/// The inputs that somebody else than the customer may fill.
fn blank(asked: &Asked) -> Vec<Input> {
    let (size, kind, energy) = match asked {
        Asked::Existing(request) => (
            &request.size,
            request.property.property_type,
            request.energy,
        ),
        Asked::Development(request) => (
            &request.size,
            request.property.property_type,
            request.energy,
        ),
    };
    let flat = kind == PropertyType::Flat;
    let mut blank = blank_size(size);
    match asked {
        Asked::Existing(request) => {
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
        Asked::Development(_) => blank.extend([
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
    use crate::valuation::render::referred;
    use domesday_contract::v3::result::REFERRAL_MESSAGE_MAX;
    use domesday_engine::outcome::ReferralReason;
    use domesday_engine::subject::Attribute;

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
            let referral = referred(reason, Some(Attribute::LeaseServiceCharge));
            let message = serde_json::to_string(&referral.message).unwrap();
            assert!(message.len() <= REFERRAL_MESSAGE_MAX, "{message}");
        }
    }
}
