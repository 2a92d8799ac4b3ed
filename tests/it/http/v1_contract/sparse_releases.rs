//! Two small releases with gaps: months without a value, and a curve whose nodes come and go. They
//! have a bank holiday, true zeros, and every member that may be null.

use crate::v1_contract::fixture_releases::{key, publication};
use chrono::NaiveDate;
use domesday_series::Period;
use domesday_series::build::{Draft, FieldValue, NewObservation, SeriesHandle, Windows, write};
use domesday_series::catalogue::ObservationField as F;
use domesday_series::catalogue::{Availability, Dimension, Family, SelectorName};
use domesday_series::package::PreviewBounds;
use domesday_series::store::Area;
use std::path::Path;

/// The release of markets: not published, of an export without limits.
pub const MARKETS: &str = "made-markets-2020-06";
/// The release of rates: published, of an export of some days.
pub const RATES: &str = "made-rates-2020-05";
/// The authority whose months have holes.
pub const HOLED: &str = "E06880001";
/// The authority with too few sales.
pub const SUPPRESSED: &str = "E06880002";
/// The authority without any observation.
pub const UNKNOWN: &str = "W06880003";
/// The reason why the release of rates has no scenarios of Bank Rate.
pub const REASON: &str = "No file states Bank Rate on 2020-05-29.";

/// Writes both below a folder of releases, unsigned.
pub fn write_all(releases: &Path) {
    let mut of_markets = publication(Family::Markets, MARKETS, "2020-06-20T06:00:00Z");
    of_markets.preview_bounds = Some(PreviewBounds {
        from: None,
        to: None,
    });
    write(&releases.join("markets"), markets(), of_markets).unwrap();
    let mut of_rates = publication(Family::Rates, RATES, "2020-05-30T06:00:00Z");
    of_rates.published_at = Some("2020-06-01T08:30:00Z".parse().unwrap());
    of_rates.preview_bounds = Some(PreviewBounds {
        from: Some("2020-04-30".to_owned()),
        to: Some("2020-05-29".to_owned()),
    });
    write(&releases.join("rates"), rates(), of_rates).unwrap();
}

fn markets() -> Draft {
    let mut draft = Draft::new();
    let names = [
        (HOLED, "Ashby Hollow"),
        (SUPPRESSED, "Thornet Vale"),
        (UNKNOWN, "Cwm Brithel"),
    ];
    // The release puts them into the order of their codes.
    let areas = names.iter().rev().map(|(code, name)| Area {
        code: (*code).to_owned(),
        name: (*name).to_owned(),
    });
    draft.areas(areas.collect());
    activity(&mut draft);
    rents(&mut draft);
    draft
}

/// Adds sales: one type with a withheld month, one type without a sale, and an authority with three
/// sales, whose prices are withheld.
fn activity(draft: &mut Draft) {
    let figures: [(_, _, _, &[(u32, f64)]); 10] = [
        (
            HOLED,
            "all",
            "sales_count",
            &[(1, 12.0), (2, 9.0), (3, 11.0)],
        ),
        (
            HOLED,
            "all",
            "price_per_sqm_gbp",
            &[(1, 2500.5), (3, 2510.0)],
        ),
        (
            HOLED,
            "detached",
            "price_per_sqm_gbp",
            &[(1, 2600.0), (2, 2610.0)],
        ),
        (
            HOLED,
            "detached",
            "sales_count",
            &[(1, 10.0), (2, 10.0), (3, 7.0)],
        ),
        (
            HOLED,
            "flat",
            "sales_count",
            &[(1, 0.0), (2, 0.0), (3, 0.0)],
        ),
        (
            HOLED,
            "flat",
            "sales_value_gbp",
            &[(1, 0.0), (2, 0.0), (3, 0.0)],
        ),
        (HOLED, "flat", "price_per_sqm_gbp", &[]),
        (
            SUPPRESSED,
            "all",
            "sales_count",
            &[(1, 3.0), (2, 4.0), (3, 3.0)],
        ),
        (SUPPRESSED, "all", "price_per_sqm_gbp", &[]),
        (SUPPRESSED, "all", "sales_value_gbp", &[]),
    ];
    for (area, home, metric, values) in figures {
        let key = key(Family::Markets, "market_activity", metric)
            .select(SelectorName::Area, area)
            .select(SelectorName::PropertyType, home);
        let series = draft.series(key);
        window(draft, series, Some(12), None, None);
        if values.is_empty() {
            draft.availability(series, Availability::Suppressed);
        }
        for (month, value) in values {
            draft.push(series, NewObservation::new(of_month(*month), *value));
        }
    }
    let nothing = key(Family::Markets, "market_activity", "sales_count")
        .select(SelectorName::Area, UNKNOWN)
        .select(SelectorName::PropertyType, "all");
    draft.series(nothing);
}

/// Adds rents of six months, values of the first and the third alone, and their yields. Two yields
/// are of one month each, and two are of a newer rent with the value of the third month.
fn rents(draft: &mut Draft) {
    let of = |metric| {
        key(Family::Markets, "rental_market", metric)
            .select(SelectorName::Area, HOLED)
            .select(SelectorName::BedroomGroup, "all")
    };
    let rent = draft.series(of("monthly_rent_gbp"));
    window(draft, rent, Some(1), None, None);
    for month in 1..=6 {
        let observation = NewObservation::new(of_month(month), 820.0);
        draft.push(rent, rental(observation, month));
    }
    let value = draft.series(of("property_value_gbp"));
    window(draft, value, Some(24), None, None);
    for month in [1, 3] {
        let observation = NewObservation::new(of_month(month), 123_000.0);
        draft.push(value, capital(observation, month));
    }
    let gross = draft.series(of("gross_yield_pct"));
    window(draft, gross, None, Some(24), Some(1));
    for (month, of_capital) in [(1, 1), (3, 3), (4, 3), (5, 3)] {
        let observation = NewObservation::new(of_month(month), 8.0)
            .integer(F::InputMonthGap, month - of_capital)
            .with(F::MixedVintage, FieldValue::Boolean(month > of_capital));
        draft.push(gross, capital(rental(observation, month), of_capital));
    }
}

fn rental(observation: NewObservation, month: u32) -> NewObservation {
    observation
        .date(F::RentalObservationMonth, day(month, 1))
        .date(F::RentalPeriodStart, day(month, 1))
        .date(F::RentalPeriodEnd, month_end(month))
}

fn capital(observation: NewObservation, month: u32) -> NewObservation {
    let start = NaiveDate::from_ymd_opt(2018, month + 1, 1).unwrap();
    observation
        .date(F::StructureObservationMonth, day(month, 1))
        .date(F::CapitalObservationMonth, day(month, 1))
        .date(F::CapitalPeriodStart, start)
        .date(F::CapitalPeriodEnd, month_end(month))
}

fn rates() -> Draft {
    let mut draft = Draft::new();
    // 8 May 2020 was a bank holiday, a Friday; 9 and 10 May a weekend.
    let policy = draft.series(key(Family::Rates, "bank_rate", "rate_pct"));
    for (at, value) in [(6, 0.1), (7, 0.1), (11, 0.1), (12, 0.0)] {
        draft.push(policy, NewObservation::new(of_day(5, at), value));
    }
    curve(&mut draft);
    let benchmark = |product| {
        key(Family::Rates, "mortgage_benchmarks", "rate_pct")
            .select(SelectorName::MortgageProduct, product)
    };
    let fixed =
        draft.series(benchmark("owner_occupied_fixed_2y_75ltv").at(Dimension::TermYears, 2));
    for (month, value) in [(2, 1.45), (4, 1.5)] {
        draft.push(fixed, NewObservation::new(of_month(month), value));
    }
    draft.series(benchmark("btl_fixed_2y_60ltv").at(Dimension::TermYears, 2));
    let spread = key(Family::Rates, "mortgage_swap_spread", "spread_bp")
        .select(
            SelectorName::MortgageProduct,
            "owner_occupied_fixed_2y_75ltv",
        )
        .at(Dimension::TermYears, 2);
    let spread = draft.series(spread);
    let negative = NewObservation::new(of_month(2), -15.0)
        .text(F::ReferenceBasis, "ois_par_swap_2y")
        .date(F::MatchedSwapAsOfDate, day(2, 28));
    draft.push(spread, negative);
    draft.push(spread, NewObservation::new(of_month(4), 0.0));
    if let Some(scenarios) = Family::Rates.dataset("bank_rate_scenarios") {
        draft.reason(scenarios, REASON);
    }
    draft
}

/// Adds nodes of one, two and five years. At the latest snapshot the first is missing. The second
/// has a value at the first snapshot alone. The last observation states no interval.
fn curve(draft: &mut Draft) {
    let snapshots = [(12, (4, 30), 0.05), (24, (4, 30), 0.07), (60, (4, 30), 0.2)];
    let snapshots =
        snapshots
            .into_iter()
            .chain([(12, (5, 7), 0.06), (60, (5, 7), 0.21), (60, (5, 29), -0.01)]);
    let mut nodes: Vec<(u32, SeriesHandle)> = Vec::new();
    for tenor in [12, 24, 60] {
        let key = key(Family::Rates, "ois_spot_curve", "rate_pct");
        nodes.push((tenor, draft.series(key.at(Dimension::TenorMonths, tenor))));
    }
    for (tenor, (month, at), value) in snapshots {
        let (_, series) = nodes.iter().find(|(node, _)| *node == tenor).unwrap();
        let mut observation =
            NewObservation::new(of_day(month, at), value).date(F::SnapshotDate, day(month, at));
        if month == 4 {
            observation = observation
                .text(F::Compounding, "continuous")
                .text(F::DayCount, "ACT/365F")
                .text(F::IntervalKind, "spot")
                .integer(F::IntervalStartMonth, 0)
                .integer(F::IntervalEndMonth, tenor);
        }
        draft.push(*series, observation);
    }
}

fn window(
    draft: &mut Draft,
    series: SeriesHandle,
    window_months: Option<u32>,
    capital_window_months: Option<u32>,
    rental_window_months: Option<u32>,
) {
    let windows = Windows {
        window_months,
        capital_window_months,
        rental_window_months,
    };
    draft.windows(series, windows);
}

fn day(month: u32, day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(2020, month, day).unwrap()
}

fn month_end(month: u32) -> NaiveDate {
    day(month + 1, 1).pred_opt().unwrap()
}

fn of_day(month: u32, at: u32) -> Period {
    Period::of_day(day(month, at))
}

fn of_month(month: u32) -> Period {
    Period::of_month(day(month, 1))
}
