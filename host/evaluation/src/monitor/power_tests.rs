//! The power of the alarm, by the exact test itself: counts of errors instead of a simulation.

use super::*;
use crate::testing::row;

/// The fall of prices.
const FALL: f64 = 0.10;
/// The median absolute error before it.
const MDAPE: f64 = 0.12;
/// The sales of the segment that falls.
const SALES: usize = 100;
const ALARM: f64 = 0.05;
const EXPECTED: (f64, ExpectedFrom) = (0.0, ExpectedFrom::Nothing);

/// Returns a segment of so many sales, each in another postcode. `below` of them err as expected or
/// less.
fn segment(sales: usize, below: usize) -> Segment {
    let rows: Vec<Row> = (0..sales)
        .map(|at| Row {
            postcode: format!("ZZ1 {at}"),
            ..row(100.0, if at < below { 99.0 } else { 111.0 })
        })
        .collect();
    let rows: Vec<&Row> = rows.iter().collect();
    Segment::of(("authority", "zed"), None, &rows, EXPECTED, 0.8)
}

/// Returns whether a segment with so many errors below raises an alarm beside quiet ones.
fn is_alarmed(below: usize, quiet: &[Segment]) -> bool {
    let mut segments = vec![segment(SALES, below)];
    segments.extend_from_slice(quiet);
    raise_alarms(&mut segments, ALARM, true);
    segments[0].alarm == Some(Alarm::Bias)
}

/// Returns the most errors below the expected one that still raise an alarm.
fn critical(quiet: &[Segment]) -> usize {
    (0..SALES / 2)
        .rev()
        .find(|below| is_alarmed(*below, quiet))
        .unwrap()
}

/// The distribution function of the standard normal distribution.
fn normal(at: f64) -> f64 {
    0.5 * libm::erfc(-at / std::f64::consts::SQRT_2)
}

/// Returns the standard deviation of log errors whose median absolute error is [`MDAPE`].
fn spread() -> f64 {
    let within = |spread: f64| normal(MDAPE.ln_1p() / spread) - normal((-MDAPE).ln_1p() / spread);
    let (mut low, mut high) = (0.01, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if within(middle) > 0.5 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Returns the probability of exactly `hits` of `rows`.
fn exactly(hits: usize, rows: usize, share: f64) -> f64 {
    let ways: f64 = (1..=hits)
        .map(|k| ((rows - hits + k) as f64 / k as f64).ln())
        .sum();
    let misses = (rows - hits) as f64;
    (ways + hits as f64 * share.ln() + misses * (-share).ln_1p()).exp()
}

/// Returns the probability of an alarm after the fall, where at most `critical` errors below the
/// expected one raise it. The median must have moved by [`ALARM`] besides: fewer than half of the
/// errors lie below that.
fn power(critical: usize) -> f64 {
    let share_below = |error: f64| normal((error.ln_1p() + (-FALL).ln_1p()) / spread());
    let (expected, large) = (share_below(0.0), share_below(ALARM));
    let between = (large - expected) / (1.0 - expected);
    let moved = |below: usize| -> f64 {
        (0..SALES / 2 - below)
            .map(|more| exactly(more, SALES - below, between))
            .sum()
    };
    (0..=critical)
        .map(|below| exactly(below, SALES, expected) * moved(below))
        .sum()
}

#[test]
fn a_fall_of_ten_per_cent_is_found_in_93_of_100_cases_among_15_segments() {
    let fourteen = vec![segment(SALES, SALES / 2); 14];
    let (among, alone) = (critical(&fourteen), critical(&[]));
    println!("{among}: {}, {alone}: {}", power(among), power(alone));
    assert_eq!((among, alone), (34, 39));
    assert!((power(among) - 0.93).abs() < 0.005, "{}", power(among));
    assert!((power(alone) - 0.99).abs() < 0.005, "{}", power(alone));
}

#[test]
fn segments_too_small_to_test_cost_the_others_no_power() {
    let one_block = |sales: usize| {
        let rows = vec![row(100.0, 111.0); sales];
        let rows: Vec<&Row> = rows.iter().collect();
        Segment::of(("authority", "block"), None, &rows, EXPECTED, 0.8)
    };
    let mut small = vec![segment(LEAST_ROWS - 1, 10); 40];
    small.extend(vec![one_block(60); 40]);
    assert!(small.iter().all(|it| !it.is_judged()));
    assert_eq!(critical(&small), critical(&[]));
    // One block never raises an alarm, however many of its homes err together.
    raise_alarms(&mut small, ALARM, true);
    assert!(small.iter().all(|it| it.alarm.is_none()));
    assert!(segment(LEAST_ROWS, 10).is_judged());
}

#[test]
fn six_independent_sales_can_refute_a_half_and_five_cannot() {
    assert!(can_refute(6, 0.5) && !can_refute(5, 0.5));
    assert!(!can_refute(0, 0.5) && !can_refute(1, 0.8));
}
