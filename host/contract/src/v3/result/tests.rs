use chrono::NaiveDate;

use super::*;
use crate::error::Code;
use crate::v3::input::{Input, Note, Reason, Source};
use crate::v3::request::{PropertyType, Tenure};

fn day(year: i32, month: u32, day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(year, month, day).unwrap()
}

fn result(outcome: Outcome) -> String {
    let result = ValuationResult {
        release_id: "synthetic-1",
        execution_id: Uuid::from_u128(1),
        valuation_id: Uuid::from_u128(2),
        request_reference: Some("ref-1"),
        outcome,
    };
    serde_json::to_string_pretty(&result).unwrap()
}

fn property() -> ResultProperty {
    ResultProperty {
        uprn: Uprn::new(42),
        postcode: Postcode::parse("zz11aa").unwrap(),
        identity_source: IdentitySource::VerifiedIdentityStore,
    }
}

fn valued_result() -> ValuedResult {
    ValuedResult {
        property: property(),
        date: day(2026, 3, 31),
        estimated_value_gbp: 312_000,
        range: Some(ValueRange {
            lower_value_gbp: 290_000,
            upper_value_gbp: 334_000,
            nominal_coverage: 0.9,
        }),
        confidence: Confidence {
            score: 0.82,
            band: ConfidenceBand::High,
        },
        input_resolution: InputResolution {
            stored_data_used: vec![Note {
                field: Input::FloorArea,
                source: Some(Source::EnergyCertificate),
                reason: None,
            }],
            ignored_inputs: vec![Note {
                field: Input::Storeys,
                source: None,
                reason: Some(Reason::InapplicableToFlats),
            }],
            derived_inputs: vec![],
            conflicting_inputs: vec![],
        },
        comparables: None,
        context: None,
    }
}

#[test]
fn a_valued_property_with_its_evidence() {
    let mut valued = valued_result();
    valued.comparables = Some(vec![Comparable {
        rank: 1,
        sale_date: day(2025, 11, 2),
        price_gbp: 305_000,
        adjusted_price_gbp: 309_500,
        postcode: Postcode::parse("ZZ1 1AB").unwrap(),
        property_type: PropertyType::SemiDetached,
        title_tenure: Some(Tenure::Freehold),
        floor_area_m2: None,
        distance_m: 120,
        similarity: 0.91,
    }]);
    valued.context = Some(Context {
        local_authority: Some(LocalAuthority {
            code: "E06000000".to_owned(),
            name: "Exampleton".to_owned(),
        }),
        postcode_sector: "ZZ1 1".to_owned(),
        sales_count_12m: 4,
        median_price_gbp: None,
        price_per_sqm_gbp: Some(3_512.4),
        price_change_12m_pct: Some(-1.2),
        own_sale: Some(OwnSale {
            sale_date: day(2019, 3, 8),
            price_gbp: 241_500,
            weight: 0.412,
        }),
    });
    insta::assert_snapshot!(result(Outcome::Valued(Box::new(valued))));
}

#[test]
fn a_range_that_does_not_exist_is_null_and_unasked_sections_are_absent() {
    let valued = ValuedResult {
        range: None,
        ..valued_result()
    };
    let text = result(Outcome::Valued(Box::new(valued)));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        json["valuation"].get("range"),
        Some(&serde_json::Value::Null)
    );
    assert_eq!(json.get("comparables"), None);
    assert_eq!(json.get("context"), None);
    assert_eq!(json.get("errors"), None);
}

#[test]
fn an_empty_list_of_comparables_is_a_list() {
    let valued = ValuedResult {
        comparables: Some(vec![]),
        ..valued_result()
    };
    let text = result(Outcome::Valued(Box::new(valued)));
    assert!(text.contains("\"comparables\": []"), "{text}");
}

#[test]
fn a_referred_property() {
    let referred = ReferredResult {
        property: property(),
        date: day(2026, 3, 31),
        referral: Referral {
            code: ReferralCode::ShortLease,
            message: "The lease has under 30 years left.".to_owned(),
        },
        input_resolution: InputResolution::default(),
    };
    insta::assert_snapshot!(result(Outcome::Referred(Box::new(referred))));
}

#[test]
fn a_rejected_row() {
    insta::assert_snapshot!(result(Outcome::Rejected(vec![
        ValidationError::new(
            Code::AddressAmbiguous,
            "Several properties answer to this address."
        )
        .at("/property"),
    ])));
}

#[test]
fn failures_that_pass_and_failures_that_stay() {
    insta::assert_snapshot!(result(Outcome::Failed(vec![
        ValidationError::new(Code::ReleaseFailed, "The release gave no answer."),
        ValidationError::new(Code::ProcessingDeadlineExceeded, "There was no time left."),
    ])));
}
