//! The work that the searches of one row may do together.

use super::EvidenceQuery;
use crate::clock::RowDeadline;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Work of one search, in sales that are looked at. A search beyond it is refused as one of too
/// many sales.
pub const MAX_SEARCH_WORK: u64 = 1 << 21;
/// Work of all searches of one valuation, refused ones included. A search beyond it is refused as
/// one of too many sales.
pub const MAX_ROW_WORK: u64 = 4 * MAX_SEARCH_WORK;

/// The work that the searches of one row may still do, and their deadline. Work is counted in sales
/// that are looked at.
///
/// A search carries it, so that it passes each source on the way to the snapshot. It is not part of
/// the question: two questions are the same whatever work is left, and no record has it. By default
/// it is that of no row, and has no bound.
#[derive(Clone, Debug, Default)]
pub struct RowWork(Option<Arc<Allowance>>);

/// The bounds of one row.
#[derive(Debug)]
struct Allowance {
    work: AtomicU64,
    /// Absent where the answers prove a record: they may take any time.
    deadline: Option<RowDeadline>,
}

impl RowWork {
    /// Returns the work of a row that has asked nothing yet, without a deadline.
    pub fn of_row() -> RowWork {
        RowWork::of(MAX_ROW_WORK, None)
    }

    /// Returns the work of a row that has asked nothing yet and ends at a deadline.
    pub(crate) fn of_row_until(deadline: RowDeadline) -> RowWork {
        RowWork::of(MAX_ROW_WORK, Some(deadline))
    }

    pub(super) fn of(work: u64, deadline: Option<RowDeadline>) -> RowWork {
        let work = AtomicU64::new(work);
        RowWork(Some(Arc::new(Allowance { work, deadline })))
    }

    /// Lets a search do its work from this.
    pub fn bind(&self, question: &mut EvidenceQuery) {
        if let EvidenceQuery::NearbySales(query) = question {
            query.work = self.clone();
        }
    }

    /// Returns the work that is left.
    pub fn remainder(&self) -> u64 {
        let row = self.0.as_ref();
        row.map_or(u64::MAX, |row| row.work.load(Ordering::Relaxed))
    }

    /// Returns whether the row has no time left. It is cheap enough for each block of a search.
    pub fn is_late(&self) -> bool {
        let deadline = self.0.as_ref().and_then(|row| row.deadline.as_ref());
        deadline.is_some_and(RowDeadline::is_over)
    }

    /// Takes work away, down to none. A row asks one question at a time.
    pub fn spend(&self, work: u64) {
        if let Some(row) = &self.0 {
            let rest = row.work.load(Ordering::Relaxed).saturating_sub(work);
            row.work.store(rest, Ordering::Relaxed);
        }
    }
}

impl PartialEq for RowWork {
    fn eq(&self, _: &RowWork) -> bool {
        true
    }
}

impl Eq for RowWork {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Ticks;

    #[test]
    fn work_is_spent_down_to_none_and_has_no_bound_without_a_row() {
        let row = RowWork::of(10, None);
        let same = row.clone();
        for (work, left) in [(4, 6), (0, 6), (7, 0), (1, 0)] {
            row.spend(work);
            assert_eq!(same.remainder(), left, "{work}");
        }
        let none = RowWork::default();
        none.spend(10);
        assert_eq!(none.remainder(), u64::MAX);
        assert_eq!(RowWork::of_row().remainder(), MAX_ROW_WORK);
    }

    #[test]
    fn a_row_is_late_from_its_last_tick_on_and_no_record_ever_is() {
        let ticks = Arc::new(Ticks(AtomicU64::new(7)));
        let row = RowWork::of_row_until(RowDeadline::new(ticks.clone(), 8));
        assert!(!row.is_late());
        assert_eq!(row.remainder(), MAX_ROW_WORK);
        for now in [8, 9] {
            ticks.0.store(now, Ordering::Relaxed);
            assert!(row.is_late(), "{now}");
        }
        assert!(!RowWork::of_row().is_late() && !RowWork::default().is_late());
    }
}
