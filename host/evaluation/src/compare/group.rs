//! The figures of one group of rows.

use super::change::Change;
use super::paired::{ComparedOutcome, PairedRow, Status};
use super::sides::Sides;
use crate::LEAST_ROWS;
use crate::accuracy::{Accuracy, Pair, nearer};
use crate::number::{median, round};
use crate::ranges::{RangedEstimate, Ranges};
use serde::{Deserialize, Serialize};

/// One group: a type, an area, a band of value or confidence, or all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Code or short name of the group.
    pub key: String,
    /// Its name where the key is a code.
    pub name: Option<String>,
    /// Rows.
    pub rows: usize,
    /// Rows that each release values.
    pub valued: Sides<usize>,
    /// Rows that change status.
    pub flips: usize,
    /// The change of the rows that both value; absent without any.
    pub change: Option<Change>,
    /// Accuracy against the price paid, on the rows that both value; absent below [`LEAST_ROWS`]
    /// known prices.
    pub accuracy: Option<Nearness>,
    /// The coverage of the ranges, on the rows where both give one; absent below [`LEAST_ROWS`]
    /// known prices.
    pub ranges: Option<Sides<Ranges>>,
    /// Rows where both give a range.
    pub ranged: usize,
    /// The median of (upper - lower) / estimate on those rows; absent without any.
    pub width: Option<Sides<f64>>,
}

/// The accuracy of each release against the prices of the same rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nearness {
    /// Each release.
    pub accuracy: Sides<Accuracy>,
    /// Share of the rows on which B is nearer to the price than A; half of those where both are
    /// equally near count.
    pub b_nearer: f64,
    /// The 95 % interval of that share by postcode, from the rows that differ. If it contains one
    /// half, the sample does not decide.
    pub interval: [f64; 2],
}

impl Group {
    /// Returns the figures of these rows. `nominal` is the nominal coverage of each release's
    /// ranges.
    pub fn of(key: &str, name: Option<&str>, rows: &[&PairedRow], nominal: Sides<f64>) -> Group {
        let valued = |of: &dyn Fn(&Sides<Status>) -> Status| {
            let statuses = rows
                .iter()
                .map(|row| row.outcomes().map(ComparedOutcome::status));
            statuses
                .filter(|status| of(status) == Status::Valued)
                .count()
        };
        let ranged: Vec<Sides<RangedEstimate<'_>>> = rows
            .iter()
            .filter_map(|row| ranged_estimates(row))
            .collect();
        Group {
            key: key.to_owned(),
            name: name.map(str::to_owned),
            rows: rows.len(),
            valued: Sides {
                a: valued(&|status| status.a),
                b: valued(&|status| status.b),
            },
            flips: rows.iter().filter(|row| row.is_flipped()).count(),
            change: Change::of(rows),
            accuracy: Nearness::of(rows),
            ranges: ranges(&ranged, nominal),
            ranged: ranged.len(),
            width: width(&ranged),
        }
    }
}

impl Nearness {
    fn of(rows: &[&PairedRow]) -> Option<Nearness> {
        let (mut a, mut b, mut clusters) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            if let (Some(price), Some(estimates)) = (row.price, row.estimates()) {
                let pair = |estimate| Pair { price, estimate };
                a.push(pair(estimates.a));
                b.push(pair(estimates.b));
                clusters.push(row.cluster());
            }
        }
        if a.len() < LEAST_ROWS {
            return None;
        }
        let (b_nearer, interval) = nearer(&b, &a, Some(&clusters))?;
        let accuracy = Sides { a, b }.map(|pairs| Accuracy::of(&pairs)).both()?;
        Some(Nearness {
            accuracy,
            b_nearer,
            interval,
        })
    }

    /// Returns whether the sample tells which is nearer, and then whether it is B.
    pub fn b_wins(&self) -> Option<bool> {
        let [low, high] = self.interval;
        match (low > 0.5, high < 0.5) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }
}

/// Returns a row if both give a range and the price is known.
fn ranged_estimates(row: &PairedRow) -> Option<Sides<RangedEstimate<'_>>> {
    let price = row.price.unwrap_or(f64::NAN);
    let both = row
        .outcomes()
        .map(ComparedOutcome::estimate_with_range)
        .both()?;
    Some(both.map(|(estimate, range)| RangedEstimate {
        postcode: row.cluster(),
        price,
        estimate,
        range,
    }))
}

fn ranges(rows: &[Sides<RangedEstimate<'_>>], nominal: Sides<f64>) -> Option<Sides<Ranges>> {
    let priced: Vec<&Sides<RangedEstimate<'_>>> =
        rows.iter().filter(|row| !row.a.price.is_nan()).collect();
    if priced.len() < LEAST_ROWS {
        return None;
    }
    let (a, b): (Vec<RangedEstimate<'_>>, Vec<RangedEstimate<'_>>) =
        priced.iter().map(|row| (row.a, row.b)).unzip();
    Sides {
        a: Ranges::of_ranged(&a, nominal.a),
        b: Ranges::of_ranged(&b, nominal.b),
    }
    .both()
}

fn width(rows: &[Sides<RangedEstimate<'_>>]) -> Option<Sides<f64>> {
    Sides {
        a: median(rows.iter().map(|row| row.a.width()).collect()).map(round),
        b: median(rows.iter().map(|row| row.b.width()).collect()).map(round),
    }
    .both()
}
