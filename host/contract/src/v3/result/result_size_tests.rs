use chrono::NaiveDate;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use uuid::Uuid;

use super::*;
use crate::error::Code;
use crate::v3::identity::{Postcode, Uprn};

use crate::v3::input::{Input, InputResolution, Note, Reason, Source};
use crate::v3::request::{PropertyType, Tenure};
use crate::v3::result::{
    Comparable, Confidence, ConfidenceBand, Context, IdentitySource, LocalAuthority, OwnSale,
    POUNDS_MAX, Referral, ReferralCode, ReferredResult, ResultProperty, ValueRange, ValuedResult,
};
use crate::vocabulary::Vocabulary;
fn pounds() -> impl Strategy<Value = u64> {
    prop_oneof![Just(POUNDS_MAX), 0..=POUNDS_MAX]
}

/// Shares as they are shown: three decimals.
fn share() -> impl Strategy<Value = f64> {
    (0_u32..=1_000).prop_map(|thousandths| f64::from(thousandths) / 1_000.0)
}

fn share_of_any_length() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.8), Just(f64::MIN_POSITIVE), 0.0..1.0]
}

/// Returns a strategy of figures rounded to the hundredth, as results show them.
fn hundredths(largest: f64) -> impl Strategy<Value = f64> {
    prop_oneof![Just(largest), -100.0..largest, -100.0..1e5]
        .prop_map(|figure| (figure * 100.0).round() / 100.0)
}

fn area() -> impl Strategy<Value = f64> {
    (0_u32..10_000_000).prop_map(|hundredths| f64::from(hundredths) / 100.0)
}

fn day() -> impl Strategy<Value = NaiveDate> {
    (1_i32..=9_999, 1_u32..=366).prop_filter_map("no such day", |(year, day)| {
        NaiveDate::from_yo_opt(year, day)
    })
}

fn postcode() -> impl Strategy<Value = Postcode> {
    select(vec!["M1 1AE", "QA99 9ZZ", "EC1A 1BB"]).prop_map(|text| Postcode::parse(text).unwrap())
}

prop_compose! {
    fn comparable()(
        sale_date in day(), price_gbp in pounds(), adjusted_price_gbp in pounds(),
        postcode in postcode(),
        title_tenure in select(vec![None, Some(Tenure::Freehold), Some(Tenure::Leasehold)]),
        floor_area_m2 in proptest::option::of(area()), distance_m in 0_u32..=50_000,
        similarity in share(),
    ) -> Comparable {
        Comparable {
            rank: 0, sale_date, price_gbp, adjusted_price_gbp, postcode,
            property_type: PropertyType::Detached, title_tenure, floor_area_m2, distance_m,
            similarity,
        }
    }
}

prop_compose! {
    fn context()(
        name in ".{0,60}", sector in select(vec!["QA99 9", "M1 1"]), sales_count_12m in any::<u32>(),
        median_price_gbp in proptest::option::of(pounds()),
        price_per_sqm_gbp in proptest::option::of(hundredths(549_755_813_887.0)),
        price_change_12m_pct in proptest::option::of(hundredths(54_975_581_388_700.0)),
        own_sale in proptest::option::of((day(), pounds(), share())),
    ) -> Context {
        Context {
            local_authority: Some(LocalAuthority { code: "E06000000".to_owned(), name }),
            postcode_sector: sector.to_owned(),
            sales_count_12m, median_price_gbp, price_per_sqm_gbp, price_change_12m_pct,
            own_sale: own_sale.map(|(sale_date, price_gbp, weight)| OwnSale { sale_date, price_gbp, weight }),
        }
    }
}

/// Builds a resolution where each blank input stays blank or is filled by one of three sources.
fn resolution(blank: Vec<Input>, fillers: Vec<u8>, ignored: usize) -> InputResolution {
    let mut resolution = InputResolution::default();
    for (field, filler) in blank.into_iter().zip(fillers) {
        match filler {
            0 => {}
            1 => resolution.stored_data_used.push(Note {
                field,
                source: Some(Source::EnergyCertificate),
                reason: None,
            }),
            2 => resolution.derived_inputs.push(Note {
                field,
                source: Some(Source::Route),
                reason: None,
            }),
            _ => resolution.derived_inputs.push(Note {
                field,
                source: Some(Source::Release),
                reason: Some(Reason::FromOtherInputs),
            }),
        }
    }
    let all = [
        (Input::Storeys, Reason::InapplicableToFlats),
        (Input::FloorLevel, Reason::AppliesToFlatsOnly),
    ];
    for (field, reason) in all.into_iter().take(ignored) {
        resolution.ignored_inputs.push(Note {
            field,
            source: None,
            reason: Some(reason),
        });
    }
    resolution
}

fn property(postcode: Postcode) -> ResultProperty {
    ResultProperty {
        uprn: Uprn::new(999_999_999_999),
        postcode,
        identity_source: IdentitySource::VerifiedIdentityStore,
    }
}

fn json_bytes(reference: Option<&str>, outcome: Outcome) -> usize {
    let result = ValuationResult {
        release_id: "made-up-2026-10",
        execution_id: Uuid::max(),
        valuation_id: Uuid::max(),
        request_reference: reference,
        outcome,
    };
    serde_json::to_vec(&result).unwrap().len()
}

proptest! {
    #[test]
    fn no_result_is_smaller_than_one_without_errors(
        reference in proptest::option::of(".{1,200}"),
        blank in subsequence(Input::ALL, 0..=Input::ALL.len()),
        fillers in proptest::collection::vec(0_u8..4, Input::ALL.len()),
        ignored in 0_usize..=2,
        comparables in proptest::option::of(proptest::collection::vec(comparable(), 0..=10)),
        context in proptest::option::of(context()),
        date in day(), estimate in pounds(),
        range in proptest::option::of((pounds(), pounds())), nominal_coverage in share_of_any_length(),
        score in share(), postcode in postcode(), message in ".{0,200}",
    ) {
        let reference = reference.as_deref();
        let least = rejection_size("made-up-2026-10", reference, &[]);
        let input_resolution = resolution(blank, fillers, ignored);
        let valued = ValuedResult {
            property: property(postcode.clone()),
            date,
            estimated_value_gbp: estimate,
            range: range.map(|(lower, upper)| ValueRange {
                lower_value_gbp: lower,
                upper_value_gbp: upper,
                nominal_coverage,
            }),
            confidence: Confidence { score, band: ConfidenceBand::Medium },
            input_resolution: input_resolution.clone(),
            comparables: comparables.map(|mut list| {
                for (at, comparable) in list.iter_mut().enumerate() {
                    comparable.rank = at as u8 + 1;
                }
                list
            }),
            context,
        };
        prop_assert!(json_bytes(reference, Outcome::Valued(Box::new(valued))) > least);
        let referred = ReferredResult {
            property: property(postcode),
            date,
            referral: Referral {
                code: ReferralCode::OutsidePropertyTypes,
                message: message.clone(),
            },
            input_resolution,
        };
        prop_assert!(json_bytes(reference, Outcome::Referred(Box::new(referred))) > least);
        let late = ValidationError::new(Code::ProcessingDeadlineExceeded, message)
            .at("/property/building_number_or_name");
        prop_assert!(json_bytes(reference, Outcome::Failed(vec![late.clone()])) > least);
        prop_assert!(json_bytes(reference, Outcome::Rejected(vec![late])) > least);
    }

    #[test]
    fn a_rejected_rows_size_is_computed_to_the_byte(
        reference in proptest::option::of(".{1,200}"),
        messages in proptest::collection::vec(".{0,300}", 1..20),
    ) {
        let errors: Vec<ValidationError> = messages
            .into_iter()
            .map(|message| ValidationError::new(Code::InvalidValue, message).at("/size/bedrooms"))
            .collect();
        let reference = reference.as_deref();
        let computed = rejection_size("made-up-2026-10", reference, &errors);
        prop_assert_eq!(json_bytes(reference, Outcome::Rejected(errors)), computed);
    }

    /// Control characters, quotes and letters of several bytes among them.
    #[test]
    fn a_reference_adds_no_more_than_its_bound(
        reference in proptest::option::of(prop_oneof![
            prop::collection::vec(any::<char>(), 0..200).prop_map(String::from_iter),
            "[\\x00-\\x1f\"\\\\\x7f]{0,200}",
        ]),
    ) {
        let size = |reference| rejection_size("made-up-2026-10", reference, &[]);
        let bound = reference_size_bound(reference.as_deref());
        prop_assert!(size(reference.as_deref()) <= size(None) + bound);
    }
}

#[test]
fn a_reference_of_control_characters_takes_its_whole_bound() {
    let size = |reference| rejection_size("made-up-2026-10", reference, &[]);
    for reference in [None, Some("\u{1}"), Some("\u{1f}\u{0}")] {
        assert_eq!(
            size(reference),
            size(None) + reference_size_bound(reference)
        );
    }
}
