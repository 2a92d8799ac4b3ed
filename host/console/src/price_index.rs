//! A price index, by which a page carries prices to the valuation date as the reference model does.

use domesday_registers::Day;

/// Mean length of a month in days.
const DAYS_A_MONTH: f64 = 365.2425 / 12.0;

/// An index up to one valuation date.
pub struct PriceIndex {
    /// Middle of a month, in months since the beginning of 1970, and its index.
    points: Vec<(f64, f64)>,
    now: f64,
}

impl PriceIndex {
    /// Returns the index of months since January 1970, oldest first. `None` without a usable one.
    pub fn new(months: &[(i32, f64)], valuation: Day) -> Option<PriceIndex> {
        let usable = months
            .iter()
            .filter(|(_, level)| level.is_finite() && *level > 0.0);
        // A month's figure stands for its middle.
        let points = usable.map(|(month, level)| (f64::from(*month) + 0.5, *level));
        let mut index = PriceIndex {
            points: points.collect(),
            now: 0.0,
        };
        index.now = index.level(position(valuation))?;
        Some(index)
    }

    /// Returns the factor that carries a price of a day to the valuation date. `None` for a day
    /// more than a month before the index begins.
    pub fn growth_since(&self, day: Day) -> Option<f64> {
        let at = position(day);
        let begins = self.points.first()?.0 - 1.5;
        (at >= begins).then(|| self.now / self.level(at).unwrap_or(self.now))
    }

    /// Returns the index at a time, between two months on a line. It stands still at both ends.
    fn level(&self, at: f64) -> Option<f64> {
        let after = self.points.partition_point(|(month, _)| *month <= at);
        let before = after.checked_sub(1).map(|before| self.points[before]);
        match (before, self.points.get(after)) {
            (Some((from, low)), Some((to, high))) => {
                Some(low + (high - low) * ((at - from) / (to - from)))
            }
            (Some((_, level)), None) => Some(level),
            (None, first) => first.map(|(_, level)| *level),
        }
    }
}

/// Returns a day in months of mean length since the beginning of 1970.
fn position(day: Day) -> f64 {
    f64::from(day.0) / DAYS_A_MONTH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_grows_as_the_index_on_a_line_between_the_middles_of_months() {
        let index = PriceIndex::new(&[(0, 100.0), (2, 110.0)], Day(120)).unwrap();
        let growth = |day| index.growth_since(Day(day));
        assert!((growth(0).unwrap() - 1.1).abs() < 1e-12);
        // The middle of February is half-way.
        assert!((growth(31 + 15).unwrap() - 110.0 / 105.0).abs() < 0.01);
        assert_eq!(growth(100), Some(1.0), "the index stands still at its end");
        assert_eq!(growth(-90), None);
        assert!(PriceIndex::new(&[(0, f64::NAN)], Day(0)).is_none());
    }
}
