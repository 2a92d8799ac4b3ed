//! Groups, ranges and baselines on rows worked by hand.

use crate::LEAST_ROWS;
use crate::baselines::Verdict;
use crate::group::Group;
use crate::ranges::Ranges;
use crate::row::{Baseline, Prediction, Row};
use crate::testing::{report, row, row_with};
use proptest::prelude::*;

fn group(rows: &[Row]) -> Group {
    Group::of("all", None, &rows.iter().collect::<Vec<_>>(), 0.8)
}

#[test]
fn hits_referrals_and_failures_are_counted_with_their_reasons() {
    let mut rows = vec![row(100_000.0, 100_000.0); 30];
    let referred = |reason: &str| row_with(Prediction::Referred(reason.to_owned()));
    rows.extend([
        referred("missing_input"),
        referred("missing_input"),
        referred("short_lease"),
    ]);
    rows.extend(vec![row_with(Prediction::Failed("numeric".to_owned())); 7]);
    let found = group(&rows);
    assert_eq!(
        (found.sales, found.valued, found.referred, found.failed),
        (40, 30, 3, 7)
    );
    assert_eq!(found.hit_rate, Some(0.75));
    assert_eq!(found.referral_rate, Some(0.075));
    let reasons: Vec<(&str, usize)> = found
        .reasons
        .iter()
        .map(|(reason, rows)| (reason.as_str(), *rows))
        .collect();
    assert_eq!(
        reasons,
        [
            ("failed: numeric", 7),
            ("missing_input", 2),
            ("short_lease", 1)
        ]
    );
}

#[test]
fn coverage_counts_the_ends_and_tells_the_sides() {
    let answer = Prediction::Valued {
        estimate: 100_000.0,
        range: Some([90_000.0, 110_000.0]),
        band: "high".to_owned(),
    };
    let prices = [90_000.0, 110_000.0, 100_000.0, 89_999.0, 110_001.0];
    let rows = prices.map(|price| Row {
        answer: answer.clone(),
        ..row(price, 100_000.0)
    });
    let found = Ranges::of(&rows.iter().collect::<Vec<_>>(), 0.8).unwrap();
    assert_eq!((found.rows, found.coverage), (5, 0.6));
    assert_eq!((found.below, found.above), (0.2, 0.2));
    assert_eq!(found.median_width, 0.2);
    assert!(found.agrees, "three of five may well be four");
    let none = row_with(Prediction::Valued {
        estimate: 1.0,
        range: None,
        band: "low".to_owned(),
    });
    assert_eq!(Ranges::of(&[&none], 0.8), None);
}

/// Returns a group of forty sales at 100. The release estimates 110 or nothing, the baseline 120
/// for all but ten.
fn with_baseline(release: f64, baseline: f64) -> Group {
    let rows: Vec<Row> = (0..50)
        .map(|at| Row {
            baselines: [None, (at >= 10).then_some(baseline)],
            ..match at < 45 {
                true => row(100.0, release),
                false => row_with(Prediction::Referred("missing_input".to_owned())),
            }
        })
        .map(|row| Row {
            price: 100.0,
            ..row
        })
        .collect();
    group(&rows)
}

#[test]
fn a_baseline_is_compared_on_the_rows_that_both_value() {
    let found = with_baseline(110.0, 120.0);
    let [last_sale, rate] = &found.baselines[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (last_sale.baseline, last_sale.verdict, last_sale.valued),
        (Baseline::LastSaleIndexed, Verdict::TooFew, 0)
    );
    assert_eq!((rate.valued, rate.hit_rate), (40, Some(0.8)));
    assert_eq!(rate.accuracy.as_ref().unwrap().rows, 40);
    let both = rate.like_for_like.as_ref().unwrap();
    assert_eq!((both.release.rows, both.baseline.rows), (35, 35));
    assert_eq!((both.release.mdape, both.baseline.mdape), (0.1, 0.2));
    assert_eq!(both.release_nearer, 1.0);
    assert_eq!((rate.verdict, rate.words()), (Verdict::Beaten, "beaten"));
}

#[test]
fn an_equal_baseline_is_not_beaten_and_a_better_one_even_less() {
    let equal = &with_baseline(110.0, 110.0).baselines[1];
    assert_eq!(equal.verdict, Verdict::NotBeaten);
    assert_eq!(equal.words(), "not beaten, narrowly");
    assert_eq!(equal.like_for_like.as_ref().unwrap().release_nearer, 0.5);
    let better = &with_baseline(110.0, 101.0).baselines[1];
    assert_eq!(better.words(), "NOT beaten");
}

#[test]
fn a_small_group_is_shown_and_not_figured() {
    let small = group(&vec![row(100.0, 100.0); LEAST_ROWS - 1]);
    assert_eq!((small.sales, small.valued), (29, 29));
    assert_eq!(
        (small.hit_rate, small.accuracy, small.ranges),
        (None, None, None)
    );
    let enough = group(&vec![row(100.0, 100.0); LEAST_ROWS]);
    assert!(enough.hit_rate.is_some() && enough.accuracy.is_some() && enough.ranges.is_some());
}

#[test]
fn bands_of_price_begin_where_they_say() {
    let prices = [99_999.0, 100_000.0, 149_999.0, 150_000.0, 1_000_000.0];
    let found = report(&prices.map(|price| row(price, price)));
    let bands: Vec<(&str, usize)> = found
        .by("price")
        .unwrap()
        .groups
        .iter()
        .map(|group| (group.key.as_str(), group.sales))
        .collect();
    assert_eq!(
        bands,
        [
            ("below 100k", 1),
            ("100k to 150k", 2),
            ("150k to 250k", 1),
            ("1m and above", 1)
        ]
    );
}

proptest! {
    /// Every division but confidence holds each row once, and no figure leaves its bounds.
    #[test]
    fn divisions_are_partitions(
        sales in proptest::collection::vec((10_000.0_f64..3e6, 0.3_f64..3.0, 0_u8..4), 0..120),
    ) {
        let rows: Vec<Row> = sales
            .iter()
            .map(|&(price, ratio, kind)| match kind {
                0 => row_with(Prediction::Referred("missing_input".to_owned())),
                _ => row(price, price * ratio),
            })
            .collect();
        let found = report(&rows);
        for division in &found.divisions {
            let sum: usize = division.groups.iter().map(|group| group.sales).sum();
            let all = match division.by.as_str() {
                "confidence" => found.overall.valued,
                _ => rows.len(),
            };
            prop_assert_eq!(sum, all, "{}", division.by);
        }
        if let Some(accuracy) = &found.overall.accuracy {
            prop_assert!(accuracy.within_5 <= accuracy.within_10);
            prop_assert!(accuracy.within_10 <= accuracy.within_20 && accuracy.within_20 <= 1.0);
            prop_assert!(accuracy.mdape >= 0.0 && accuracy.fsd >= 0.0 && accuracy.cod >= 0.0);
        }
        let errors = &found.errors;
        let counted = errors.counts.iter().sum::<usize>() + errors.below + errors.above;
        prop_assert_eq!(counted, found.overall.valued);
    }
}
