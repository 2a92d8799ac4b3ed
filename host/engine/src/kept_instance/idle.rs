//! The idle instances of each release. The oldest leaves where there are too many.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names a release among those of one engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReleaseKey(u64);

/// Things that wait to be used again.
pub(super) struct IdleInstances<T> {
    most: usize,
    next_key: AtomicU64,
    /// The one that was added last stands at the end.
    idle: Mutex<VecDeque<(ReleaseKey, T)>>,
}

impl<T> IdleInstances<T> {
    /// Returns a store of at most `most` instances.
    pub(super) fn new(most: usize) -> IdleInstances<T> {
        IdleInstances {
            most,
            next_key: AtomicU64::new(0),
            idle: Mutex::new(VecDeque::new()),
        }
    }

    /// Returns a key that no other release has.
    pub(super) fn add_release(&self) -> ReleaseKey {
        ReleaseKey(self.next_key.fetch_add(1, Ordering::Relaxed))
    }

    /// Takes the one of a release that was added last, since most of it is still in the
    /// processor's cache.
    pub(super) fn take(&self, key: ReleaseKey) -> Option<T> {
        let mut idle = self.lock();
        let place = idle.iter().rposition(|(release, _)| *release == key)?;
        idle.remove(place).map(|(_, one)| one)
    }

    /// Adds one, and drops the oldest where there are too many.
    pub(super) fn add(&self, key: ReleaseKey, one: T) {
        let mut idle = self.lock();
        idle.push_back((key, one));
        let surplus = if idle.len() > self.most {
            idle.pop_front()
        } else {
            None
        };
        // To drop one takes time, which no other thread should wait for.
        drop(idle);
        drop(surplus);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(ReleaseKey, T)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_takes_the_one_that_it_added_last_and_no_other_releases() {
        let idle = IdleInstances::new(4);
        let (first, second) = (idle.add_release(), idle.add_release());
        for one in 1..=2 {
            idle.add(first, one);
        }
        idle.add(second, 3);
        assert_eq!(idle.take(first), Some(2));
        assert_eq!(idle.take(first), Some(1));
        assert_eq!(idle.take(first), None);
        assert_eq!(idle.take(second), Some(3));
    }

    #[test]
    fn the_oldest_leaves_where_there_are_too_many() {
        let idle = IdleInstances::new(2);
        let (first, second) = (idle.add_release(), idle.add_release());
        idle.add(first, 1);
        idle.add(second, 2);
        idle.add(second, 3);
        assert_eq!(idle.take(first), None);
        assert_eq!(idle.take(second), Some(3));
        assert_eq!(idle.take(second), Some(2));
        assert_eq!(idle.take(second), None);
    }
}
