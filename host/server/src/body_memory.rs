//! The memory for request bodies, bounded over all clients.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of bodies that the service holds at once.
pub const BODY_MEMORY_BUDGET: usize = 256 << 20;

/// Bytes of a permit. A semaphore counts fewer permits than the budget has bytes.
const PERMIT_BYTES: usize = 1 << 10;

/// A budget, and how much of it is reserved.
#[derive(Clone)]
pub struct BodyMemory {
    budget: usize,
    permits: Arc<Semaphore>,
}

/// The memory of one body. Dropping it returns the bytes.
pub struct BodyReservation {
    _permit: OwnedSemaphorePermit,
}

impl BodyMemory {
    /// Returns a budget of so many bytes, none of them reserved.
    pub fn new(budget: usize) -> BodyMemory {
        BodyMemory {
            budget,
            permits: Arc::new(Semaphore::new(budget / PERMIT_BYTES)),
        }
    }

    /// Returns the bytes that all bodies together may take.
    pub fn budget(&self) -> usize {
        self.budget
    }

    /// Reserves the memory of a body, or returns none where the rest of the budget is less.
    pub fn reserve(&self, bytes: usize) -> Option<BodyReservation> {
        let permits = u32::try_from(bytes.div_ceil(PERMIT_BYTES)).unwrap_or(u32::MAX);
        let permit = self.permits.clone().try_acquire_many_owned(permits).ok()?;
        Some(BodyReservation { _permit: permit })
    }

    /// Returns the bytes that are reserved.
    pub fn reserved(&self) -> usize {
        let free = self.permits.available_permits() * PERMIT_BYTES;
        self.budget.saturating_sub(free)
    }
}
