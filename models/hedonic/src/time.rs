//! The house price index, which carries a price from its sale to the valuation day.

use crate::parameters::EvidenceParameters;
use domesday_sdk::{Day, IndexPoint, Month, Subject};

/// Mean length of a year in days.
pub const DAYS_A_YEAR: f64 = 365.2425;

/// Returns the years from one day to another, negative if the second is earlier.
pub fn years_between(earlier: Day, later: Day) -> f64 {
    (f64::from(later) - f64::from(earlier)) / DAYS_A_YEAR
}

/// Returns the earliest day of sale that comparables are searched from.
pub fn earliest_sale_day(valuation_day: Day, evidence: &EvidenceParameters) -> Day {
    // Bounds on `years` keep the product far inside an i32.
    valuation_day.saturating_sub((evidence.years * DAYS_A_YEAR) as Day)
}

/// Returns the years before the valuation day without evidence. If the snapshot holds no sale, that
/// is the whole search window.
pub fn years_without_evidence(subject: &Subject, evidence: &EvidenceParameters) -> f64 {
    subject.evidence_through.map_or(evidence.years, |through| {
        // The valuation day itself is never evidence.
        years_between(through.saturating_add(1), subject.valuation_day).max(0.0)
    })
}

/// Returns the month of a day and the position of the day within it, from 0 to 1.
///
/// Uses the proleptic Gregorian calendar with years from March, so that the leap day comes last.
pub fn month_of(day: Day) -> (Month, f64) {
    let shifted = i64::from(day) + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * march_month + 2) / 5;
    // March of year 0 is 1,970 years less two months before 1970-01.
    let month = (era * 400 + year_of_era) * 12 + march_month + 2 - 1_970 * 12;
    // The position assumes months of 31 days: only its order matters.
    (month as Month, (day_of_month as f64) / 31.0)
}

/// A price index for ratios to one valuation day.
pub struct PriceIndex {
    /// Middle of a month and its index, by increasing month.
    points: Vec<(f64, f64)>,
    /// Index on the valuation day.
    now: f64,
}

impl PriceIndex {
    /// Prepares a series for one valuation day. Returns `None` if it has no usable point.
    pub fn new(points: &[IndexPoint], valuation_day: Day) -> Option<PriceIndex> {
        let mut usable: Vec<(f64, f64)> = points
            .iter()
            .filter(|p| p.value.is_finite() && p.value > 0.0)
            // A month's figure stands for its middle.
            .map(|p| (f64::from(p.month) + 0.5, p.value))
            .collect();
        // The interface promises this order. A series that breaks the promise still gives one
        // index.
        if !usable.is_sorted_by(|a, b| a.0 < b.0) {
            usable.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
            usable.dedup_by(|a, b| a.0 == b.0);
        }
        let mut index = PriceIndex {
            points: usable,
            now: 0.0,
        };
        index.now = index.at(month_position(valuation_day))?;
        Some(index)
    }

    /// Interpolates the index linearly at a time counted in months. It is constant before the first
    /// and after the last month, where the newest sales lie because the register lags.
    fn at(&self, at: f64) -> Option<f64> {
        let after = self.points.partition_point(|p| p.0 <= at);
        match (
            after.checked_sub(1).map(|i| self.points[i]),
            self.points.get(after),
        ) {
            (Some((m0, v0)), Some(&(m1, v1))) => Some(v0 + (v1 - v0) * ((at - m0) / (m1 - m0))),
            (Some((_, v)), None) | (None, Some(&(_, v))) => Some(v),
            (None, None) => None,
        }
    }

    /// Returns the factor that carries a price of a day to the valuation day. Returns `None` for a
    /// day more than a month before the series begins.
    pub fn growth_since(&self, day: Day) -> Option<f64> {
        let at = month_position(day);
        if at < self.points.first()?.0 - 1.5 {
            return None;
        }
        Some(self.now / self.at(at)?)
    }

    /// Returns the same factor for a time counted in months since the beginning of 1970.
    pub fn growth_since_month(&self, at: f64) -> f64 {
        self.at(at).map_or(1.0, |then| self.now / then)
    }
}

/// Mean length of a month in days.
const DAYS_A_MONTH: f64 = DAYS_A_YEAR / 12.0;

/// Returns a day as a time in months of mean length. A month's middle is then at most two days off,
/// which moves an index by less than a thousandth.
fn month_position(day: Day) -> f64 {
    f64::from(day) / DAYS_A_MONTH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_of_known_days() {
        assert_eq!(month_of(0), (0, 0.0));
        assert_eq!(month_of(30).0, 0);
        assert_eq!(month_of(31), (1, 0.0));
        assert_eq!(month_of(-1).0, -1);
        // 2024-02-29 and 2024-03-01
        assert_eq!(month_of(19_782).0, 54 * 12 + 1);
        assert_eq!(month_of(19_783), (54 * 12 + 2, 0.0));
        assert_eq!(month_of(i32::MIN).0, month_of(i32::MIN + 1).0);
    }

    fn point(month: Month, value: f64) -> IndexPoint {
        IndexPoint { month, value }
    }

    #[test]
    fn growth_is_the_ratio_of_the_index() {
        // Level 100 in 1970-01, 110 in 1970-03, nothing in between.
        let index = PriceIndex::new(&[point(0, 100.0), point(2, 110.0)], 120).unwrap();
        assert!((index.growth_since(0).unwrap() - 1.1).abs() < 1e-12);
        // Middle of February is half-way.
        let half = index.growth_since(31 + 15).unwrap();
        assert!((half - 110.0 / 105.0).abs() < 0.01, "{half}");
        // After the last point the index stands still.
        assert_eq!(index.growth_since(100), Some(1.0));
        // Long before the first point the index is unknown.
        assert_eq!(index.growth_since(-90), None);
    }

    #[test]
    fn years_without_evidence_start_after_the_last_known_day() {
        let evidence = &crate::PARAMETERS.evidence;
        let mut subject = crate::testing::subject();
        assert_eq!(years_without_evidence(&subject, evidence), 0.0);
        subject.evidence_through = Some(subject.valuation_day - 1 - 457);
        assert!((years_without_evidence(&subject, evidence) - 1.25).abs() < 0.002);
        subject.evidence_through = Some(Day::MAX);
        assert_eq!(years_without_evidence(&subject, evidence), 0.0);
        subject.evidence_through = None;
        assert_eq!(years_without_evidence(&subject, evidence), evidence.years);
    }

    #[test]
    fn useless_points_make_no_index() {
        assert!(PriceIndex::new(&[], 0).is_none());
        assert!(PriceIndex::new(&[point(0, f64::NAN), point(1, -3.0)], 0).is_none());
    }
}
