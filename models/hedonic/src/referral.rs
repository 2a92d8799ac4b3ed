//! Reasons to refer a property instead of valuing it.

use crate::floor_area;
use crate::parameters::ReferralParameters;
use crate::property_kind::PropertyKind;
use domesday_sdk::{Attribute, Referral, ReferralReason, Subject, Tenure};

fn refer(reason: ReferralReason, about: Option<Attribute>) -> Referral {
    Referral { reason, about }
}

/// Refers a property of a type that the model does not value.
pub fn outside_property_types() -> Referral {
    refer(
        ReferralReason::OutsidePropertyTypes,
        Some(Attribute::PropertyType),
    )
}

/// Refers a property with too few comparables or too uncertain a value.
pub fn insufficient_evidence() -> Referral {
    refer(ReferralReason::InsufficientEvidence, None)
}

/// Checks the subject alone, before any query to the evidence.
pub fn check_subject(
    p: &ReferralParameters,
    subject: &Subject,
    kind: PropertyKind,
) -> Option<Referral> {
    check_size(p, subject, kind).or_else(|| check_lease(p, subject))
}

fn check_size(p: &ReferralParameters, subject: &Subject, kind: PropertyKind) -> Option<Referral> {
    let area = subject.size.floor_area?;
    if !(*p.least_area_m2.of(kind)..=*p.greatest_area_m2.of(kind)).contains(&area) {
        return Some(refer(
            ReferralReason::UnusualSize,
            Some(Attribute::FloorArea),
        ));
    }
    let rooms = floor_area::rooms(subject)?.fewest;
    (area < p.least_area_per_room_m2 * f64::from(rooms)).then(|| {
        refer(
            ReferralReason::ConflictingInputs,
            Some(Attribute::FloorArea),
        )
    })
}

fn check_lease(p: &ReferralParameters, subject: &Subject) -> Option<Referral> {
    let about = Some(Attribute::LeaseYearsRemaining);
    match &subject.lease {
        Some(lease) if lease.years_remaining < p.least_lease_years => {
            Some(refer(ReferralReason::ShortLease, about))
        }
        None if subject.tenure == Tenure::Leasehold => {
            Some(refer(ReferralReason::MissingInput, about))
        }
        _ => None,
    }
}

/// Checks an unknown floor area. Refers the subject if neighbours differ too much in size to derive
/// it. Where their sizes are unknown as well, the spread of their prices covers the size.
pub fn check_unknown_size(
    p: &ReferralParameters,
    rooms_known: bool,
    spread: Option<f64>,
) -> Option<Referral> {
    let unlike = spread.is_some_and(|spread| spread > p.greatest_area_spread);
    (!rooms_known && unlike)
        .then(|| refer(ReferralReason::MissingInput, Some(Attribute::FloorArea)))
}

/// Checks the value. `local` is the mean log price of the comparables.
pub fn check_value(
    p: &ReferralParameters,
    log_value: f64,
    estimate: f64,
    scale: f64,
    local: f64,
) -> Option<Referral> {
    if scale > p.greatest_scale {
        return Some(insufficient_evidence());
    }
    let usual = (p.least_value..=p.greatest_value).contains(&estimate)
        && (log_value - local).abs() <= p.greatest_departure;
    (!usual).then(|| refer(ReferralReason::UnusualValue, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PARAMETERS;
    use crate::testing;
    use domesday_sdk::Lease;

    const P: &ReferralParameters = &PARAMETERS.referral;

    fn reason(change: impl FnOnce(&mut Subject)) -> Option<ReferralReason> {
        let mut s = testing::subject();
        change(&mut s);
        check_subject(P, &s, PropertyKind::SemiDetached).map(|r| r.reason)
    }

    #[test]
    fn reasons_of_the_subject_alone() {
        let leasehold = |years_remaining| {
            move |s: &mut Subject| {
                s.tenure = Tenure::Leasehold;
                s.lease = Some(Lease {
                    years_remaining,
                    start: None,
                    term_years: None,
                    ground_rent: None,
                    service_charge: None,
                });
            }
        };
        assert_eq!(reason(|_| ()), None);
        assert_eq!(
            reason(|s| s.size.floor_area = Some(20.0)),
            Some(ReferralReason::UnusualSize)
        );
        assert_eq!(
            reason(|s| s.size.floor_area = Some(1_500.0)),
            Some(ReferralReason::UnusualSize)
        );
        assert_eq!(
            reason(|s| s.size.habitable_rooms = Some(20)),
            Some(ReferralReason::ConflictingInputs)
        );
        assert_eq!(reason(leasehold(59.9)), Some(ReferralReason::ShortLease));
        assert_eq!(reason(leasehold(60.0)), None);
        assert_eq!(
            reason(|s| s.tenure = Tenure::Leasehold),
            Some(ReferralReason::MissingInput)
        );
    }

    #[test]
    fn reasons_of_the_value() {
        let why = |v: f64, scale| check_value(P, v.ln(), v, scale, v.ln()).map(|r| r.reason);
        assert_eq!(why(2e5, 0.2), None);
        assert_eq!(why(2e5, 0.9), Some(ReferralReason::InsufficientEvidence));
        assert_eq!(why(5e3, 0.2), Some(ReferralReason::UnusualValue));
        assert_eq!(why(9e6, 0.2), Some(ReferralReason::UnusualValue));
        let far = check_value(P, 13.0, 13.0_f64.exp(), 0.2, 11.0).map(|r| r.reason);
        assert_eq!(far, Some(ReferralReason::UnusualValue));
    }
}
