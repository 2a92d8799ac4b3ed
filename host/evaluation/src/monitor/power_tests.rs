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

/// Returns a segment of so many sales, each in another postcode. `below` of them err as expected or
/// less. The expected error is exact, or the median of `tested` sales of the back-test.
fn segment(sales: usize, below: usize, tested: Option<usize>) -> Segment {
    let rows: Vec<Row> = (0..sales)
        .map(|at| Row {
            postcode: format!("ZZ1 {at}"),
            ..row(100.0, if at < below { 99.0 } else { 111.0 })
        })
        .collect();
    let rows: Vec<&Row> = rows.iter().collect();
    let expected = ExpectedError {
        rows: tested,
        ..ExpectedError::ZERO
    };
    Segment::of(("authority", "zed"), None, &rows, expected, 0.8)
}

/// Returns whether a segment whose median error moved by `alarm` raises an alarm beside quiet ones.
fn is_alarmed(segment: Segment, quiet: &[Segment], alarm: f64) -> bool {
    let mut segments = vec![segment];
    segments.extend_from_slice(quiet);
    raise_alarms(&mut segments, alarm, true);
    segments[0].alarm == Some(Alarm::Bias)
}

/// Returns the most errors below the expected one that still raise an alarm.
fn critical(quiet: &[Segment], tested: Option<usize>) -> usize {
    (0..SALES / 2)
        .rev()
        .find(|below| is_alarmed(segment(SALES, *below, tested), quiet, ALARM))
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
fn power(critical: usize, expected: f64) -> f64 {
    let share_below = |error: f64| normal((error.ln_1p() + (-FALL).ln_1p()) / spread());
    let (low, large) = (share_below(expected), share_below(expected + ALARM));
    let between = (large - low) / (1.0 - low);
    let moved = |below: usize| -> f64 {
        (0..SALES / 2 - below)
            .map(|more| exactly(more, SALES - below, between))
            .sum()
    };
    (0..=critical)
        .map(|below| exactly(below, SALES, low) * moved(below))
        .sum()
}

/// Returns the logarithm of the beta function.
fn log_beta(a: f64, b: f64) -> f64 {
    libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b)
}

/// Returns the power where the expected error is the median of `tested` errors before the fall, an
/// odd number. The share of all errors below that median has a beta distribution.
fn power_against_median(critical: usize, tested: usize) -> f64 {
    let a = (tested as f64 + 1.0) / 2.0;
    let steps = 30_i32;
    // Six standard errors of the median on either side, in standard deviations of an error.
    let step = 6.0 * (std::f64::consts::FRAC_PI_2 / tested as f64).sqrt() / f64::from(steps);
    let at = |number: i32| {
        let z = f64::from(number) * step;
        let of_share = (a - 1.0) * (normal(z).ln() + normal(-z).ln()) - log_beta(a, a);
        let density = (of_share - z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        density * step * power(critical, (spread() * z).exp_m1())
    };
    (-steps..=steps).map(at).sum()
}

#[test]
fn a_fall_of_ten_per_cent_is_found_in_93_of_100_cases_among_15_segments() {
    let fourteen = vec![segment(SALES, SALES / 2, None); 14];
    let (among, alone) = (critical(&fourteen, None), critical(&[], None));
    assert_eq!((among, alone), (34, 39));
    let power = |critical| power(critical, 0.0);
    println!("{among}: {}, {alone}: {}", power(among), power(alone));
    assert!((power(among) - 0.93).abs() < 0.005, "{}", power(among));
    assert!((power(alone) - 0.99).abs() < 0.005, "{}", power(alone));
}

#[test]
fn against_the_median_of_301_sales_it_is_found_in_77_and_of_101_in_61() {
    let fourteen = vec![segment(SALES, SALES / 2, None); 14];
    for (tested, expected) in [(301, 0.77), (101, 0.61)] {
        let found = power_against_median(critical(&fourteen, Some(tested)), tested);
        assert!((found - expected).abs() < 0.006, "{tested}: {found}");
    }
}

/// Returns the probability that `below` of `sales` errors lie below the median of `tested` others
/// of the same distribution, an odd number. It is beta-binomial.
fn exactly_below_median(below: usize, sales: usize, tested: usize) -> f64 {
    let (k, n, a) = (below as f64, sales as f64, (tested as f64 + 1.0) / 2.0);
    let ways = -log_beta(k + 1.0, n - k + 1.0) - (n + 1.0).ln();
    (ways + log_beta(k + a, n - k + a) - log_beta(a, a)).exp()
}

/// Returns the probability that a steady market raises an alarm in any of these segments, however
/// small the change. Each is compared with the median of `tested` sales, which the test takes for
/// exact or not.
fn false_alarms(segments: usize, sales: usize, tested: usize, exact: bool) -> f64 {
    let rows = (!exact).then_some(tested);
    let quiet = vec![segment(sales, sales / 2, rows); segments - 1];
    let one: f64 = (0..=sales)
        .filter(|below| is_alarmed(segment(sales, *below, rows), &quiet, 0.0))
        .map(|below| exactly_below_median(below, sales, tested))
        .sum();
    1.0 - (1.0 - one).powf(segments as f64)
}

#[test]
fn a_steady_market_raises_an_alarm_in_at_most_5_of_100_cases() {
    for (segments, sales, tested) in [(60, 300, 41), (60, 300, 301), (15, 100, 59)] {
        let found = false_alarms(segments, sales, tested, false);
        assert!(found <= 0.05, "{segments} {sales} {tested}: {found}");
    }
    // A test that takes the medians for exact alarms in nearly all cases.
    let exact = false_alarms(60, 300, 41, true);
    assert!(exact > 0.99, "{exact}");
}

#[test]
fn segments_too_small_to_test_cost_the_others_no_power() {
    let one_block = |sales: usize| {
        let rows = vec![row(100.0, 111.0); sales];
        let rows: Vec<&Row> = rows.iter().collect();
        Segment::of(
            ("authority", "block"),
            None,
            &rows,
            ExpectedError::ZERO,
            0.8,
        )
    };
    let mut small = vec![segment(LEAST_ROWS - 1, 10, None); 40];
    small.extend(vec![one_block(60); 40]);
    assert!(small.iter().all(|it| !it.is_judged()));
    assert_eq!(critical(&small, None), critical(&[], None));
    // One block never raises an alarm, however many of its homes err together.
    raise_alarms(&mut small, ALARM, true);
    assert!(small.iter().all(|it| it.alarm.is_none()));
    assert!(segment(LEAST_ROWS, 10, None).is_judged());
}

#[test]
fn six_independent_sales_can_refute_a_half_and_five_cannot() {
    assert!(can_refute(6, 0.5) && !can_refute(5, 0.5));
    assert!(!can_refute(0, 0.5) && !can_refute(1, 0.8));
}
