//! `development_deliveries`: new homes that were delivered in developments.
//!
//! No register names developments. First sales of new homes in one postcode of one authority form a
//! development where each follows the last by at most 180 days. A development has two or more
//! within the window.

use super::super::sales::Delivery;
use super::{AuthorityData, Line, Month, Point, YEAR};
use std::ops::Range;

const DATASET: &str = "development_deliveries";
const RULE: &str = "A development is two or more first sales of new homes in one postcode, each at most 180 days after \
                    the one before, in the twelve months that end with the period.";

/// Days after which the next sale in a postcode begins another development.
const GAP_DAYS: i32 = 180;
/// Fewest homes of a development, and of a major one as planning law counts them.
const FEWEST_HOMES: u32 = 2;
const MAJOR: u32 = 10;

/// The counts of a window.
#[derive(Clone, Copy, Default)]
struct DevelopmentCounts {
    developments: u64,
    homes: u64,
    in_major: u64,
}

pub(super) fn lines(authority: &AuthorityData<'_>) -> Vec<Line> {
    let counted = count(authority);
    let line = |metric, about: &str, point: fn(DevelopmentCounts) -> Point| {
        Line::new(DATASET, metric, YEAR, &format!("{about} {RULE}")).fill(
            authority.months,
            YEAR,
            |end| point(counted[end]),
        )
    };
    vec![
        line("developments_count", "Developments with deliveries.", |c| {
            Point::Value(c.developments as f64)
        }),
        line(
            "deliveries_count",
            "New homes delivered in developments.",
            |c| Point::Value(c.homes as f64),
        ),
        line(
            "homes_per_development",
            "New homes delivered in developments over developments.",
            |c| Point::of_at_least(1, c.developments, || c.homes as f64 / c.developments as f64),
        ),
        line(
            "major_development_share_pct",
            "Homes of developments of ten or more homes over homes of all developments, times 100.",
            |c| Point::share(c.in_major, c.homes),
        ),
    ]
}

/// Counts the developments for every covered month as a window's end.
fn count(authority: &AuthorityData<'_>) -> Vec<DevelopmentCounts> {
    let months = authority.months.map_or(0, super::Span::len);
    let runs = runs(authority.deliveries);
    // Homes that enter and leave the window with each month, by run.
    let mut entering: Vec<Vec<usize>> = vec![Vec::new(); months];
    for (run, homes) in runs.iter().enumerate() {
        for home in &authority.deliveries[homes.clone()] {
            if let Some(at) = authority.position(Month(home.day.month())) {
                entering[at].push(run);
            }
        }
    }
    let mut sizes = vec![0_u32; runs.len()];
    let mut counted = DevelopmentCounts::default();
    let mut all = Vec::with_capacity(months);
    for end in 0..months {
        for run in &entering[end] {
            counted.resize(&mut sizes[*run], 1);
        }
        if let Some(left) = end.checked_sub(YEAR as usize) {
            for run in &entering[left] {
                counted.resize(&mut sizes[*run], -1);
            }
        }
        all.push(counted);
    }
    all
}

impl DevelopmentCounts {
    /// Changes the size of one run by one home.
    fn resize(&mut self, size: &mut u32, by: i32) {
        let (before, after) = (*size, size.saturating_add_signed(by));
        *size = after;
        let homes = |size: u32, fewest: u32| u64::from(if size < fewest { 0 } else { size });
        let runs = |size: u32| u64::from(size >= FEWEST_HOMES);
        self.developments = self.developments + runs(after) - runs(before);
        self.homes = self.homes + homes(after, FEWEST_HOMES) - homes(before, FEWEST_HOMES);
        self.in_major = self.in_major + homes(after, MAJOR) - homes(before, MAJOR);
    }
}

/// Returns the runs of deliveries in one postcode without a gap, as ranges of the sorted list.
fn runs(deliveries: &[Delivery]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut from = 0;
    for run in deliveries.chunk_by(|a, b| a.postcode == b.postcode && b.day.0 - a.day.0 <= GAP_DAYS)
    {
        let upto = from + run.len();
        if run.first().is_some_and(|home| home.postcode != 0) {
            runs.push(from..upto);
        }
        from = upto;
    }
    runs
}
