//! The metrics of one authority: from its sales, rents and index to points by month.
//!
//! Every sum of prices, areas and counts is a whole number. It is exact in any order of adding. A
//! ratio is one division of two such sums.

mod activity;
mod bands;
mod deliveries;
mod developments;
mod differential;
mod rental;
mod share;

use super::areas::Area;
use super::month::{Month, Span};
use super::rents::Rents;
use super::sales::{Delivery, Sale};
use crate::catalogue::SelectorName;
use crate::store::Windows;
use std::collections::BTreeMap;

/// Fewest sales behind a sum or mean of prices.
pub(crate) const FEWEST_SALES: u64 = 5;
/// Fewest sales with a floor area behind a price per square metre.
pub(crate) const FEWEST_MEASURED: u64 = 10;
/// Fewest sales of either side behind a differential.
pub(crate) const FEWEST_DIFFERENTIAL: u64 = 30;
/// Months of most windows.
pub(crate) const YEAR: u32 = 12;

/// The figure of a month.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Point {
    /// This.
    Value(f64),
    /// Nothing, since too few sales lie behind it.
    Suppressed,
    /// Nothing, since there is nothing to say it from.
    Missing,
}

impl Point {
    /// Returns a mean, unless there are no sales or too few.
    fn of_at_least(fewest: u64, count: u64, value: impl FnOnce() -> f64) -> Point {
        match count {
            0 => Point::Missing,
            count if count < fewest => Point::Suppressed,
            _ => Point::Value(value()),
        }
    }

    /// Returns a part of a whole, per cent.
    fn share(part: u64, whole: u64) -> Point {
        Point::of_at_least(1, whole, || 100.0 * part as f64 / whole as f64)
    }
}

/// The inputs behind a rental observation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inputs {
    /// Month of the rent.
    pub(crate) rental: Option<Month>,
    /// Month of the capital value.
    pub(crate) capital: Option<Month>,
}

/// One series: its points and where they belong.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) dataset: &'static str,
    pub(crate) metric: &'static str,
    /// Selectors besides the area.
    pub(crate) selectors: Vec<(SelectorName, &'static str)>,
    pub(crate) windows: Windows,
    /// The rule, in a sentence.
    pub(crate) method: String,
    pub(crate) points: Vec<(Month, Point, Inputs)>,
}

impl Line {
    fn new(dataset: &'static str, metric: &'static str, window: u32, method: &str) -> Line {
        Line {
            dataset,
            metric,
            selectors: Vec::new(),
            windows: Windows {
                window_months: Some(window),
                ..Windows::default()
            },
            method: method.to_owned(),
            points: Vec::new(),
        }
    }

    fn select(mut self, name: SelectorName, value: &'static str) -> Line {
        self.selectors.push((name, value));
        self
    }

    /// Adds a point for every full window of the covered months. `point` gets the position of the
    /// window's end among them.
    fn fill(
        mut self,
        months: Option<Span>,
        window: u32,
        mut point: impl FnMut(usize) -> Point,
    ) -> Line {
        if let Some(span) = months {
            self.points = span
                .ends(window)
                .filter_map(|end| Some((end, point(span.position(end)?), Inputs::default())))
                .collect();
        }
        self
    }
}

/// The inputs of one authority.
pub(crate) struct AuthorityData<'a> {
    pub(crate) number: super::areas::AreaNumber,
    pub(crate) area: &'a Area,
    /// Covered months; `None` where it has none.
    pub(crate) months: Option<Span>,
    pub(crate) sales: &'a [Sale],
    pub(crate) deliveries: &'a [Delivery],
    /// Its price index: code and months.
    pub(crate) index: Option<(&'a str, &'a BTreeMap<Month, f64>)>,
    pub(crate) rents: &'a Rents,
}

impl AuthorityData<'_> {
    /// Returns the position of a month among those covered.
    fn position(&self, month: Month) -> Option<usize> {
        self.months?.position(month)
    }

    /// Returns a sum for every covered month.
    fn monthly<T>(
        &self,
        of: &[T],
        month: impl Fn(&T) -> Month,
        amount: impl Fn(&T) -> u64,
    ) -> Sums {
        let mut months = vec![0; self.months.map_or(0, Span::len)];
        for one in of {
            if let Some(at) = self.position(month(one)) {
                months[at] += amount(one);
            }
        }
        Sums::new(&months)
    }
}

/// Returns all series of one authority.
pub(crate) fn all(authority: &AuthorityData<'_>) -> Vec<Line> {
    let mut lines = activity::lines(authority);
    lines.extend(bands::lines(authority));
    lines.extend(rental::lines(authority));
    lines.extend(differential::lines(authority));
    lines.extend(deliveries::lines(authority));
    lines.extend(share::lines(authority));
    lines.extend(developments::lines(authority));
    lines
}

/// Cumulative sums from the first covered month on. The sum of a window is one subtraction.
struct Sums(Vec<u64>);

impl Sums {
    fn new(months: &[u64]) -> Sums {
        let mut sums = Vec::with_capacity(months.len() + 1);
        let mut sum = 0;
        sums.push(sum);
        for month in months {
            sum += month;
            sums.push(sum);
        }
        Sums(sums)
    }

    /// Returns the sum of the window of `months` that ends at this position.
    fn window(&self, end: usize, months: u32) -> u64 {
        let upto = self.0.get(end + 1).copied().unwrap_or(0);
        let from = (end + 1).saturating_sub(months as usize);
        upto - self.0.get(from).copied().unwrap_or(0)
    }
}

/// Returns whether a sale belongs to a type, by its index in [`super::sales::TYPES`].
fn is_type(sale: &Sale, type_index: usize) -> bool {
    type_index == 0 || sale.dwelling.type_index() == type_index
}

#[cfg(test)]
mod tests;
