//! The figures of one group of rows.

use crate::LEAST_ROWS;
use crate::accuracy::{Accuracy, Pair};
use crate::baselines::BaselineFigures;
use crate::intervals::Intervals;
use crate::number::{count, round};
use crate::ranges::Ranges;
use crate::row::{Baseline, Prediction, Row};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One group: a type, an area, a band of price or confidence, a month, or all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Code or short name of the group.
    pub key: String,
    /// Its name where the key is a code.
    pub name: Option<String>,
    /// Sales asked about.
    pub sales: usize,
    /// Those that the release valued.
    pub valued: usize,
    /// Those that it referred to a person.
    pub referred: usize,
    /// Those that it failed on.
    pub failed: usize,
    /// Share valued; absent below [`LEAST_ROWS`] sales.
    pub hit_rate: Option<f64>,
    /// Share referred; absent below [`LEAST_ROWS`] sales.
    pub referral_rate: Option<f64>,
    /// Number of rows for each reason of a referral or failure (`failed: ...`).
    pub reasons: BTreeMap<String, usize>,
    /// Of the values; absent below [`LEAST_ROWS`] of them.
    pub accuracy: Option<Accuracy>,
    /// Intervals of the accuracy; absent where that is.
    pub intervals: Option<Intervals>,
    /// Of the values with a range; absent below [`LEAST_ROWS`] of them.
    pub ranges: Option<Ranges>,
    /// One for each of [`Baseline::ALL`].
    #[serde(rename = "floors")]
    pub baselines: Vec<BaselineFigures>,
}

impl Group {
    /// Returns the figures of these rows, whose ranges are meant to hold `nominal` of prices.
    pub fn of(key: &str, name: Option<&str>, rows: &[&Row], nominal: f64) -> Group {
        let mut reasons = BTreeMap::<String, usize>::new();
        let (mut referred, mut failed) = (0, 0);
        let mut values = Vec::new();
        for row in rows {
            match &row.answer {
                Prediction::Valued { estimate, .. } => values.push(Pair {
                    price: row.price,
                    estimate: *estimate,
                }),
                Prediction::Referred(reason) => {
                    referred += 1;
                    *reasons.entry(reason.clone()).or_default() += 1;
                }
                Prediction::Failed(reason) => {
                    failed += 1;
                    *reasons.entry(format!("failed: {reason}")).or_default() += 1;
                }
            }
        }
        let rate = |part: usize| {
            (rows.len() >= LEAST_ROWS).then(|| round(count(part) / count(rows.len())))
        };
        Group {
            key: key.to_owned(),
            name: name.map(str::to_owned),
            sales: rows.len(),
            valued: values.len(),
            referred,
            failed,
            hit_rate: rate(values.len()),
            referral_rate: rate(referred),
            reasons,
            accuracy: (values.len() >= LEAST_ROWS)
                .then(|| Accuracy::of(&values))
                .flatten(),
            intervals: (values.len() >= LEAST_ROWS)
                .then(|| Intervals::of(rows))
                .flatten(),
            ranges: Ranges::of(rows, nominal).filter(|ranges| ranges.rows >= LEAST_ROWS),
            baselines: (0..Baseline::ALL.len())
                .filter_map(|at| BaselineFigures::of(at, rows))
                .collect(),
        }
    }
}
