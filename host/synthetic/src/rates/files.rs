//! The files of invented rates.

use std::path::Path;

use chrono::{Datelike, NaiveDate};
use csv::QuoteStyle;

use super::model::Day;
use super::{RatesManifest, RatesWorld};
use crate::draw::{Draw, Purpose};
use crate::files::Sink;
use crate::{Manifest, SyntheticError};

/// Months as the Bank's database writes them.
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Fixed mortgage rates: code, years of the fix, margin over the swap in percentage points.
const FIXED: [(&str, u32, f64); 14] = [
    ("IUMZICQ", 2, 0.55),
    ("IUMBV34", 2, 0.70),
    ("IUMZICR", 2, 0.95),
    ("IUMB482", 2, 1.25),
    ("IUM2WTL", 2, 1.75),
    ("IUMBV37", 3, 0.68),
    ("IUMZO27", 5, 0.60),
    ("IUMBV42", 5, 0.72),
    ("IUMZO28", 5, 1.15),
    ("IUMBV45", 10, 1.05),
    ("IUMZO29", 2, 0.85),
    ("IUMZID4", 2, 1.20),
    ("IUMZO2A", 5, 0.95),
    ("IUMZO2B", 5, 1.25),
];

/// One side of one curve: dataset, which nodes, which rate.
struct Table {
    dataset: &'static str,
    first: u32,
    last: u32,
    rate: fn(&Day, u32) -> Option<f64>,
}

const TABLES: [Table; 8] = [
    Table {
        dataset: "ois_spot_curve",
        first: 1,
        last: 300,
        rate: |day, m| ois(day, m).then(|| day.curves[0].spot(m)),
    },
    Table {
        dataset: "ois_forward_curve",
        first: 1,
        last: 300,
        rate: |day, m| ois(day, m).then(|| day.curves[0].forward(m)),
    },
    Table {
        dataset: "nominal_gilt_spot_curve",
        first: 1,
        last: 480,
        rate: |day, m| nominal(day, m).then(|| day.curves[1].spot(m)),
    },
    Table {
        dataset: "nominal_gilt_forward_curve",
        first: 1,
        last: 480,
        rate: |day, m| nominal(day, m).then(|| day.curves[1].forward(m)),
    },
    Table {
        dataset: "real_gilt_spot_curve",
        first: 25,
        last: 480,
        rate: |day, m| gilt(day, m).then(|| day.curves[2].spot(m)),
    },
    Table {
        dataset: "real_gilt_forward_curve",
        first: 25,
        last: 480,
        rate: |day, m| gilt(day, m).then(|| day.curves[2].forward(m)),
    },
    Table {
        dataset: "market_implied_inflation",
        first: 25,
        last: 480,
        rate: |day, m| gilt(day, m).then(|| day.curves[1].spot(m) - day.curves[2].spot(m)),
    },
    Table {
        dataset: "market_implied_inflation_forward",
        first: 25,
        last: 480,
        rate: |day, m| gilt(day, m).then(|| day.curves[1].forward(m) - day.curves[2].forward(m)),
    },
];

/// Returns whether the OIS curve has a node: to five years until December 2021, to 25 years since.
fn ois(day: &Day, months: u32) -> bool {
    let long = NaiveDate::from_ymd_opt(2021, 12, 14).is_some_and(|since| day.date >= since);
    months != day.ois_hole && (months <= 60 || long)
}

/// Returns whether the nominal curve has a node: the shortest ones are often missing.
fn nominal(day: &Day, months: u32) -> bool {
    months >= day.nominal_from && gilt(day, months)
}

/// Returns whether gilts are long enough: to 25 years until 2016, to 40 years since.
fn gilt(day: &Day, months: u32) -> bool {
    months <= 300 || day.date.year() >= 2016
}

/// Writes all files.
pub(super) fn write(
    world: &RatesWorld,
    history: &[Day],
    out: &Path,
) -> Result<RatesManifest, SyntheticError> {
    let mut counts = Manifest::default();
    let mut written = RatesManifest {
        snapshots: history.iter().filter(|day| day.snapshot).count() as u64,
        ..RatesManifest::default()
    };
    let bank = "synthetic-bank-rate.csv";
    let mut sink = Sink::create(out, bank, QuoteStyle::Necessary, &["DATE", "IUDBEDR"])?;
    for day in history {
        sink.row([bank_date(day.date), format!("{}", day.bank_rate)])?;
    }
    sink.finish(&mut counts)?;
    let sonia = "synthetic-sonia.csv";
    let header = ["DATE", "IUDSOIA", "IUDZOS2"];
    let mut sink = Sink::create(out, sonia, QuoteStyle::Necessary, &header)?;
    for day in history {
        let index = day.index.map(|index| format!("{index:.8}"));
        sink.row([
            bank_date(day.date),
            format!("{:.4}", day.sonia),
            index.unwrap_or_default(),
        ])?;
    }
    sink.finish(&mut counts)?;
    let mortgages = mortgages(world, history, out, &mut counts)?;
    written.database = [bank, sonia, mortgages].map(str::to_owned).to_vec();
    for table in &TABLES {
        written
            .curves
            .push(curve(table, history, out, &mut counts)?);
    }
    Ok(written)
}

/// Writes one curve table and returns its name.
fn curve(
    table: &Table,
    history: &[Day],
    out: &Path,
    counts: &mut Manifest,
) -> Result<String, SyntheticError> {
    let name = format!("synthetic-{}.csv", table.dataset);
    let nodes: Vec<u32> = (table.first..=60)
        .chain((66..=table.last).step_by(6))
        .collect();
    let mut header = vec![table.dataset.to_owned()];
    header.extend(nodes.iter().map(ToString::to_string));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut sink = Sink::create(out, &name, QuoteStyle::Necessary, &header)?;
    for day in history.iter().filter(|day| day.snapshot) {
        let rates = nodes.iter().map(|node| {
            (table.rate)(day, *node).map_or(String::new(), |rate| format!("{rate:.6}"))
        });
        sink.row(std::iter::once(day.date.to_string()).chain(rates))?;
    }
    sink.finish(counts)?;
    Ok(name)
}

/// Writes mortgage rates at month ends, and returns the file's name.
fn mortgages(
    world: &RatesWorld,
    history: &[Day],
    out: &Path,
    counts: &mut Manifest,
) -> Result<&'static str, SyntheticError> {
    let name = "synthetic-mortgages.csv";
    let mut draw = Draw::new(world.seed, Purpose::Rates, 1, 0);
    let mut header = vec!["DATE"];
    header.extend(FIXED.iter().map(|(code, _, _)| *code));
    header.extend(["IUMBV48", "IUMTLMV"]);
    let mut sink = Sink::create(out, name, QuoteStyle::Necessary, &header)?;
    for pair in history.windows(2) {
        let (day, next) = (&pair[0], &pair[1]);
        if day.date.month() == next.date.month() {
            continue;
        }
        let mut row = vec![bank_date(month_end(day.date))];
        for (code, years, margin) in FIXED {
            let rate = day.curves[0].spot(12 * years) + margin + draw.normal(0.0, 0.04);
            // Loans of 95 per cent were not offered for years, and ten-year fixes not every month.
            let absent = (code == "IUM2WTL" && day.date.year() < 2013)
                || (code == "IUMBV45" && draw.chance(0.05));
            row.push(if absent {
                String::new()
            } else {
                format!("{rate:.2}")
            });
        }
        row.push(format!(
            "{:.2}",
            day.bank_rate + 1.0 + draw.normal(0.0, 0.05)
        ));
        row.push(format!(
            "{:.2}",
            day.bank_rate + 2.9 + draw.normal(0.0, 0.03)
        ));
        sink.row(row)?;
    }
    // The month that has just ended is listed before its rates are known.
    let mut row = vec![bank_date(month_end(world.through))];
    row.resize(header.len(), String::new());
    sink.row(row)?;
    sink.finish(counts)?;
    Ok(name)
}

fn month_end(day: NaiveDate) -> NaiveDate {
    let next = day.with_day(1).map(|first| first + chrono::Months::new(1));
    next.and_then(|next| next.pred_opt()).unwrap_or(day)
}

/// Formats a day as `01 Sep 2026`.
fn bank_date(day: NaiveDate) -> String {
    let month = MONTHS
        .get(day.month0() as usize)
        .copied()
        .unwrap_or_default();
    format!("{:02} {month} {}", day.day(), day.year())
}
