//! The days on which homes are valued: those of a release's window, and some before it.

use domesday_package::Sha256Digest;
use domesday_registers::Day;

/// Days of the window at most, so that one of ten years costs no more than one of two.
const MOST_DAYS: i32 = 80;
/// The least length of the parts of the window from which a day each is drawn.
const PART_DAYS: i32 = 10;
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

/// Returns the window's first and last day and, between them, a day of each part of ten days or
/// more, in order.
///
/// The days are drawn from the digest of the package's manifest. A component cannot know them,
/// since the manifest pins the component's own digest. Each part has a separate draw. Otherwise ten
/// manifests would be enough to find one whose days suit a release.
pub fn days((first, last): (Day, Day), manifest: &Sha256Digest) -> Vec<Day> {
    let mut days = vec![first];
    let parts = (0..).zip(parts(first, last));
    days.extend(parts.map(|(part, (begin, length))| Day(begin + draw(manifest, part, length))));
    if first < last {
        days.push(last);
    }
    days
}

/// Returns a day of the half of each part that the day of [`days`] is not in, in order. A part of
/// one day has no halves.
pub fn days_between((first, last): (Day, Day), manifest: &Sha256Digest) -> Vec<Day> {
    let parts = (0..).zip(parts(first, last));
    let other_half = |(part, (begin, length)): (i32, (i32, i32))| {
        let half = length / 2;
        let other = match draw(manifest, part, length) < half {
            true => (begin + half, length - half),
            false => (begin, half),
        };
        // Another number than that of any part.
        let number = MOST_DAYS + part;
        (half > 0).then(|| Day(other.0 + draw(manifest, number, other.1)))
    };
    parts.filter_map(other_half).collect()
}

/// Returns the first day and the length of each part of the days inside a window.
fn parts(first: Day, last: Day) -> impl Iterator<Item = (i32, i32)> {
    let inside = (last.0 - first.0 - 1).max(0);
    let parts = (inside / PART_DAYS).clamp(inside.min(1), MOST_DAYS - 2);
    let begin = move |part: i32| first.0 + 1 + inside * part / parts;
    (0..parts).map(move |part| (begin(part), begin(part + 1) - begin(part)))
}

/// Draws a number below `bound`, which is above 0, the same for the same digest and number of draw.
fn draw(manifest: &Sha256Digest, number: i32, bound: i32) -> i32 {
    let seed = [&manifest.as_bytes()[..], &number.to_be_bytes()].concat();
    let drawn = Sha256Digest::of(&seed);
    let [a, b, c, d, ..] = *drawn.as_bytes();
    (i32::from_be_bytes([a, b, c, d]) & i32::MAX) % bound
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn day(text: &str) -> Day {
        Day::parse_iso(text).unwrap()
    }

    fn manifest(number: u8) -> Sha256Digest {
        Sha256Digest::of(&[number])
    }

    #[test]
    fn both_ends_and_a_day_of_every_ten_between_are_valued() {
        let ends @ (first, last) = (day("2026-10-01"), day("2026-12-31"));
        let found = days(ends, &manifest(1));
        // Ninety days inside make nine parts of ten.
        assert_eq!(found.len(), 11);
        assert_eq!((found[0], found[10]), ends);
        for (part, drawn) in found[1..10].iter().enumerate() {
            let after = drawn.0 - first.0 - 1;
            assert_eq!(after / 10, part as i32, "{found:?}");
        }
        assert_eq!(days((first, first), &manifest(1)), [first]);
        let next = Day(first.0 + 1);
        assert_eq!(days((first, next), &manifest(1)), [first, next]);
        let short = days((first, Day(first.0 + 5)), &manifest(1));
        assert_eq!(short.len(), 3, "{short:?}");
        assert!(first < short[1] && short[1] < last);
    }

    /// A release that knew the days could go wrong on all others.
    #[test]
    fn another_manifest_has_other_days_and_the_same_one_has_the_same() {
        let ends = (day("2026-10-01"), day("2027-09-30"));
        let all: Vec<Vec<Day>> = (0..40).map(|at| days(ends, &manifest(at))).collect();
        assert_eq!(all[3], days(ends, &manifest(3)));
        // Each day of a part is drawn by some manifest.
        let of_first_part: BTreeSet<Day> = all.iter().map(|days| days[1]).collect();
        assert!(of_first_part.len() > 5, "{of_first_part:?}");
        // The parts do not shift together.
        let gaps: BTreeSet<i32> = all[0]
            .windows(2)
            .map(|pair| pair[1].0 - pair[0].0)
            .collect();
        assert!(gaps.len() > 3, "{gaps:?}");
    }

    /// A change of nine days holds a half of some part.
    #[test]
    fn each_half_of_each_part_has_a_day() {
        let ends @ (first, last) = (day("2026-10-01"), day("2026-12-31"));
        for number in 0..20 {
            let mut all = days(ends, &manifest(number));
            all.retain(|day| first < *day && *day < last);
            all.extend(days_between(ends, &manifest(number)));
            all.sort();
            let halves: Vec<i32> = all.iter().map(|day| (day.0 - first.0 - 1) / 5).collect();
            assert_eq!(halves, (0..18).collect::<Vec<i32>>());
        }
        assert!(days_between((first, first), &manifest(1)).is_empty());
        let two = (first, Day(first.0 + 2));
        assert!(days_between(two, &manifest(1)).is_empty());
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
        let found = days(ends, &manifest(2));
        assert_eq!(found.len(), MOST_DAYS as usize);
        assert_eq!((found[0], found[found.len() - 1]), ends);
        assert!(found.is_sorted_by(|a, b| a < b));
    }
}
