//! Reasons of drafts from small inputs.

use super::super::curves::dataset;
use super::super::decimals::decimal;
use super::super::{CurveKind, CurveSide, derive};
use super::*;
use crate::catalogue::SelectorRule;
use crate::package::DatasetSummary;
use rust_decimal::Decimal;

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn days(values: &[(&str, &str)]) -> BTreeMap<NaiveDate, Decimal> {
    let values = values.iter();
    values.map(|(on, rate)| (day(on), decimal(rate))).collect()
}

/// Returns the list of changes as it is between two meetings, three months of rates, and a
/// curve of the month after them.
fn between_meetings() -> PublishedRates {
    let changes = days(&[("2025-05-08", "4.25"), ("2025-08-07", "4")]);
    let reversion = days(&[
        ("2025-07-31", "6.9"),
        ("2025-08-31", "6.8"),
        ("2025-09-30", "6.8"),
    ]);
    let nodes: BTreeMap<u32, f64> = (1..=60).map(|month| (month, 4.0)).collect();
    let mut published = PublishedRates::default();
    let (series, curves) = (&mut published.series, &mut published.curves);
    series.insert(DatabaseSeries::BankRate, changes.clone());
    series.insert(DatabaseSeries::Mortgage(REVERSION), reversion);
    let snapshots = BTreeMap::from([(day("2025-10-09"), nodes)]);
    curves.insert((CurveKind::Ois, CurveSide::Spot), snapshots);
    published.bank_rate_changes.extend(changes);
    published
}

fn of(published: &PublishedRates, id: &str) -> DatasetSummary {
    let all = derive(published).summaries(Family::Rates);
    all.into_iter().find(|one| one.dataset == id).unwrap()
}

#[test]
fn a_list_of_changes_between_meetings_leaves_gaps_with_reasons() {
    let published = between_meetings();
    for id in ["bank_rate_scenarios", "mortgage_reversion_scenarios"] {
        let scenarios = of(&published, id);
        assert_eq!((scenarios.series, scenarios.to), (0, None), "{id}");
        assert_eq!(
            scenarios.reason.as_deref(),
            Some(
                "Bank Rate on 2025-10-09 is unknown: the list of changes ends on 2025-08-07. \
                 Give IUDBEDR, or --complete-to 2025-10-09 if the list is complete to that day."
            ),
            "{id}"
        );
    }
    let spread = of(&published, "mortgage_reversion_spread");
    assert_eq!(spread.to.as_deref(), Some("2025-08"));
    let reason = spread.reason.unwrap();
    assert!(reason.contains("reaches 2025-09."), "{reason}");
    assert!(reason.contains("IUDBEDR"), "{reason}");
    assert!(reason.contains("--complete-to 2025-09-30"), "{reason}");
}

#[test]
fn a_list_that_is_complete_to_the_snapshot_leaves_none() {
    let mut published = between_meetings();
    published.bank_rate_complete_to = Some(day("2025-10-09"));
    for (id, last) in [
        ("bank_rate_scenarios", "2025-10-09"),
        ("mortgage_reversion_scenarios", "2025-10-09"),
        ("mortgage_reversion_spread", "2025-09"),
    ] {
        let summary = of(&published, id);
        assert_eq!(summary.to.as_deref(), Some(last), "{id}");
        assert_eq!(summary.reason, None, "{id}");
    }
}

#[test]
fn a_swap_spread_ends_where_the_curve_ends() {
    let quoted = DatabaseSeries::Mortgage("owner_occupied_fixed_2y_75ltv");
    let mut published = between_meetings();
    let rates = days(&[("2025-10-31", "4.4"), ("2025-11-30", "4.3")]);
    published.series.insert(quoted, rates);
    let spread = of(&published, "mortgage_swap_spread");
    assert_eq!(spread.to.as_deref(), Some("2025-10"));
    let reason = spread.reason.unwrap();
    assert!(reason.contains("reach 2025-11."), "{reason}");
    assert!(reason.contains("OIS curve"), "{reason}");
}

#[test]
fn a_daily_dataset_that_ends_long_before_the_others_says_what_to_give() {
    let mut published = between_meetings();
    let sonia = days(&[("2025-10-01", "3.97")]);
    published.series.insert(DatabaseSeries::Sonia, sonia);
    let bank_rate = |published: &PublishedRates| of(published, "bank_rate").reason;
    assert_eq!(
        bank_rate(&published).as_deref(),
        Some(
            "It ends 63 days before the newest observation, 2025-10-09. Give IUDBEDR of the later \
             days with --bank-csv, or --complete-to 2025-10-09 if the list of changes is complete to \
             that day."
        )
    );
    let reason = of(&published, "sonia_overnight").reason.unwrap();
    assert!(reason.starts_with("It ends 8 days before"), "{reason}");
    assert!(reason.contains("IUDSOIA"), "{reason}");
    // Seven days may be a holiday.
    let sonia = days(&[("2025-10-02", "3.97")]);
    published.series.insert(DatabaseSeries::Sonia, sonia);
    assert_eq!(of(&published, "sonia_overnight").reason, None);
    published.bank_rate_complete_to = Some(day("2025-10-05"));
    assert_eq!(bank_rate(&published), None);
    // Every other dataset of a later release ends early, with a reason of its own inputs.
    let index = days(&[("2025-12-31", "1.2")]);
    published.series.insert(DatabaseSeries::SoniaIndex, index);
    for summary in derive(&published).summaries(Family::Rates) {
        let reason = summary.reason.unwrap_or_default();
        let whole = summary.dataset == "sonia_compounded_index";
        assert_eq!(reason.is_empty(), whole, "{}: {reason}", summary.dataset);
    }
    let curve = of(&published, "ois_spot_curve").reason.unwrap();
    assert!(
        curve.contains("the Bank's workbook of the later days"),
        "{curve}"
    );
    let swaps = of(&published, "indicative_swap_rates").reason.unwrap();
    assert!(swaps.contains("the OIS curve of the later days"), "{swaps}");
}

#[test]
fn mortgage_rates_that_no_file_states_are_listed_by_their_codes() {
    let reason = of(&between_meetings(), "mortgage_benchmarks").reason;
    let reason = reason.unwrap();
    assert!(
        reason.contains("No file states these series: IUMZICQ, "),
        "{reason}"
    );
    assert!(!reason.contains("IUMTLMV"), "{reason}");
    let mut published = between_meetings();
    for code in CODES {
        if matches!(code.series, DatabaseSeries::Mortgage(_)) {
            let rates = days(&[("2025-09-30", "4.4")]);
            published.series.insert(code.series, rates);
        }
    }
    assert_eq!(of(&published, "mortgage_benchmarks").reason, None);
}

#[test]
fn every_dataset_without_inputs_names_what_to_give() {
    let all = derive(&PublishedRates::default()).summaries(Family::Rates);
    assert_eq!(all.len(), 22);
    for summary in all {
        let reason = summary.reason.unwrap_or_default();
        assert!(reason.contains("Give "), "{}: {reason}", summary.dataset);
        let mut selectors = dataset(&summary.dataset).unwrap().selectors.iter();
        let is_curve = selectors.any(|selector| matches!(selector.rule, SelectorRule::Node(_)));
        assert_eq!(
            reason.contains("No file holds this curve"),
            is_curve,
            "{}: give it its own reason in `empty`",
            summary.dataset
        );
    }
}
