use chrono::NaiveDate;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use uuid::Uuid;

use super::*;
use crate::error::Code;
use crate::v3::identity::{Postcode, Uprn};
use crate::v3::input::{InputResolution, Note, Reason, Source};
use crate::v3::request::{PropertyType, Tenure};
use crate::v3::result::{
    Comparable, Confidence, ConfidenceBand, Context, IdentitySource, LocalAuthority, POUNDS_MAX,
    Referral, ReferralCode, Referred, ResultProperty, ValueRange, Valued,
};

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
    ) -> Context {
        Context {
            local_authority: Some(LocalAuthority { code: "E06000000".to_owned(), name }),
            postcode_sector: sector.to_owned(),
            sales_count_12m, median_price_gbp, price_per_sqm_gbp, price_change_12m_pct,
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
    fn no_result_is_larger_than_foreseen(
        reference in proptest::option::of(".{1,200}"),
        blank in subsequence(Input::ALL, 0..=Input::ALL.len()),
        fillers in proptest::collection::vec(0_u8..4, Input::ALL.len()),
        ignored in 0_usize..=2,
        comparables in proptest::option::of(proptest::collection::vec(comparable(), 0..=10)),
        context in proptest::option::of(context()),
        date in day(), estimate in pounds(),
        range in proptest::option::of((pounds(), pounds())), nominal_coverage in share_of_any_length(),
        score in share(), postcode in postcode(),
    ) {
        let reference = reference.as_deref();
        let extent = Extent {
            release_id: "made-up-2026-10",
            request_reference: reference,
            sections: ResponseSections {
                comparables: comparables.as_ref().map(|list| list.len() as u8),
                context: context.is_some(),
            },
            nominal_coverage,
            authority_name: context.as_ref().map_or(0, |context| {
                json_len(&context.local_authority.as_ref().unwrap().name) - 2
            }),
            ignored,
        };
        let foreseen = extent.largest(blank.iter().copied());
        let input_resolution = resolution(blank, fillers, ignored);
        let valued = Valued {
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
        prop_assert!(json_bytes(reference, Outcome::Valued(Box::new(valued))) <= foreseen);
        let referred = Referred {
            property: property(postcode),
            date,
            referral: Referral {
                code: ReferralCode::OutsidePropertyTypes,
                message: "m".repeat(REFERRAL_MESSAGE_MAX),
            },
            input_resolution,
        };
        prop_assert!(json_bytes(reference, Outcome::Referred(Box::new(referred))) <= foreseen);
        let late = ValidationError::new(Code::ProcessingDeadlineExceeded, "m".repeat(LATE_MESSAGE_MAX))
            .at("/property/building_number_or_name");
        prop_assert!(json_bytes(reference, Outcome::Failed(vec![late.clone()])) <= foreseen);
        prop_assert!(json_bytes(reference, Outcome::Rejected(vec![late])) <= foreseen);
    }

    #[test]
    fn a_rejected_rows_size_is_foreseen_to_the_byte(
        reference in proptest::option::of(".{1,200}"),
        messages in proptest::collection::vec(".{0,300}", 1..20),
    ) {
        let errors: Vec<ValidationError> = messages
            .into_iter()
            .map(|message| ValidationError::new(Code::InvalidValue, message).at("/size/bedrooms"))
            .collect();
        let reference = reference.as_deref();
        let foreseen = rejected("made-up-2026-10", reference, &errors);
        prop_assert_eq!(json_bytes(reference, Outcome::Rejected(errors)), foreseen);
    }
}

#[test]
fn a_full_batch_of_described_houses_fits_with_all_its_evidence() {
    let extent = Extent {
        release_id: "made-up-2026-10",
        request_reference: Some("customer-000001"),
        sections: ResponseSections {
            comparables: Some(10),
            context: true,
        },
        nominal_coverage: 0.8,
        authority_name: 30,
        ignored: 0,
    };
    let blank = [
        Input::HabitableRooms,
        Input::WallType,
        Input::RoofType,
        Input::FloorType,
        Input::Glazing,
        Input::ConstructionAgeBand,
        Input::EnergyRating,
        Input::EfficiencyScore,
    ];
    let row = extent.largest(blank.into_iter());
    assert!(2_500 * (row + 1) < RESPONSE_MAX, "{row} bytes a row");
}

#[test]
fn the_size_foreseen_is_that_of_the_longest_result() {
    let date = NaiveDate::from_ymd_opt(2026, 3, 31).unwrap();
    let postcode = Postcode::parse("QA99 9ZZ").unwrap();
    let blank = [Input::WallType, Input::RoofType];
    let input_resolution = resolution(blank.to_vec(), vec![3, 3], 1);
    let comparable = |rank| Comparable {
        rank,
        sale_date: date,
        price_gbp: 999_999_999_999,
        adjusted_price_gbp: POUNDS_MAX,
        postcode: postcode.clone(),
        property_type: PropertyType::Detached,
        title_tenure: Some(Tenure::Leasehold),
        floor_area_m2: Some(99_999.25),
        distance_m: 50_000,
        similarity: 0.875,
    };
    let name = "Exampleton";
    let valued = Valued {
        property: property(postcode.clone()),
        date,
        estimated_value_gbp: POUNDS_MAX,
        range: Some(ValueRange {
            lower_value_gbp: POUNDS_MAX,
            upper_value_gbp: POUNDS_MAX,
            nominal_coverage: 0.8,
        }),
        confidence: Confidence {
            score: 0.875,
            band: ConfidenceBand::Medium,
        },
        input_resolution: input_resolution.clone(),
        comparables: Some((1..=10).map(comparable).collect()),
        context: Some(Context {
            local_authority: Some(LocalAuthority {
                code: "E06000000".to_owned(),
                name: name.to_owned(),
            }),
            postcode_sector: "QA99 9".to_owned(),
            sales_count_12m: u32::MAX,
            median_price_gbp: Some(POUNDS_MAX),
            price_per_sqm_gbp: Some(549_755_813_887.25),
            price_change_12m_pct: Some(54_975_581_388_700.25),
        }),
    };
    let referred = Referred {
        property: property(postcode),
        date,
        referral: Referral {
            code: ReferralCode::OutsidePropertyTypes,
            message: "m".repeat(REFERRAL_MESSAGE_MAX),
        },
        input_resolution,
    };
    // To spare are the commas after the last entries of some lists and objects, and what the note
    // of another ignored input would take.
    for (comparables, context, outcome, spare) in [
        (Some(10), true, Outcome::Valued(Box::new(valued)), 10),
        (None, false, Outcome::Referred(Box::new(referred)), 9),
    ] {
        let extent = Extent {
            release_id: "made-up-2026-10",
            request_reference: Some("ref-1"),
            sections: ResponseSections {
                comparables,
                context,
            },
            nominal_coverage: 0.8,
            authority_name: name.len(),
            ignored: 1,
        };
        let status = outcome.status();
        let actual = json_bytes(Some("ref-1"), outcome);
        let foreseen = extent.largest(blank.into_iter());
        assert_eq!(foreseen, actual + spare, "{status}");
    }
}
