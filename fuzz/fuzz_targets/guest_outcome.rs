//! Any answer of a guest. A component copies the input into its memory as its answer: the outcome
//! is checked, or the row fails for good. The host's memory and the next row are as before.
//!
//! The input reaches the guest as the ids and property numbers of the subject's own sales.
#![no_main]

use domesday_engine::component::encode;
use domesday_engine::config::Allocation;
use domesday_engine::evidence::{
    EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource, MAX_OWN_SALES, Nearness, Sale,
};
use domesday_engine::fixture::read;
use domesday_engine::outcome::{Outcome, Row};
use domesday_engine::subject::Subject;
use domesday_engine::{Limits, Release, Runtime};
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};
use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// Rows of the demo, for a subject.
const ROWS: &str =
    include_str!("../../releases/valuation/synthetic-hedonic-2027-05/fixtures.jsonl");
const WIT: &str = include_str!("../../wit/valuation.wit");
/// A sale takes 136 bytes in the guest's memory, and its property number stands at 16.
const GUEST: &str = r#"(module
  (import "domesday:valuation/evidence@1.0.0" "own-sales" (func $own-sales (param i32)))
  (memory (export "memory") 2)
  (global $top (mut i32) (i32.const 16384))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
    (global.set $top (i32.add (local.get $at) (local.get 3)))
    (local.get $at))
  (func (export "cabi_post_value") (param i32))
  (func (export "value") (param i32) (result i32)
    (local $from i32) (local $to i32) (local $left i32)
    (call $own-sales (i32.const 512))
    (local.set $from (i32.load (i32.const 516)))
    (local.set $left (i32.load (i32.const 520)))
    (local.set $to (i32.const 1024))
    (block $end (loop $next
      (br_if $end (i32.eqz (local.get $left)))
      (i64.store (local.get $to) (i64.load (local.get $from)))
      (i64.store offset=8 (local.get $to) (i64.load offset=16 (local.get $from)))
      (local.set $from (i32.add (local.get $from) (i32.const 136)))
      (local.set $to (i32.add (local.get $to) (i32.const 16)))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br $next)))
    (i32.const 1024)))"#;

/// A release and a subject, which all inputs share.
struct Stage {
    release: Release,
    subject: Arc<Subject>,
}

static STAGE: LazyLock<Stage> = LazyLock::new(|| {
    let mut module = wat::parse_str(GUEST).unwrap();
    let mut resolve = Resolve::default();
    let package = resolve.push_str("valuation.wit", WIT).unwrap();
    let world = resolve.select_world(&[package], Some("release")).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    let runtime = Runtime::new(Allocation::OnDemand).unwrap();
    let limits = Limits::new(20_000_000, 2 << 20);
    let first = ROWS.lines().next().unwrap();
    Stage {
        release: runtime.admit(&encode(&module).unwrap(), limits).unwrap(),
        subject: Arc::new(read(first.as_bytes()).unwrap().remove(0).subject),
    }
});

/// Sales that carry the input, sixteen bytes each.
struct Carrier(Vec<Sale>);

impl EvidenceSource for Carrier {
    fn ask(&self, _: &Subject, _: &EvidenceQuery) -> Result<EvidenceResponse, EvidenceError> {
        Ok(EvidenceResponse::Sales(self.0.clone()))
    }
}

fn sale(subject: &Subject, words: &[u8]) -> Sale {
    let word = |at: usize| {
        let mut bytes = [0; 8];
        let given = words.get(at..).unwrap_or_default();
        let given = &given[..given.len().min(8)];
        bytes[..given.len()].copy_from_slice(given);
        u64::from_le_bytes(bytes)
    };
    Sale {
        id: word(0),
        uprn: Some(word(8)),
        day: subject.valuation_day,
        price_gbp: 100_000,
        place: subject.place,
        precision: subject.precision,
        distance_m: 0.0,
        nearness: Nearness::SameProperty,
        postcode: subject.postcode.clone(),
        property_type: subject.property_type,
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

fn value(answer: &[u8]) -> Row {
    let Stage { release, subject } = &*STAGE;
    let sales = answer.chunks(16).take(MAX_OWN_SALES);
    let sales = sales.map(|words| sale(subject, words)).collect();
    release.value(subject, Arc::new(Carrier(sales)))
}

fuzz_target!(|answer: &[u8]| {
    let row = value(answer);
    match &row.outcome {
        Ok(Outcome::Valued(valued)) => {
            assert!(valued.estimate.is_finite() && valued.estimate > 0.0);
            assert!((0.0..=1.0).contains(&valued.confidence));
            assert!(valued.comparables.len() <= 10);
            let shown = |id| row.shown_sales.find(&STAGE.subject, id).is_some();
            assert!(valued.comparables.iter().all(|it| shown(it.sale)));
            if let Some(range) = valued.range {
                assert!(range.lower <= valued.estimate && valued.estimate <= range.upper);
            }
            let numbers = valued.derived.iter().filter_map(|derived| derived.value);
            assert!(numbers.chain(valued.dispersion).all(f64::is_finite));
        }
        Ok(_) => {}
        // The guest's own doing.
        Err(failure) => assert!(!failure.retryable(), "{failure}"),
    }
    // The same answer gives the same row.
    assert_eq!(value(answer).outcome, row.outcome);
});
