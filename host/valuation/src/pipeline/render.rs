//! The stage that renders the outcome of a release as the contract's result.

use super::convert::{wire_property_type, wire_tenure};
use super::value::release_failed;
use crate::release_store::OpenRelease;
use domesday_contract::v3::identity::{Postcode, Uprn};
use domesday_contract::v3::input::{Input, InputResolution, Note, Reason, Source};
use domesday_contract::v3::result as wire;
use domesday_contract::v3::result::{
    Comparable, Confidence, ConfidenceBand, Context, IdentitySource, Referral, ReferralCode,
    ReferredResult, ResultProperty, ValuedResult, round_gbp,
};
use domesday_engine::evidence::{Sale, ShownSales};
use domesday_engine::outcome;
use domesday_engine::outcome::{Derivation, DerivedInput, Outcome, ReferralReason, Row, Valuation};
use domesday_engine::subject::{Attribute, GridPoint, Subject};
use domesday_package::Band;
use domesday_registers::codes::PropertyType;

/// The inputs of a result, apart from the row itself.
pub struct Rendering<'a> {
    /// The release that answered.
    pub release: &'a OpenRelease,
    /// The subject.
    pub subject: &'a Subject,
    /// The source of its identity.
    pub identity_source: IdentitySource,
    /// Blank inputs that stored data filled.
    pub stored_data_used: Vec<Note>,
    /// Inputs that the route set.
    pub applied_inputs: Vec<Note>,
    /// Valid inputs that say nothing about the property.
    pub ignored_inputs: Vec<Note>,
    /// Statements that the stored record contradicts.
    pub conflicting_inputs: Vec<Note>,
    /// The number of comparables to show. `None` shows no section.
    pub comparables: Option<u8>,
    /// The location's figures, where asked for.
    pub context: Option<Context>,
}

/// Renders the contract's outcome of a row.
pub fn render(row: Row, with: Rendering<'_>) -> wire::Outcome {
    let Some(property) = property(&with) else {
        return wire::Outcome::Failed(vec![release_failed()]);
    };
    match row.outcome {
        Ok(Outcome::Valued(valuation)) => {
            match render_valued(&valuation, &row.shown_sales, property, with) {
                Some(valued) => wire::Outcome::Valued(Box::new(valued)),
                None => wire::Outcome::Failed(vec![release_failed()]),
            }
        }
        Ok(Outcome::Referred(referral)) => {
            let about = referral
                .about
                .map(|about| customer_attribute(about, with.subject));
            refer(contract_referral(referral.reason, about), with)
        }
        // A failure of the host never comes here: the pipeline ends the row before.
        Ok(Outcome::Failed { .. }) | Err(_) => wire::Outcome::Failed(vec![release_failed()]),
    }
}

/// Renders the contract's outcome of a row that a person should value.
pub fn refer(referral: Referral, with: Rendering<'_>) -> wire::Outcome {
    let Some(property) = property(&with) else {
        return wire::Outcome::Failed(vec![release_failed()]);
    };
    wire::Outcome::Referred(Box::new(ReferredResult {
        property,
        date: with.subject.valuation_day.date().unwrap_or_default(),
        referral,
        input_resolution: InputResolution {
            stored_data_used: with.stored_data_used,
            ignored_inputs: with.ignored_inputs,
            derived_inputs: with.applied_inputs,
            conflicting_inputs: with.conflicting_inputs,
        },
    }))
}

/// Renders a valuation. Returns `None` where a sum does not fit whole pounds, which the engine's
/// checks rule out.
fn render_valued(
    valuation: &Valuation,
    sales: &ShownSales,
    property: ResultProperty,
    with: Rendering<'_>,
) -> Option<ValuedResult> {
    let range = match valuation.range {
        Some(range) => Some(wire::ValueRange {
            lower_value_gbp: round_gbp(range.lower)?,
            upper_value_gbp: round_gbp(range.upper)?,
            nominal_coverage: with.release.manifest.nominal_coverage,
        }),
        None => None,
    };
    let shown = (valuation.comparables.iter())
        .filter_map(|comparable| Some((comparable, sales.find(with.subject, comparable.sale)?)));
    let comparables = (with.comparables).map(|limit| comparables(shown, with.subject, limit));
    let mut derived_inputs = with.applied_inputs;
    derived_inputs.extend(
        valuation
            .derived
            .iter()
            .filter_map(|input| derived_note(input, with.subject)),
    );
    Some(ValuedResult {
        property,
        date: with.subject.valuation_day.date()?,
        estimated_value_gbp: round_gbp(valuation.estimate)?,
        range,
        confidence: Confidence {
            score: thousandths(valuation.confidence),
            // The score that the client sees decides.
            band: band(with.release, thousandths(valuation.confidence)),
        },
        input_resolution: InputResolution {
            stored_data_used: with.stored_data_used,
            ignored_inputs: with.ignored_inputs,
            derived_inputs,
            conflicting_inputs: with.conflicting_inputs,
        },
        comparables,
        context: with.context,
    })
}

/// Renders the first sales that speak for the estimate, in their order. It leaves out those that
/// the contract has no word for, such as the sale of a whole building. The estimate stays.
fn comparables<'a>(
    shown: impl Iterator<Item = (&'a outcome::Comparable, Sale)>,
    subject: &Subject,
    limit: u8,
) -> Vec<Comparable> {
    let rendered = shown.filter_map(|(comparable, sale)| {
        Some(Comparable {
            rank: 0,
            sale_date: sale.day.date()?,
            price_gbp: sale.price_gbp,
            adjusted_price_gbp: round_gbp(comparable.adjusted_price)?,
            postcode: Postcode::parse(sale.postcode.as_str())?,
            property_type: wire_property_type(sale.property_type)?,
            title_tenure: sale.tenure.map(wire_tenure),
            floor_area_m2: sale.floor_area_m2.map(hundredths),
            distance_m: distance_m(subject.place, sale.place),
            similarity: thousandths(comparable.similarity),
        })
    });
    let ranked = (1..=limit).zip(rendered);
    ranked
        .map(|(rank, comparable)| Comparable { rank, ..comparable })
        .collect()
}

/// Returns the distance of two places in whole metres. A release may search around any place, so
/// that the distance of its search may be another one.
fn distance_m(one: GridPoint, other: GridPoint) -> u32 {
    let east = f64::from(one.easting) - f64::from(other.easting);
    let north = f64::from(one.northing) - f64::from(other.northing);
    // The grid is smaller than the range of the type.
    east.hypot(north).round() as u32
}

fn property(with: &Rendering<'_>) -> Option<ResultProperty> {
    Some(ResultProperty {
        uprn: with.subject.uprn.and_then(Uprn::new),
        postcode: Postcode::parse(with.subject.postcode.as_str())?,
        identity_source: with.identity_source,
    })
}

/// Certificates state areas to the hundredth of a square metre.
fn hundredths(area: f64) -> f64 {
    (area * 100.0).round() / 100.0
}

/// Rounds to thousandths. The score is not precise enough for more digits.
pub(super) fn thousandths(share: f64) -> f64 {
    (share * 1000.0).round() / 1000.0
}

fn band(release: &OpenRelease, score: f64) -> ConfidenceBand {
    match release.manifest.band(score) {
        Some(Band::High) => ConfidenceBand::High,
        Some(Band::Medium) => ConfidenceBand::Medium,
        Some(Band::Low) | None => ConfidenceBand::Low,
    }
}

/// Reports whether a release may supply this input if it is blank. It may describe the home, but
/// never state a fact that only the customer knows.
pub fn may_be_derived(input: Input, flat: bool) -> bool {
    match input {
        Input::FloorArea
        | Input::Bedrooms
        | Input::LivingRooms
        | Input::HabitableRooms
        | Input::WallType
        | Input::RoofType
        | Input::FloorType
        | Input::Glazing
        | Input::ConstructionAgeBand
        | Input::EnergyRating
        | Input::EfficiencyScore => true,
        Input::Storeys => !flat,
        Input::FloorLevel => flat,
        Input::Uprn
        | Input::PropertyType
        | Input::Subtype
        | Input::TitleTenure
        | Input::BuildStatus
        | Input::Occupancy
        | Input::LeaseYearsRemaining
        | Input::LeaseStart
        | Input::LeaseTerm
        | Input::LeaseGroundRent
        | Input::LeaseServiceCharge => false,
    }
}

/// Returns a note on an input that a release supplied. Returns `None` where a request or a record
/// gave the input, or where no release may supply it.
fn derived_note(derived: &DerivedInput, subject: &Subject) -> Option<Note> {
    let given = &subject.provenance;
    let field = input(derived.input).filter(|field| {
        may_be_derived(*field, subject.property_type == PropertyType::Flat)
            && ![&given.customer, &given.stored, &given.applied]
                .into_iter()
                .any(|list| list.contains(&derived.input))
    })?;
    let reason = match derived.basis {
        Derivation::LocalTypical => Reason::LocalTypical,
        Derivation::TypeTypical => Reason::TypeTypical,
        Derivation::OtherAttributes => Reason::FromOtherInputs,
        Derivation::OwnSales => Reason::FromOwnSales,
        Derivation::Other => Reason::Blank,
    };
    Some(Note {
        field,
        source: Some(Source::Release),
        reason: Some(reason),
    })
}

/// Converts an attribute to the contract's input.
fn input(attribute: Attribute) -> Option<Input> {
    Some(match attribute {
        Attribute::PropertyType => Input::PropertyType,
        Attribute::PropertySubtype => Input::Subtype,
        Attribute::Tenure => Input::TitleTenure,
        Attribute::BuildStatus => Input::BuildStatus,
        Attribute::Occupancy => Input::Occupancy,
        Attribute::FloorArea => Input::FloorArea,
        Attribute::Bedrooms => Input::Bedrooms,
        Attribute::LivingRooms => Input::LivingRooms,
        Attribute::Storeys => Input::Storeys,
        Attribute::FloorLevel => Input::FloorLevel,
        Attribute::LeaseYearsRemaining => Input::LeaseYearsRemaining,
        Attribute::LeaseStart => Input::LeaseStart,
        Attribute::LeaseTerm => Input::LeaseTerm,
        Attribute::LeaseGroundRent => Input::LeaseGroundRent,
        Attribute::LeaseServiceCharge => Input::LeaseServiceCharge,
        Attribute::WallType => Input::WallType,
        Attribute::RoofType => Input::RoofType,
        Attribute::FloorType => Input::FloorType,
        Attribute::Glazing => Input::Glazing,
        Attribute::AgeBand => Input::ConstructionAgeBand,
        Attribute::EnergyRating => Input::EnergyRating,
        Attribute::EfficiencyScore => Input::EfficiencyScore,
        Attribute::HabitableRooms => Input::HabitableRooms,
        Attribute::Other => return None,
    })
}

/// Returns the attribute that the customer gave, where the release names one that follows from it.
/// The remaining years of a lease follow from its term.
fn customer_attribute(about: Attribute, subject: &Subject) -> Attribute {
    let lease = subject.lease.as_ref();
    match about {
        Attribute::LeaseYearsRemaining if lease.is_some_and(|lease| lease.start.is_some()) => {
            Attribute::LeaseTerm
        }
        about => about,
    }
}

/// Converts a referral to the contract's terms.
pub(super) fn contract_referral(reason: ReferralReason, about: Option<Attribute>) -> Referral {
    let (code, message) = match reason {
        ReferralReason::OutsidePropertyTypes => (
            ReferralCode::OutsidePropertyTypes,
            "This release does not value properties of this type.",
        ),
        ReferralReason::UnusualSize => (
            ReferralCode::UnusualSize,
            "The property is larger or smaller than those that this release values.",
        ),
        ReferralReason::UnusualValue => (
            ReferralCode::UnusualValue,
            "The property's likely value is outside what this release values.",
        ),
        ReferralReason::InsufficientEvidence => (
            ReferralCode::InsufficientEvidence,
            "Too few comparable homes were sold near by and recently enough.",
        ),
        ReferralReason::ShortLease => (
            ReferralCode::ShortLease,
            "The lease is too short for an automated valuation.",
        ),
        ReferralReason::MissingInput => (
            ReferralCode::MissingInput,
            "An input that the valuation needs is blank and cannot be derived.",
        ),
        ReferralReason::ConflictingInputs => (
            ReferralCode::ConflictingInputs,
            "Inputs of the request are at odds with each other.",
        ),
        ReferralReason::Other => (
            ReferralCode::Other,
            "The release refers this property to a person.",
        ),
    };
    let message = match about.and_then(input) {
        Some(input) => format!("{message} See {}.", input),
        None => message.to_owned(),
    };
    Referral { code, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_engine::evidence::Nearness;
    use domesday_engine::subject::{
        BuildStatus, Energy, Fabric, Lease, Occupancy, Precision, Provenance, Size,
    };
    use domesday_registers::Day;
    use domesday_registers::codes::{Subtype, Tenure};
    use domesday_registers::records::Country;

    /// Returns a leasehold flat: its customer states the floor area and the years of the lease, and
    /// its glazing is stored.
    fn flat() -> Subject {
        Subject {
            valuation_day: Day(0),
            uprn: None,
            place: GridPoint {
                easting: 0,
                northing: 0,
            },
            precision: Precision::Site,
            postcode: domesday_registers::Postcode::parse("QA1 1AF").unwrap(),
            country: Country::England,
            authority: String::new(),
            property_type: PropertyType::Flat,
            subtype: Subtype::FlatPurposeBuilt,
            tenure: Tenure::Leasehold,
            build_status: BuildStatus::Existing,
            occupancy: Occupancy::Vacant,
            lease: Some(Lease {
                years_remaining: 90.0,
                start: None,
                term_years: None,
                ground_rent_gbp: None,
                service_charge_gbp: None,
            }),
            size: Size::default(),
            fabric: Fabric::default(),
            energy: Energy::default(),
            provenance: Provenance {
                customer: vec![Attribute::FloorArea],
                stored: vec![Attribute::Glazing],
                applied: vec![Attribute::BuildStatus],
            },
            stored_data: false,
            evidence_through: None,
        }
    }

    #[test]
    fn a_release_may_supply_blanks_that_describe_the_home() {
        let flat = flat();
        let house = Subject {
            property_type: PropertyType::Terraced,
            ..flat.clone()
        };
        for (attribute, of_flat, of_house) in [
            (
                Attribute::Bedrooms,
                Some(Input::Bedrooms),
                Some(Input::Bedrooms),
            ),
            (Attribute::FloorLevel, Some(Input::FloorLevel), None),
            (Attribute::Storeys, None, Some(Input::Storeys)),
            // Stated, stored and set by the route.
            (Attribute::FloorArea, None, None),
            (Attribute::Glazing, None, None),
            (Attribute::BuildStatus, None, None),
            // For the customer alone.
            (Attribute::Tenure, None, None),
            (Attribute::Other, None, None),
        ] {
            let derived = DerivedInput {
                input: attribute,
                basis: Derivation::LocalTypical,
                value: None,
            };
            let field = |subject| derived_note(&derived, subject).map(|note| note.field);
            assert_eq!(field(&flat), of_flat, "{attribute:?}");
            assert_eq!(field(&house), of_house, "{attribute:?}");
        }
    }

    /// Returns a sale 300 m east of the flat. The release searched around another place.
    fn sale(id: u64, property_type: PropertyType, postcode: &str) -> Sale {
        Sale {
            id,
            uprn: None,
            day: Day(0),
            price_gbp: 250_000,
            place: GridPoint {
                easting: 300,
                northing: 0,
            },
            precision: Precision::Property,
            distance_m: 7.0,
            nearness: Nearness::Elsewhere,
            postcode: domesday_registers::Postcode::parse(postcode).unwrap(),
            property_type,
            subtype: None,
            tenure: None,
            new_build: false,
            standard: true,
            floor_area_m2: None,
            habitable_rooms: None,
            age_band: None,
            rating: None,
            attributes_day: None,
        }
    }

    #[test]
    fn sales_that_the_contract_has_no_word_for_are_left_out_and_the_others_ranked() {
        let comparable = |sale| outcome::Comparable {
            sale,
            adjusted_price: 250_000.0,
            similarity: 0.5,
        };
        let given = [comparable(1), comparable(2), comparable(3), comparable(4)];
        let sales = [
            sale(1, PropertyType::Other, "QA1 1AF"),
            sale(2, PropertyType::Flat, "QA1 1AF"),
            sale(3, PropertyType::Flat, "GIR 0AA"),
            sale(4, PropertyType::Terraced, "QA1 1AF"),
        ];
        for (limit, expected) in [(10, 2), (2, 2), (1, 1), (0, 0)] {
            let shown = given.iter().zip(sales.clone());
            let found = comparables(shown, &flat(), limit);
            let ranks: Vec<_> = found.iter().map(|found| found.rank).collect();
            assert_eq!(ranks, (1..=expected).collect::<Vec<u8>>(), "{limit}");
            assert!(
                found.iter().all(|found| found.distance_m == 300),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_referral_for_the_years_of_a_lease_names_the_field_of_the_request() {
        let years = Attribute::LeaseYearsRemaining;
        let mut subject = flat();
        assert_eq!(customer_attribute(years, &subject), years);
        let lease = subject.lease.as_mut().unwrap();
        lease.start = Some(Day(0));
        assert_eq!(customer_attribute(years, &subject), Attribute::LeaseTerm);
        let other = Attribute::Storeys;
        assert_eq!(customer_attribute(other, &subject), other);
        subject.lease = None;
        assert_eq!(customer_attribute(years, &subject), years);
    }
}
