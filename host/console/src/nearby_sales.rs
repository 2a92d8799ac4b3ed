//! The sales near a home, as a chart.

use crate::chart::{ChartSeries, Interval, intervals};
use crate::number::pounds;
use domesday_registers::Day;
use maud::Markup;

/// Sales that are drawn, at most.
pub const MOST_SALES: usize = 400;
/// The largest distance of a sale nearby, metres.
pub const RADIUS_M: u32 = 1_000;
/// The longest time from a sale nearby to the valuation day, days: five years.
pub const LONGEST_DAYS: i32 = 5 * 365;

/// The days and prices of the sales near a home, the newest first.
#[derive(Debug, Default)]
pub struct NearbySales {
    sales: Vec<(Day, u64)>,
    /// True if there are older sales, which are not drawn.
    is_cut: bool,
}

impl NearbySales {
    /// Returns the sales of a search, the newest first. One that finds more than [`MOST_SALES`]
    /// shows that those are not all.
    pub fn new(mut sales: Vec<(Day, u64)>) -> NearbySales {
        let is_cut = sales.len() > MOST_SALES;
        sales.truncate(MOST_SALES);
        NearbySales { sales, is_cut }
    }

    /// Reports whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sales.is_empty()
    }

    /// Returns a chart of the sales beside the day and the pounds of an estimate.
    pub fn chart(&self, estimate: Option<(Day, u64)>) -> Markup {
        let sales = self.sales.iter().rev();
        let estimate = estimate.into_iter();
        let series = [
            ChartSeries {
                name: self.name(),
                intervals: sales
                    .map(|(day, price)| point(*day, *price, "sold"))
                    .collect(),
            },
            ChartSeries {
                name: "This estimate".to_owned(),
                intervals: estimate
                    .map(|(day, price)| point(day, price, "estimated as at"))
                    .collect(),
            },
        ];
        intervals("Sales nearby of this type, as they were paid", "£", &series)
    }

    /// Returns the number of the sales and where they lie.
    fn name(&self) -> String {
        let count = self.sales.len();
        match self.sales.last().filter(|_| self.is_cut) {
            Some((oldest, _)) => {
                format!("the newest {count} sales within {RADIUS_M} m, since {oldest}")
            }
            None => format!("{count} sales within {RADIUS_M} m, in five years"),
        }
    }
}

fn point(day: Day, price_gbp: u64, words: &str) -> Interval {
    let written = pounds(i64::try_from(price_gbp).unwrap_or(i64::MAX));
    // Prices of homes are far below the whole numbers that a double holds.
    #[allow(clippy::cast_precision_loss)]
    let value = Some(price_gbp as f64);
    Interval {
        from: day.0,
        to: day.0,
        value,
        title: format!("{words} {day}: {written}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws as many sales, one a day back from the last of July 2026.
    fn chart(count: usize) -> String {
        let last = Day::parse_iso("2026-07-31").unwrap();
        let sales = (0..).map(|days| (Day(last.0 - days), 200_000));
        let sales = NearbySales::new(sales.take(count).collect());
        sales.chart(Some((last, 210_000))).into_string()
    }

    #[test]
    fn a_chart_states_the_count_or_the_day_since_which_it_is_whole() {
        let all = chart(MOST_SALES);
        assert!(all.contains("400 sales within 1000 m, in five years"));
        assert!(!all.contains("newest"), "{all}");
        let cut = chart(MOST_SALES + 1);
        let words = "the newest 400 sales within 1000 m, since 2025-06-27";
        assert!(cut.contains(words), "{cut}");
        for drawn in ["sold 2025-06-27: £200,000", "estimated as at 2026-07-31"] {
            assert!(cut.contains(drawn), "{drawn}: {cut}");
        }
        assert!(!cut.contains("sold 2025-06-26"), "{cut}");
    }
}
