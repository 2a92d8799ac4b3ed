//! The months whose entries of used units stay.

use crate::Month;

/// Returns the first month whose entries stay, if the latest months with entries leave any to
/// remove.
///
/// The clock alone does not decide, since one that is years ahead would empty the ledger. What its
/// host charges adds a single month to the `latest`.
pub fn first_month_kept(now: Month, months: u32, latest: &[Month]) -> Option<Month> {
    let oldest = latest.get(usize::try_from(months).ok()?)?;
    Some(now.minus(months).min(*oldest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the months from `first` back, each a month before the one before it.
    fn months_from(first: &str, count: u32) -> Vec<Month> {
        let first = month(first);
        (0..count).map(|earlier| first.minus(earlier)).collect()
    }

    fn month(text: &str) -> Month {
        text.parse().unwrap()
    }

    #[test]
    fn the_entries_of_the_current_month_and_of_those_before_it_stay() {
        let latest = months_from("2026-11", 4);
        let kept = first_month_kept(month("2026-11"), 2, &latest);
        assert_eq!(kept, Some(month("2026-09")));
        // The month began, and nobody has used a unit.
        let kept = first_month_kept(month("2026-12"), 2, &latest);
        assert_eq!(kept, Some(month("2026-09")));
    }

    #[test]
    fn a_wrong_clock_removes_no_month_of_the_latest() {
        let latest = months_from("2026-11", 4);
        // No clock is right about a month that is years away.
        let ahead = first_month_kept(month("2040-01"), 2, &latest);
        assert_eq!(ahead, Some(month("2026-09")));
        // Its host has charged since.
        let charged = [vec![month("2040-01")], latest.clone()].concat();
        let ahead = first_month_kept(month("2040-01"), 2, &charged);
        assert_eq!(ahead, Some(month("2026-10")));
        let behind = first_month_kept(month("1970-01"), 2, &latest);
        assert_eq!(behind, Some(month("1969-11")));
    }

    #[test]
    fn a_ledger_of_few_months_loses_none() {
        for count in 0..=2 {
            let latest = months_from("2026-11", count);
            assert_eq!(
                first_month_kept(month("2040-01"), 2, &latest),
                None,
                "{count}"
            );
        }
    }
}
