//! A release is written, opened and asked, as the server will.

use chrono::NaiveDate;
use domesday_package::{Full, Trust};
use domesday_series::build::{Draft, FieldValue, Key, NewObservation, Publication, Windows, write};
use domesday_series::catalogue::{Availability, Dimension, Family, ObservationField, SelectorName};
use domesday_series::package::SourceFile;
use domesday_series::select::{
    Notice, ParameterError, ParameterErrorKind, Parameters, Query, QueryKind, Selection, select,
};
use domesday_series::store::{Area, Release};
use domesday_series::{Period, add_months};
use std::path::Path;

pub(super) fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

/// Returns a month of 2025.
pub(super) fn month(number: u32) -> Period {
    Period::of_month(NaiveDate::from_ymd_opt(2025, number, 1).unwrap())
}

fn publication(family: Family, id: &str) -> Publication {
    Publication {
        family,
        release_id: id.parse().unwrap(),
        created: None,
        published_at: None,
        preview_bounds: None,
        sources: vec![SourceFile {
            name: "invented.csv".to_owned(),
            sha256: domesday_package::Sha256Digest::of(b""),
            publisher: "nobody".to_owned(),
            licence: "none".to_owned(),
        }],
        synthetic: true,
        notes: vec!["Invented for a test.".to_owned()],
    }
}

/// Drafts three days of a curve with three nodes, Bank Rate on two days, and three swaps on one.
///
/// The longest node is missing on the last day. The value of a swap is its horizon.
pub(super) fn rates() -> Draft {
    let mut draft = Draft::new();
    let bank = Family::Rates.dataset("bank_rate").unwrap();
    let series = draft.series(Key::new(bank, bank.metric("rate_pct").unwrap()));
    for (date, value) in [("2025-10-07", 4.0), ("2025-10-03", 4.0)] {
        draft.push(
            series,
            NewObservation::new(Period::of_day(day(date)), value),
        );
    }
    let curve = Family::Rates.dataset("ois_spot_curve").unwrap();
    for tenor in [120, 60, 6] {
        let key = Key::new(curve, curve.metric("rate_pct").unwrap());
        let series = draft.series(key.at(Dimension::TenorMonths, tenor));
        for (number, date) in ["2025-10-01", "2025-10-02", "2025-10-06"]
            .iter()
            .enumerate()
        {
            if tenor == 120 && number == 2 {
                continue;
            }
            let snapshot = day(date);
            draft.push(
                series,
                NewObservation::new(Period::of_day(snapshot), 3.0 + f64::from(tenor) / 100.0)
                    .date(ObservationField::SnapshotDate, snapshot)
                    .date(
                        ObservationField::IntervalEndDate,
                        add_months(snapshot, tenor),
                    )
                    .with(
                        ObservationField::IntervalEndMonth,
                        FieldValue::Integer(tenor as i32),
                    )
                    .with(
                        ObservationField::Compounding,
                        FieldValue::Text("continuous".into()),
                    ),
            );
        }
    }
    let swaps = Family::Rates
        .dataset("forward_starting_swap_rates")
        .unwrap();
    for horizon in [0, 6, 12] {
        let key = Key::new(swaps, swaps.metric("rate_pct").unwrap())
            .at(Dimension::TermYears, 5)
            .at(Dimension::HorizonMonth, horizon);
        let series = draft.series(key);
        let period = Period::of_day(day("2025-10-06"));
        draft.push(series, NewObservation::new(period, f64::from(horizon)));
    }
    draft
}

pub(super) fn markets() -> Draft {
    let mut draft = Draft::new();
    draft.areas(vec![
        Area {
            code: "E06999002".into(),
            name: "Under Test".into(),
        },
        Area {
            code: "E06999001".into(),
            name: "Over Test".into(),
        },
    ]);
    let dataset = Family::Markets.dataset("market_activity").unwrap();
    for area in ["E06999001", "E06999002"] {
        for metric in dataset.metrics {
            let key = Key::new(dataset, metric)
                .select(SelectorName::Area, area)
                .select(SelectorName::PropertyType, "all");
            let series = draft.series(key);
            draft.windows(
                series,
                Windows {
                    window_months: Some(12),
                    ..Windows::default()
                },
            );
            if area == "E06999002" {
                draft.availability(series, Availability::Suppressed);
                continue;
            }
            for number in 1..=6 {
                draft.push(
                    series,
                    NewObservation::new(month(number), f64::from(number)),
                );
            }
        }
    }
    let bands = Family::Markets.dataset("price_bands").unwrap();
    for band in ["under_100k", "1m_plus"] {
        let key = Key::new(bands, bands.metric("sales_count").unwrap())
            .select(SelectorName::Area, "E06999001")
            .select(SelectorName::PriceBand, band);
        let series = draft.series(key);
        draft.push(series, NewObservation::new(month(6), 1.0));
    }
    draft
}

fn open(packages_dir: &Path, family: Family, id: &str) -> Release {
    Release::open(&packages_dir.join(id), family, &Trust::Unsigned, &Full).unwrap()
}

pub(super) fn release_of(family: Family) -> Release {
    release_from(
        family,
        match family {
            Family::Markets => markets(),
            Family::Rates => rates(),
        },
    )
}

/// Returns the release `r-1` of this draft.
pub(super) fn release_from(family: Family, draft: Draft) -> Release {
    let packages_dir = tempfile::tempdir().unwrap();
    write(packages_dir.path(), draft, publication(family, "r-1")).unwrap();
    open(packages_dir.path(), family, "r-1")
}

pub(super) fn parameters(text: &str) -> Parameters {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap());
    Parameters::read(pairs.map(|(n, v)| (n.to_owned(), v.to_owned()))).unwrap()
}

pub(super) fn query(release: &Release, text: &str) -> Result<Query, ParameterError> {
    query_of_kind(QueryKind::Series, release, text)
}

pub(super) fn query_of_kind(
    asked: QueryKind,
    release: &Release,
    text: &str,
) -> Result<Query, ParameterError> {
    let parameters = parameters(text);
    let dataset = parameters.dataset(release.family())?;
    parameters.query(asked, dataset, release, false)
}

pub(super) fn select_text(release: &Release, text: &str) -> Selection {
    select(release, &query(release, text).unwrap())
}

/// Returns every selected observation: series id, period and value.
pub(super) fn observations(release: &Release, selection: &Selection) -> Vec<(String, String, f64)> {
    let mut all = Vec::new();
    for part in selection.series() {
        let series = &release.series()[part.series];
        for one in release.observations(part.series, part.rows.clone()) {
            let period = one.period.text(series.dataset().frequency);
            all.push((series.id().to_owned(), period, one.value));
        }
    }
    all
}

pub(super) fn refusal(release: &Release, text: &str) -> (String, ParameterErrorKind) {
    let error = query(release, text).unwrap_err();
    (error.field, error.kind)
}

#[test]
fn the_same_draft_gives_the_same_bytes() {
    let packages_dir = tempfile::tempdir().unwrap();
    let first = write(
        packages_dir.path(),
        rates(),
        publication(Family::Rates, "r-1"),
    )
    .unwrap();
    let again = write(
        packages_dir.path(),
        rates(),
        publication(Family::Rates, "r-1"),
    )
    .unwrap();
    assert_eq!(first, again);
    assert_eq!(first.created.to_string(), "2025-10-08T00:00:00Z");
}

#[test]
fn latest_is_each_series_own_for_scalars() {
    let release = release_of(Family::Rates);
    let selection = select_text(&release, "dataset=bank_rate");
    let expected = vec![(
        "bank_rate:rate_pct".to_owned(),
        "2025-10-07".to_owned(),
        4.0,
    )];
    assert_eq!(observations(&release, &selection), expected);
    assert_eq!(selection.notice(), None);
}

#[test]
fn latest_snapshot_comes_before_nodes() {
    let release = release_of(Family::Rates);
    let selection = select_text(&release, "dataset=ois_spot_curve");
    let found = observations(&release, &selection);
    let periods: Vec<_> = found.iter().map(|(_, period, _)| period.as_str()).collect();
    assert_eq!(periods, ["2025-10-06", "2025-10-06"]);
    // The response names the series of the missing node and its availability, and no older value.
    assert_eq!(selection.series().len(), 3);
    let missing = select_text(&release, "dataset=ois_spot_curve&tenor_months=120");
    assert_eq!(missing.observations(), 0);
    assert_eq!(missing.series().len(), 1);
}

#[test]
fn nodes_are_in_order_of_number_and_only_those_that_exist() {
    let release = release_of(Family::Rates);
    let curve = Family::Rates.dataset("ois_spot_curve").unwrap();
    let nodes: Vec<u32> = release.nodes(curve, Dimension::TenorMonths).collect();
    assert_eq!(nodes, [6, 60, 120]);
    assert_eq!(
        refusal(&release, "dataset=ois_spot_curve&tenor_months=61"),
        ("tenor_months".to_owned(), ParameterErrorKind::UnknownNode)
    );
}

#[test]
fn ranges_select_observed_values_only() {
    let release = release_of(Family::Rates);
    let count = |text: &str| {
        let selection = select_text(&release, &format!("dataset=bank_rate&{text}"));
        (selection.observations(), selection.notice().is_some())
    };
    assert_eq!(count("from=2025-10-03"), (2, false));
    assert_eq!(count("to=2025-10-06"), (1, false));
    assert_eq!(count("to=2025-10-03"), (1, false));
    assert_eq!(count("to=2025-10-02"), (0, true));
    assert_eq!(count("to=2030-01-01"), (2, true));
    assert_eq!(count("from=2025-10-04&to=2025-10-06"), (0, false));
    assert_eq!(count("from=2025-10-07&to=2025-10-07"), (1, false));
    assert_eq!(count("from=2020-01-01&to=2025-10-03"), (1, true));
    assert_eq!(count("from=2030-01-01"), (0, true));
    let outside = select_text(&release, "dataset=bank_rate&from=2030-01-01");
    let history = Some((
        Period::of_day(day("2025-10-03")),
        Period::of_day(day("2025-10-07")),
    ));
    assert_eq!(
        outside.notice(),
        Some(Notice::RangeExceedsHistory { history })
    );
}

#[test]
fn a_dataset_that_the_release_lacks_has_a_notice_and_no_series() {
    let release = release_of(Family::Rates);
    for dates in ["", "&from=2025-10-01", "&to=2025-10-01"] {
        let selection = select_text(&release, &format!("dataset=sonia_overnight{dates}"));
        assert!(selection.series().is_empty(), "{dates}");
        let notice = Some(Notice::DatasetNotInRelease);
        assert_eq!(selection.notice(), notice, "{dates}");
    }
}

#[test]
fn a_manifest_has_the_extent_of_every_dataset_and_the_reason_of_an_incomplete_one() {
    let packages_dir = tempfile::tempdir().unwrap();
    let publish = |draft, id| {
        let publication = publication(Family::Rates, id);
        write(packages_dir.path(), draft, publication).unwrap()
    };
    publish(rates(), "r-1");
    let whole = open(packages_dir.path(), Family::Rates, "r-1");
    assert_eq!(whole.body().datasets, rates().summaries(Family::Rates));
    assert_eq!(whole.body().datasets.len(), 22);
    // A manifest of an earlier version has no table, and is read.
    let path = packages_dir.path().join("r-1/manifest.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let (begin, rest) = text.split_once("\"datasets\": [").unwrap();
    let (_, end) = rest.split_once("],").unwrap();
    std::fs::write(&path, format!("{}{end}", begin.trim_end())).unwrap();
    let before = open(packages_dir.path(), Family::Rates, "r-1");
    assert!(before.body().datasets.is_empty());
    assert_eq!(before.summaries(), rates().summaries(Family::Rates));
    let mut draft = rates();
    let sonia = Family::Rates.dataset("sonia_overnight").unwrap();
    draft.reason(sonia, "Give IUDSOIA.");
    let expected = draft.summaries(Family::Rates);
    publish(draft, "r-2");
    let release = open(packages_dir.path(), Family::Rates, "r-2");
    assert_eq!(release.body().datasets, expected);
    assert_eq!(release.summaries(), expected);
    assert_eq!(release.body().reason(sonia), Some("Give IUDSOIA."));
    let of = |id: &str| {
        let found = expected.iter().find(|summary| summary.dataset == id);
        let found = found.unwrap();
        (found.from.as_deref(), found.to.as_deref(), found.series)
    };
    assert_eq!(expected.len(), 22);
    assert_eq!(of("sonia_overnight"), (None, None, 0));
    let bank_rate = (Some("2025-10-03"), Some("2025-10-07"), 1);
    assert_eq!(of("bank_rate"), bank_rate);
    let curve = (Some("2025-10-01"), Some("2025-10-06"), 3);
    assert_eq!(of("ois_spot_curve"), curve);
}
