//! When no automated value is offered, and why.

use crate::derive;
use crate::kind::Kind;
use crate::parameters::ReferParameters;
use domesday_sdk::{Attribute, Referral, ReferralReason, Subject, Tenure};

fn because(reason: ReferralReason, about: Option<Attribute>) -> Referral {
    Referral { reason, about }
}

/// Not a home of the four kinds.
pub fn outside_types() -> Referral {
    because(
        ReferralReason::OutsidePropertyTypes,
        Some(Attribute::PropertyType),
    )
}

/// Too few comparables, or too uncertain a value.
pub fn insufficient_evidence() -> Referral {
    because(ReferralReason::InsufficientEvidence, None)
}

/// What the subject alone gives reason for, before any evidence is asked.
pub fn subject(p: &ReferParameters, subject: &Subject, kind: Kind) -> Option<Referral> {
    size(p, subject, kind).or_else(|| lease(p, subject))
}

fn size(p: &ReferParameters, subject: &Subject, kind: Kind) -> Option<Referral> {
    let area = subject.size.floor_area?;
    if !(*p.least_area_m2.of(kind)..=*p.greatest_area_m2.of(kind)).contains(&area) {
        return Some(because(
            ReferralReason::UnusualSize,
            Some(Attribute::FloorArea),
        ));
    }
    let rooms = derive::rooms(subject)?;
    (area < p.least_area_per_room_m2 * f64::from(rooms)).then(|| {
        because(
            ReferralReason::ConflictingInputs,
            Some(Attribute::FloorArea),
        )
    })
}

fn lease(p: &ReferParameters, subject: &Subject) -> Option<Referral> {
    let about = Some(Attribute::LeaseYearsRemaining);
    match &subject.lease {
        Some(lease) if lease.years_remaining < p.least_lease_years => {
            Some(because(ReferralReason::ShortLease, about))
        }
        None if subject.tenure == Tenure::Leasehold => {
            Some(because(ReferralReason::MissingInput, about))
        }
        _ => None,
    }
}

/// A floor area that nobody gave, where neighbours are too unlike in size to tell it. Where theirs
/// are not known either, their prices differ by size too, and the value's uncertainty has it.
pub fn unknown_size(
    p: &ReferParameters,
    rooms_known: bool,
    spread: Option<f64>,
) -> Option<Referral> {
    let unlike = spread.is_some_and(|spread| spread > p.greatest_area_spread);
    (!rooms_known && unlike)
        .then(|| because(ReferralReason::MissingInput, Some(Attribute::FloorArea)))
}

/// What the value itself gives reason for. `local` is the middle log price of the comparables.
pub fn value(
    p: &ReferParameters,
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
    (!usual).then(|| because(ReferralReason::UnusualValue, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PARAMETERS;
    use crate::testing;
    use domesday_sdk::Lease;

    const P: &ReferParameters = &PARAMETERS.refer;

    fn reason(change: impl FnOnce(&mut Subject)) -> Option<ReferralReason> {
        let mut s = testing::subject();
        change(&mut s);
        subject(P, &s, Kind::SemiDetached).map(|r| r.reason)
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
        let why = |v: f64, scale| value(P, v.ln(), v, scale, v.ln()).map(|r| r.reason);
        assert_eq!(why(2e5, 0.2), None);
        assert_eq!(why(2e5, 0.9), Some(ReferralReason::InsufficientEvidence));
        assert_eq!(why(5e3, 0.2), Some(ReferralReason::UnusualValue));
        assert_eq!(why(9e6, 0.2), Some(ReferralReason::UnusualValue));
        let far = value(P, 13.0, 13.0_f64.exp(), 0.2, 11.0).map(|r| r.reason);
        assert_eq!(far, Some(ReferralReason::UnusualValue));
    }
}
