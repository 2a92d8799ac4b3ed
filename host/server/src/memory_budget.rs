//! The memory for bodies of requests and for responses, bounded over all clients.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Bytes of bodies and of responses that the service holds at once.
pub const MEMORY_BUDGET: usize = 256 << 20;

/// Bytes of a permit. A semaphore counts fewer permits than the budget has bytes.
const PERMIT_BYTES: usize = 1 << 10;

/// Requests that may wait for memory. Each holds its parsed rows, which no reservation counts.
const WAITING: usize = 16;

/// A budget, and how much of it is reserved.
#[derive(Clone)]
pub struct MemoryBudget {
    budget: usize,
    permits: Arc<Semaphore>,
    /// Wakes those that wait when something is given back.
    freed: Arc<Notify>,
    waiting: Arc<Semaphore>,
}

/// Memory of one request. Dropping it returns the bytes.
pub struct MemoryReservation {
    /// Always there, until the drop returns it.
    permit: Option<OwnedSemaphorePermit>,
    freed: Arc<Notify>,
}

impl MemoryBudget {
    /// Returns a budget of `budget` bytes, none of them reserved.
    pub fn new(budget: usize) -> MemoryBudget {
        MemoryBudget {
            budget,
            permits: Arc::new(Semaphore::new(budget / PERMIT_BYTES)),
            freed: Arc::default(),
            waiting: Arc::new(Semaphore::new(WAITING)),
        }
    }

    /// Returns the bytes that all requests together may take.
    pub fn budget(&self) -> usize {
        self.budget
    }

    /// Reserves the bytes, or returns `None` if the rest of the budget is less.
    pub fn reserve(&self, bytes: usize) -> Option<MemoryReservation> {
        let permits = Arc::clone(&self.permits);
        let permit = permits.try_acquire_many_owned(permits_of(bytes)).ok()?;
        Some(MemoryReservation {
            permit: Some(permit),
            freed: Arc::clone(&self.freed),
        })
    }

    /// Reserves the bytes once they are free. Returns `None` after `time`, or at once if too many
    /// callers wait already. A caller holds no other reservation meanwhile, so that none waits for
    /// another that waits.
    pub async fn reserve_within(&self, bytes: usize, time: Duration) -> Option<MemoryReservation> {
        if let Some(reservation) = self.reserve(bytes) {
            return Some(reservation);
        }
        let _turn = self.waiting.try_acquire().ok()?;
        let free = async {
            loop {
                // Before the try, so that nothing is given back between the two unnoticed.
                let freed = self.freed.notified();
                if let Some(reservation) = self.reserve(bytes) {
                    return reservation;
                }
                freed.await;
            }
        };
        tokio::time::timeout(time, free).await.ok()
    }

    /// Returns the bytes that are reserved.
    pub fn reserved(&self) -> usize {
        let free = self.permits.available_permits() * PERMIT_BYTES;
        self.budget.saturating_sub(free)
    }
}

impl MemoryReservation {
    /// Returns the bytes of the reservation.
    pub fn bytes(&self) -> usize {
        let permits = self
            .permit
            .as_ref()
            .map_or(0, |permit| permit.num_permits());
        permits * PERMIT_BYTES
    }

    /// Adds the bytes of another reservation of the same budget.
    pub fn add(&mut self, mut other: MemoryReservation) {
        if let (Some(permit), Some(other)) = (&mut self.permit, other.permit.take()) {
            permit.merge(other);
        }
    }

    /// Releases the reservation beyond `bytes`.
    pub fn shrink(&mut self, bytes: usize) {
        let keep = permits_of(bytes) as usize;
        let Some(permit) = &mut self.permit else {
            return;
        };
        let surplus = permit.num_permits().saturating_sub(keep);
        drop(permit.split(surplus));
        self.freed.notify_waiters();
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        // The permit first: those who wake try at once.
        drop(self.permit.take());
        self.freed.notify_waiters();
    }
}

fn permits_of(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(PERMIT_BYTES)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_reservation_waits_for_what_others_give_back() {
        let memory = MemoryBudget::new(100 << 10);
        let mut first = memory.reserve(60 << 10).unwrap();
        assert!(memory.reserve(41 << 10).is_none());
        first.add(memory.reserve(10 << 10).unwrap());
        assert_eq!((first.bytes(), memory.reserved()), (70 << 10, 70 << 10));
        let short = Duration::from_millis(20);
        assert!(memory.reserve_within(41 << 10, short).await.is_none());

        let (waiting, wait) = (memory.clone(), Duration::from_secs(10));
        let second = tokio::spawn(async move { waiting.reserve_within(41 << 10, wait).await });
        tokio::task::yield_now().await;
        first.shrink(59 << 10);
        let second = second.await.unwrap();
        assert_eq!(memory.reserved(), 100 << 10);
        drop((first, second));
        assert_eq!(memory.reserved(), 0);
    }

    #[test]
    fn a_reservation_never_grows_by_being_shrunk() {
        let memory = MemoryBudget::new(100 << 10);
        let mut reservation = memory.reserve(1).unwrap();
        reservation.shrink(50 << 10);
        assert_eq!(memory.reserved(), 1 << 10);
    }
}
