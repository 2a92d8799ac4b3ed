//! Releases that the suite writes. They are small enough to read here, and the tests assert their
//! values.
//!
//! They are older than the demo's, so the demo's are current. Tests query them by id.

use domesday_series::Period;
use domesday_series::build::{Draft, Key, NewObservation, Publication, SeriesHandle, write};
use domesday_series::catalogue::{Dimension, Family, Frequency, SelectorName};
use domesday_series::package::SourceFile;
use std::path::Path;

/// Rates of one week of January 2026, in which Thursday the 8th was no working day.
pub const RATES: &str = "made-rates-2026-01";
/// The same, published later: the values of the past are revised.
pub const REVISED: &str = "made-rates-2026-02";
/// All of them.
pub const IDS: &[&str] = &[RATES, REVISED];

/// The days of the week that have observations.
pub const DAYS: [&str; 4] = ["2026-01-05", "2026-01-06", "2026-01-07", "2026-01-09"];

/// Writes all of them below a folder of releases.
pub fn write_all(releases: &Path) {
    rates(releases, RATES, "2026-01-31T00:00:00Z", 0.0);
    rates(releases, REVISED, "2026-02-28T00:00:00Z", 0.01);
}

/// Builds the first release anew: another package, with revised values, under the same id.
pub fn write_anew(releases: &Path) {
    std::fs::remove_dir_all(releases.join("rates").join(RATES)).unwrap();
    rates(releases, RATES, "2026-02-01T00:00:00Z", 0.01);
}

/// Returns the key of a series without selectors or dimensions.
pub fn key(family: Family, dataset: &str, metric: &str) -> Key {
    let dataset = family.dataset(dataset).unwrap();
    Key::new(dataset, dataset.metric(metric).unwrap())
}

/// Adds a series with observations in these periods.
pub fn push(draft: &mut Draft, key: Key, points: &[(&str, f64)]) -> SeriesHandle {
    let series = draft.series(key);
    for (period, value) in points {
        draft.push(series, NewObservation::new(at(period), *value));
    }
    series
}

/// Parses a month or a day.
pub fn at(period: &str) -> Period {
    let frequency = match period.len() {
        7 => Frequency::Monthly,
        _ => Frequency::Daily,
    };
    Period::parse(period, frequency).unwrap()
}

/// Writes an unsigned release.
pub fn publish(releases: &Path, family: Family, id: &str, created: &str, draft: Draft) {
    let publication = publication(family, id, created);
    write(&releases.join(family.as_str()), draft, publication).unwrap();
}

/// Returns the metadata of a release: neither published nor bounded.
pub fn publication(family: Family, id: &str, created: &str) -> Publication {
    Publication {
        family,
        release_id: id.parse().unwrap(),
        created: Some(created.parse().unwrap()),
        published_at: None,
        preview_bounds: None,
        sources: vec![SourceFile {
            name: "made-up.csv".to_owned(),
            sha256: "00".repeat(32).parse().unwrap(),
            publisher: "domesday".to_owned(),
            licence: "invented".to_owned(),
        }],
        synthetic: true,
        notes: Vec::new(),
    }
}

/// Writes the rates of the week, each higher by `revision` than in the first release.
fn rates(releases: &Path, id: &str, created: &str, revision: f64) {
    let mut draft = Draft::new();
    let family = Family::Rates;
    let week = |values: [f64; 4]| -> Vec<(&str, f64)> {
        let values = values.map(|value| value + revision);
        DAYS.into_iter().zip(values).collect()
    };
    for (dataset, metric, values) in [
        ("bank_rate", "rate_pct", [4.0, 4.0, 3.75, 3.75]),
        ("sonia_overnight", "rate_pct", [3.97, 3.9699, 3.72, 3.7207]),
        (
            "sonia_compounded_index",
            "index_value",
            [120.1, 120.113, 120.126, 120.1505],
        ),
    ] {
        push(&mut draft, key(family, dataset, metric), &week(values));
    }
    // The spot curve lacks its last node on the last day, the forward curve has no such node at
    // all.
    for (dataset, tenors) in [
        ("ois_spot_curve", &[6, 12, 60][..]),
        ("ois_forward_curve", &[6, 12]),
    ] {
        for &tenor in tenors {
            let key = key(family, dataset, "rate_pct").at(Dimension::TenorMonths, tenor);
            let mut points = week([3.9, 3.8, 3.7, 3.6].map(|rate| rate - f64::from(tenor) / 100.0));
            points.truncate(if tenor == 60 { 3 } else { 4 });
            push(&mut draft, key, &points);
        }
    }
    // Nothing was quoted in November.
    let product = "owner_occupied_fixed_2y_75ltv";
    for (dataset, metric, points) in [
        (
            "mortgage_benchmarks",
            "rate_pct",
            [("2025-10", 4.4), ("2025-12", 4.1)],
        ),
        (
            "mortgage_swap_spread",
            "spread_bp",
            [("2025-10", 0.0), ("2025-12", -12.5)],
        ),
    ] {
        let key = key(family, dataset, metric).select(SelectorName::MortgageProduct, product);
        push(&mut draft, key, &points);
    }
    publish(releases, family, id, created, draft);
}
