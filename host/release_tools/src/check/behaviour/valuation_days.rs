//! The days of a release's window on which homes are valued.

use crate::sampling;
use domesday_registers::Day;

/// Days at most, so that a window of ten years costs no more than one of two.
const MOST_DAYS: usize = 80;
/// Days after the first of a month. They keep no calendar's habit, so that a change on any day of a
/// week or a quarter lies between two days of the list.
const WITHIN_MONTHS: [i32; 3] = [0, 9, 19];

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
    fn a_window_of_ten_years_keeps_its_ends_and_the_bound() {
        let ends = (day("2020-01-01"), day("2029-12-31"));
        let found = days(ends);
        assert!(found.len() <= MOST_DAYS && found.len() > MOST_DAYS / 2);
        assert_eq!((found[0], found[found.len() - 1]), ends);
        assert!(found.is_sorted_by(|a, b| a < b));
    }
}
