//! The cost of rows.

use super::paired::{PairedRow, Side};
use super::sides::Sides;
use crate::number::{mean, median, quantile, round};
use serde::{Deserialize, Serialize};

/// The cost of a row, over the rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Units of fuel a row; the same on every machine.
    pub fuel: CostComparison,
    /// Microseconds a row; of this machine, in this run.
    pub micros: CostComparison,
}

/// One kind of cost of both releases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostComparison {
    /// Each release.
    pub spread: Sides<Spread>,
    /// Median over the rows of B's cost over A's; absent where A's is zero.
    pub ratio: Option<f64>,
}

/// The distribution of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// The middle.
    pub median: f64,
    /// The mean.
    pub mean: f64,
    /// The first decile.
    pub tenth: f64,
    /// The last decile.
    pub ninetieth: f64,
    /// The dearest row.
    pub most: f64,
}

impl Cost {
    /// Returns the cost of all rows, also of those without a value, or `None` of an empty list.
    pub fn of(rows: &[&PairedRow]) -> Option<Cost> {
        Some(Cost {
            fuel: compare(rows, |side| side.fuel as f64)?,
            micros: compare(rows, |side| side.micros)?,
        })
    }
}

fn compare(rows: &[&PairedRow], of: impl Fn(&Side) -> f64) -> Option<CostComparison> {
    let costs = rows.iter().map(|row| row.sides.each().map(&of));
    let ratios = costs.clone().filter(|cost| cost.a > 0.0);
    let ratios = ratios.map(|cost| cost.b / cost.a);
    Some(CostComparison {
        spread: Sides {
            a: spread(costs.clone().map(|cost| cost.a).collect())?,
            b: spread(costs.map(|cost| cost.b).collect())?,
        },
        ratio: median(ratios.collect()).map(round),
    })
}

fn spread(mut costs: Vec<f64>) -> Option<Spread> {
    costs.sort_unstable_by(f64::total_cmp);
    Some(Spread {
        median: round(median(costs.clone())?),
        mean: round(mean(&costs)?),
        tenth: round(quantile(&costs, 0.1)?),
        ninetieth: round(quantile(&costs, 0.9)?),
        most: round(*costs.last()?),
    })
}
