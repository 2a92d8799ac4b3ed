//! Carrying a price from the day of its sale to the valuation day by the house price index.

use crate::parameters::EvidenceParameters;
use domesday_sdk::{Day, IndexPoint, Month, Subject};

/// Mean length of a year in days.
pub const DAYS_A_YEAR: f64 = 365.2425;

/// Years from one day to a later one; negative where it is earlier.
pub fn years_between(earlier: Day, later: Day) -> f64 {
    (f64::from(later) - f64::from(earlier)) / DAYS_A_YEAR
}

/// The earliest day on which a comparable may have been sold.
pub fn earliest(valuation_day: Day, evidence: &EvidenceParameters) -> Day {
    // Bounds on `years` keep the product far inside an i32.
    valuation_day.saturating_sub((evidence.years * DAYS_A_YEAR) as Day)
}

/// Years before the valuation day of which the snapshot can hold no sale. Where it holds no sale at
/// all, the whole window of the search.
pub fn years_unseen(subject: &Subject, evidence: &EvidenceParameters) -> f64 {
    subject.evidence_through.map_or(evidence.years, |through| {
        // The valuation day itself is never evidence.
        years_between(through.saturating_add(1), subject.valuation_day).max(0.0)
    })
}

/// The month that holds a day, and how far the day is into it, from 0 to 1.
///
/// Proleptic Gregorian calendar, counted in years that begin in March, so that the leap day is
/// the last of its year.
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
    // A month is taken as 31 days long: what matters is only that time runs on.
    (month as Month, (day_of_month as f64) / 31.0)
}

/// A price index ready to be asked for ratios.
pub struct Index {
    /// Month, counted at its middle, and the index; months rising.
    points: Vec<(f64, f64)>,
    /// The index on the valuation day.
    now: f64,
}

impl Index {
    /// Prepares a series for one valuation day. None where no point of it can be used.
    pub fn new(points: &[IndexPoint], valuation_day: Day) -> Option<Index> {
        let mut usable: Vec<(f64, f64)> = points
            .iter()
            .filter(|p| p.value.is_finite() && p.value > 0.0)
            // A month's figure is taken as that of its middle.
            .map(|p| (f64::from(p.month) + 0.5, p.value))
            .collect();
        // As the interface promises; what it does not keep to still gives one index.
        if !usable.is_sorted_by(|a, b| a.0 < b.0) {
            usable.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
            usable.dedup_by(|a, b| a.0 == b.0);
        }
        let mut index = Index {
            points: usable,
            now: 0.0,
        };
        index.now = index.at(instant(valuation_day))?;
        Some(index)
    }

    /// The index at a point in time counted in months: on the straight line between the middles of months,
    /// level before the first and after the last, which the register's delay makes the ordinary
    /// case for the newest sales.
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

    /// What to multiply a price of that day by to carry it to the valuation day.
    /// None for a day more than a month before the series begins.
    pub fn growth_since(&self, day: Day) -> Option<f64> {
        let at = instant(day);
        if at < self.points.first()?.0 - 1.5 {
            return None;
        }
        Some(self.now / self.at(at)?)
    }

    /// The same from a point in time counted in months, 0 being the beginning of 1970.
    pub fn growth_since_month(&self, at: f64) -> f64 {
        self.at(at).map_or(1.0, |then| self.now / then)
    }
}

/// Mean length of a month in days.
const DAYS_A_MONTH: f64 = DAYS_A_YEAR / 12.0;

/// A day as a point in time counted in months of one mean length. No month's middle is further than
/// two days from where the calendar has it, in which an index moves by less than a thousandth.
fn instant(day: Day) -> f64 {
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
        let index = Index::new(&[point(0, 100.0), point(2, 110.0)], 120).unwrap();
        assert!((index.growth_since(0).unwrap() - 1.1).abs() < 1e-12);
        // Middle of February is half-way.
        let half = index.growth_since(31 + 15).unwrap();
        assert!((half - 110.0 / 105.0).abs() < 0.01, "{half}");
        // After the last point the index stands still.
        assert_eq!(index.growth_since(100), Some(1.0));
        // Long before the first it is not known.
        assert_eq!(index.growth_since(-90), None);
    }

    #[test]
    fn what_is_unseen_begins_after_the_last_known_day() {
        let evidence = &crate::PARAMETERS.evidence;
        let mut subject = crate::testing::subject();
        assert_eq!(years_unseen(&subject, evidence), 0.0);
        subject.evidence_through = Some(subject.valuation_day - 1 - 457);
        assert!((years_unseen(&subject, evidence) - 1.25).abs() < 0.002);
        subject.evidence_through = Some(Day::MAX);
        assert_eq!(years_unseen(&subject, evidence), 0.0);
        subject.evidence_through = None;
        assert_eq!(years_unseen(&subject, evidence), evidence.years);
    }

    #[test]
    fn useless_points_make_no_index() {
        assert!(Index::new(&[], 0).is_none());
        assert!(Index::new(&[point(0, f64::NAN), point(1, -3.0)], 0).is_none());
    }
}
