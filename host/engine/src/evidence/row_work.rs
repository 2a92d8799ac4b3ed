//! The work that the searches of one row may do together.

use super::EvidenceQuery;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Work of one search, in sales that are looked at. A search beyond it is refused as one of too
/// many sales. It bounds what the host does for a row between two looks at the clock.
pub const MAX_SEARCH_WORK: u64 = 1 << 21;
/// Work of all searches of one valuation, refused ones included. A search beyond it is refused as
/// one of too many sales.
pub const MAX_ROW_WORK: u64 = 4 * MAX_SEARCH_WORK;

/// The work that the searches of one row may still do, in sales that are looked at.
///
/// A search carries it, so that it passes each source on the way to the snapshot. It is not part of
/// the question: two questions are the same whatever work is left, and no record has it. By default
/// it is that of no row, and has no bound.
#[derive(Clone, Debug, Default)]
pub struct RowWork(Option<Arc<AtomicU64>>);

impl RowWork {
    /// Returns the work of a row that has asked nothing yet.
    pub fn of_row() -> RowWork {
        RowWork::of(MAX_ROW_WORK)
    }

    pub(super) fn of(work: u64) -> RowWork {
        RowWork(Some(Arc::new(AtomicU64::new(work))))
    }

    /// Lets a search do its work from this.
    pub fn bind(&self, question: &mut EvidenceQuery) {
        if let EvidenceQuery::NearbySales(query) = question {
            query.work = self.clone();
        }
    }

    /// Returns the work that is left.
    pub fn remainder(&self) -> u64 {
        let left = self.0.as_ref();
        left.map_or(u64::MAX, |left| left.load(Ordering::Relaxed))
    }

    /// Takes work away, down to none. A row asks one question at a time.
    pub fn spend(&self, work: u64) {
        if let Some(left) = &self.0 {
            let rest = left.load(Ordering::Relaxed).saturating_sub(work);
            left.store(rest, Ordering::Relaxed);
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

    #[test]
    fn work_is_spent_down_to_none_and_has_no_bound_without_a_row() {
        let row = RowWork::of(10);
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
}
