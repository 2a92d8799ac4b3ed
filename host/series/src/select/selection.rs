//! The series and observations that a query selects, and pages of them.

use std::ops::Range;

use super::Query;
use super::parameters::HORIZON;
use crate::Period;
use crate::catalogue::Latest;
use crate::store::{Release, Series};

/// The selection of a query from a release: series in order, each with a range of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    series: Vec<PageSeries>,
    observations: u64,
    notice: Option<Notice>,
}

/// One selected series and the rows of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSeries {
    /// Its place in [`Release::series`].
    pub series: usize,
    /// Rows for [`Release::observations`]; empty where no observation is selected.
    pub rows: Range<usize>,
}

/// A notice to the caller, beside the observations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// The release holds no series of the dataset.
    DatasetNotInRelease,
    /// The range reaches past the history that the release holds of one of the selected series.
    RangeExceedsHistory {
        /// The first and last period held of any of them; `None` where none is.
        history: Option<(Period, Period)>,
    },
}

/// A page of a selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Series in order; the first and last may be continued from or on another page.
    pub series: Vec<PageSeries>,
    /// The position of the next page; `None` on the last.
    pub next: Option<u64>,
}

/// Returns the selection of `query` from the release that it was checked against.
pub fn select(release: &Release, query: &Query) -> Selection {
    let words = query.words.iter().map(|(_, word)| word.as_str());
    let segment = release.segment(query.dataset, words);
    let dates = Dates::of(release, query);
    let all = release.series();
    let mut selected = Vec::new();
    let mut observations = 0;
    let mut history: Option<(Period, Period)> = None;
    let exceeds = |(first, last): (Period, Period)| {
        query.from.is_some_and(|from| from < first || from > last)
            || query.to.is_some_and(|to| to > last || to < first)
    };
    // Checked for each series by itself: a long series does not make up for a short one.
    let mut past = false;
    for number in segment {
        let series = &all[number];
        if !query.takes(series) {
            continue;
        }
        if let Some((first, last)) = series.history() {
            past |= exceeds((first, last));
            history =
                Some(history.map_or((first, last), |(from, to)| (from.min(first), to.max(last))));
        }
        let rows = dates.rows(release, series);
        observations += rows.len() as u64;
        selected.push(PageSeries {
            series: number,
            rows,
        });
    }
    past |= history.is_none() && (query.from.is_some() || query.to.is_some());
    let absent = (!release.holds(query.dataset)).then_some(Notice::DatasetNotInRelease);
    let range = past.then_some(Notice::RangeExceedsHistory { history });
    Selection {
        series: selected,
        observations,
        notice: absent.or(range),
    }
}

impl Query {
    /// Returns whether the metric and the dimensions of a series are among those asked for.
    fn takes(&self, series: &Series) -> bool {
        let horizon = series.dimension(HORIZON);
        let node = |(dimension, value): &(_, u32)| series.dimension(*dimension) == Some(*value);
        self.metrics
            .iter()
            .any(|metric| metric.id == series.metric().id)
            && self.nodes.iter().all(node)
            && self
                .horizon_from
                .is_none_or(|from| horizon.is_some_and(|at| at >= from))
            && self
                .horizon_to
                .is_none_or(|to| horizon.is_some_and(|at| at <= to))
    }
}

/// The selected periods.
enum Dates {
    /// The latest of each series.
    LatestOfEach,
    /// This range, both ends included.
    Range(Option<Period>, Option<Period>),
    /// None at all.
    Nothing,
}

impl Dates {
    fn of(release: &Release, query: &Query) -> Dates {
        match (query.from, query.to, query.dataset.latest) {
            (None, None, Latest::EachSeries) => Dates::LatestOfEach,
            // Take the snapshot of the whole dataset, not of the selected nodes: a missing node
            // must not show an older value.
            (None, None, Latest::Snapshot) => match release.latest(query.dataset) {
                Some(latest) => Dates::Range(Some(latest), Some(latest)),
                None => Dates::Nothing,
            },
            (from, to, _) => Dates::Range(from, to),
        }
    }

    fn rows(&self, release: &Release, series: &Series) -> Range<usize> {
        let rows = series.rows();
        match self {
            Dates::LatestOfEach => rows.end.saturating_sub(1).max(rows.start)..rows.end,
            Dates::Range(from, to) => release.rows(series, *from, *to),
            Dates::Nothing => rows.start..rows.start,
        }
    }
}

impl Selection {
    /// Returns all selected series, whatever the page. Coverage lists them.
    pub fn series(&self) -> &[PageSeries] {
        &self.series
    }

    /// Returns how many observations are selected over all pages.
    pub fn observations(&self) -> u64 {
        self.observations
    }

    /// Returns the notice to the caller, if any.
    pub fn notice(&self) -> Option<Notice> {
        self.notice
    }

    /// Returns the page after `position` observations, with at most `size` of them. A series
    /// without selected observations is on the page of its position in the order. A `position` past
    /// the end gives an empty last page.
    pub fn page(&self, position: u64, size: usize) -> Page {
        let end = position.saturating_add(size.max(1) as u64);
        let last = end >= self.observations;
        let mut series = Vec::new();
        let mut passed = 0_u64;
        for selected in &self.series {
            let length = selected.rows.len() as u64;
            let next = passed + length;
            let begins_here = passed >= position && (passed < end || last);
            let reaches_here = next > position && passed < end;
            if (length == 0 && begins_here) || (length > 0 && reaches_here) {
                let skipped = usize::try_from(position.saturating_sub(passed)).unwrap_or(0);
                let taken = usize::try_from(end.min(next) - passed).unwrap_or(0);
                let start = selected.rows.start;
                series.push(PageSeries {
                    series: selected.series,
                    rows: if length == 0 {
                        start..start
                    } else {
                        start + skipped..start + taken
                    },
                });
            }
            passed = next;
        }
        Page {
            series,
            next: (!last).then_some(end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Pages of any size hold each observation once, and each series without one on one page.
        #[test]
        fn pages_hold_everything_once(
            lengths in prop::collection::vec(0_usize..4, 1..8),
            size in 1_usize..6,
        ) {
            let series: Vec<_> = lengths
                .iter()
                .enumerate()
                .map(|(series, length)| PageSeries { series, rows: 10..10 + length })
                .collect();
            let observations = lengths.iter().sum::<usize>() as u64;
            let selection = Selection { series, observations, notice: None };
            let (mut rows, mut without_rows) = (Vec::new(), Vec::new());
            let mut position = Some(0);
            while let Some(at) = position {
                let page = selection.page(at, size);
                let on_page: usize = page.series.iter().map(|part| part.rows.len()).sum();
                prop_assert!(on_page <= size);
                for part in page.series {
                    if part.rows.is_empty() {
                        without_rows.push(part.series);
                    }
                    rows.extend(part.rows.map(|row| (part.series, row)));
                }
                position = page.next;
            }
            let all = lengths.iter().enumerate();
            let expected: Vec<_> = all
                .clone()
                .flat_map(|(series, length)| (10..10 + length).map(move |row| (series, row)))
                .collect();
            prop_assert_eq!(rows, expected);
            let empty: Vec<_> = all.filter(|(_, length)| **length == 0).map(|(at, _)| at).collect();
            prop_assert_eq!(without_rows, empty);
        }
    }
}
