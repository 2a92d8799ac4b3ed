//! A release that misbehaves in the way that the subject's bedrooms select. It values every other
//! row at a round sum, so that one release shows a bad row beside a good one.

use domesday_sdk::{
    Comparable, Evidence, Model, Outcome, PropertyTypes, SalesOrder, SalesQuery, Subject,
    Valuation, ValueRange, release,
};
use std::hint::black_box;

struct Misbehaving;

release!(Misbehaving);

/// Estimate of a good row, in pounds.
const ESTIMATE: f64 = 200_000.0;

impl Model for Misbehaving {
    fn value(subject: &Subject, evidence: &dyn Evidence) -> Outcome {
        match subject.size.bedrooms {
            Some(1) => spin(),
            Some(2) => trap(),
            Some(3) => hoard(),
            Some(4) => Outcome::Valued(valuation(dig(1) as f64)),
            Some(5) => Outcome::Valued(valuation(f64::NAN)),
            Some(6) => Outcome::Valued(Valuation {
                range: Some(ValueRange {
                    lower: ESTIMATE + 1.0,
                    upper: ESTIMATE + 2.0,
                }),
                ..valuation(ESTIMATE)
            }),
            Some(7) => Outcome::Valued(Valuation {
                comparables: invented(1),
                ..valuation(ESTIMATE)
            }),
            Some(8) => Outcome::Valued(Valuation {
                comparables: invented(2_000_000),
                ..valuation(ESTIMATE)
            }),
            Some(9) => flood(subject, evidence),
            Some(10) => Outcome::Other,
            Some(11) => remember(),
            Some(13) => compare(subject, evidence),
            _ => Outcome::Valued(valuation(ESTIMATE)),
        }
    }
}

fn valuation(estimate: f64) -> Valuation {
    Valuation {
        estimate,
        range: None,
        confidence: 0.5,
        comparables: Vec::new(),
        derived: Vec::new(),
        dispersion: None,
        own_sales_share: None,
    }
}

fn spin() -> Outcome {
    let mut turns = 0_u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}

fn trap() -> Outcome {
    panic!("a model's own panic");
}

fn hoard() -> Outcome {
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    loop {
        blocks.push(black_box(vec![1; 1 << 20]));
    }
}

/// Recurses without end on the native stack, not the one in linear memory.
#[inline(never)]
fn dig(depth: u64) -> u64 {
    if black_box(depth) == 0 {
        0
    } else {
        dig(depth + 1).wrapping_add(depth)
    }
}

fn invented(count: u64) -> Vec<Comparable> {
    (0..count)
        .map(|sale| Comparable {
            sale,
            adjusted_price: ESTIMATE,
            similarity: 1.0,
        })
        .collect()
}

/// The nearest sales of every type, up to a limit.
fn nearest(subject: &Subject, limit: u32) -> SalesQuery {
    SalesQuery {
        center: subject.place,
        radius: 20_000,
        since: 0,
        types: PropertyTypes::DETACHED
            | PropertyTypes::SEMI_DETACHED
            | PropertyTypes::TERRACED
            | PropertyTypes::FLAT
            | PropertyTypes::OTHER,
        standard_only: false,
        floor_area_only: false,
        order: SalesOrder::Nearest,
        limit,
    }
}

/// Values with three comparables, as where no other sale is eligible.
fn compare(subject: &Subject, evidence: &dyn Evidence) -> Outcome {
    let sales = evidence.nearby_sales(SalesQuery {
        types: PropertyTypes::SEMI_DETACHED,
        ..nearest(subject, 3)
    });
    let sales = sales.unwrap_or_default();
    let mut ids: Vec<u64> = sales.iter().map(|sale| sale.id()).collect();
    // The order of sales that are equally similar.
    ids.sort_unstable();
    let comparable = |sale| Comparable {
        sale,
        adjusted_price: ESTIMATE,
        similarity: 0.5,
    };
    Outcome::Valued(Valuation {
        comparables: ids.into_iter().map(comparable).collect(),
        ..valuation(ESTIMATE)
    })
}

/// Queries until refused, then tells the number of answers.
fn flood(subject: &Subject, evidence: &dyn Evidence) -> Outcome {
    let mut answered = 0.0;
    while evidence.nearby_sales(nearest(subject, 500)).is_ok() {
        answered += 1.0;
    }
    Outcome::Valued(valuation(1_000.0 + answered))
}

/// Counts the rows that this memory has seen. It is always one, because every row has a fresh
/// memory.
fn remember() -> Outcome {
    use std::sync::atomic::{AtomicU32, Ordering};
    static SEEN: AtomicU32 = AtomicU32::new(0);
    Outcome::Valued(valuation(f64::from(
        SEEN.fetch_add(1, Ordering::Relaxed) + 1,
    )))
}
