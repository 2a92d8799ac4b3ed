//! The cost of reading a request and of writing a result.
//!
//! `cargo bench -p domesday-contract`

use std::hint::black_box;

use chrono::NaiveDate;
use criterion::{Criterion, criterion_group, criterion_main};
use domesday_contract::v3::identity::{Postcode, Uprn};
use domesday_contract::v3::input::InputResolution;
use domesday_contract::v3::request::{Batch, Kind, Request};
use domesday_contract::v3::result::{
    Confidence, ConfidenceBand, IdentitySource, Outcome, ResultProperty, ValuationResult,
    ValueRange, ValuedResult,
};
use uuid::Uuid;

/// 405 bytes, the size that the project's other measurements use.
const BODY: &str = r#"{"request_reference":"portfolio-2026-000001","options":{"use_stored_data":false},"property":{"valuation_date":"2026-03-31","uprn":"100000000001","postcode":"ZZ1 1AA","building_number_or_name":"12A","street":"Larkspur Lane","type":"S","subtype":"house_semi_detached","title_tenure":"freehold"},"occupancy":{"status":"owner_occupied"},"size":{"floor_area_m2":84.5,"bedrooms":3,"living_rooms":1,"storeys":2}}"#;

fn single(criterion: &mut Criterion) {
    assert!(Request::read(BODY.as_bytes()).is_ok());
    criterion.bench_function("read one request", |bench| {
        bench.iter(|| Request::read(black_box(BODY.as_bytes())));
    });
}

fn batch(criterion: &mut Criterion) {
    const ROWS: usize = 2_500;
    let body = format!("{{\"requests\":[{}]}}", vec![BODY; ROWS].join(","));
    let read = |body: &[u8]| {
        Batch::read(body, Kind::Existing, ROWS).map_or(0, |batch| {
            let rows = batch.rows.iter();
            rows.filter(|row| Request::read_row(row, batch.settings).is_ok())
                .count()
        })
    };
    assert_eq!(read(body.as_bytes()), ROWS);
    criterion.bench_function("read 2,500 rows", |bench| {
        bench.iter(|| read(black_box(body.as_bytes())));
    });
}

fn render(criterion: &mut Criterion) {
    let (Some(date), Some(postcode)) = (
        NaiveDate::from_ymd_opt(2026, 3, 31),
        Postcode::parse("ZZ1 1AA"),
    ) else {
        return;
    };
    let result = ValuationResult {
        release_id: "synthetic-1",
        execution_id: Uuid::from_u128(1),
        valuation_id: Uuid::from_u128(2),
        request_reference: Some("portfolio-2026-000001"),
        outcome: Outcome::Valued(Box::new(ValuedResult {
            property: ResultProperty {
                uprn: Uprn::new(100_000_000_001),
                postcode,
                identity_source: IdentitySource::VerifiedIdentityStore,
            },
            date,
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
            input_resolution: InputResolution::default(),
            comparables: None,
            context: None,
        })),
    };
    criterion.bench_function("write one result", |bench| {
        bench.iter(|| serde_json::to_vec(black_box(&result)));
    });
}

criterion_group!(benches, single, batch, render);
criterion_main!(benches);
