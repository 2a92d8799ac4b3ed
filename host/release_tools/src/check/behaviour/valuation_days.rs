//! The days on which homes are valued: those of a release's window, and some before it.

use crate::sampling;
use domesday_registers::Day;

/// Days at most, so that a window of ten years costs no more than one of two.
const MOST_DAYS: usize = 80;
/// Days after the first of a month. They keep no calendar's habit, so that a change on any day of a
/// week or a quarter lies between two days of the list.
const WITHIN_MONTHS: [i32; 3] = [0, 9, 19];

/// Days before the window that are valued too. They begin where the back-test has many sales, so
/// that a release which changes after the last of them is seen.
const LEAD_DAYS: i32 = 60;
/// Days between two of them.
const LEAD_STEP: usize = 10;
/// Days between the latest sale and the window above which they begin near the window instead.
const MOST_GAP: i32 = 120;

/// Returns days before the window, in order, the last of them the day before it. They begin two
/// months before the latest sale, where the back-test judged the release. Returns none where the
/// snapshot has no sale.
pub fn days_before(first: Day, latest_sale: Option<Day>) -> Vec<Day> {
    let Some(latest) = latest_sale else {
        return Vec::new();
    };
    let last = Day(first.0 - 1);
    let gap = last.0.saturating_sub(latest.0);
    let judged = if (0..=MOST_GAP).contains(&gap) {
        latest
    } else {
        last
    };
    let mut days: Vec<Day> = (judged.0 - LEAD_DAYS..last.0)
        .step_by(LEAD_STEP)
        .map(Day)
        .collect();
    days.push(last);
    days
}

/// Returns the window's first and last day, each month's first and two days between, in order. Of
/// more than [`MOST_DAYS`] an even part is returned, always with the first and the last.
pub fn days((first, last): (Day, Day)) -> Vec<Day> {
    let firsts = (first.month()..=last.month()).filter_map(Day::first_of_month);
    let mut days: Vec<Day> = firsts
        .flat_map(|day| WITHIN_MONTHS.map(|after| Day(day.0 + after)))
        .filter(|day| first < *day && *day < last)
        .collect();
    let every = sampling::step(days.len(), MOST_DAYS - 2);
    days = days.into_iter().step_by(every).collect();
    days.insert(0, first);
    if first < last {
        days.push(last);
    }
    days
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        Day::parse_iso(text).unwrap()
    }

    #[test]
    fn both_ends_each_months_first_and_two_days_between_are_valued() {
        let found = days((day("2026-10-01"), day("2026-12-31"))).into_iter();
        let texts: Vec<String> = found.map(|day| day.to_string()).collect();
        assert_eq!(
            texts,
            [
                "2026-10-01",
                "2026-10-10",
                "2026-10-20",
                "2026-11-01",
                "2026-11-10",
                "2026-11-20",
                "2026-12-01",
                "2026-12-10",
                "2026-12-20",
                "2026-12-31"
            ]
        );
        let one = day("2026-10-01");
        assert_eq!(days((one, one)), [one]);
    }

    #[test]
    fn days_before_the_window_reach_from_the_back_test_to_the_day_before() {
        let first = day("2026-10-01");
        let ends = |latest: &str| {
            let found = days_before(first, Some(day(latest)));
            assert!(found.is_sorted_by(|a, b| a < b), "{found:?}");
            assert!(found.windows(2).all(|pair| pair[1].0 - pair[0].0 <= 10));
            let [begin, .., end] = found[..] else {
                panic!("{found:?}");
            };
            assert_eq!(end, day("2026-09-30"));
            begin
        };
        assert_eq!(ends("2026-09-30"), day("2026-08-01"));
        assert_eq!(ends("2026-07-31"), day("2026-06-01"));
        // Sales that end years before, or after the window's first day.
        assert_eq!(ends("2020-01-01"), day("2026-08-01"));
        assert_eq!(ends("2026-12-31"), day("2026-08-01"));
        assert!(days_before(first, None).is_empty());
    }

    #[test]
    fn a_window_of_ten_years_keeps_its_ends_and_the_bound() {
        let ends = (day("2020-01-01"), day("2029-12-31"));
        let found = days(ends);
        assert!(found.len() <= MOST_DAYS && found.len() > MOST_DAYS / 2);
        assert_eq!((found[0], found[found.len() - 1]), ends);
        assert!(found.is_sorted_by(|a, b| a < b));
    }
}
