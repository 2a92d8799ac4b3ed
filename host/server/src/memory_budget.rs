//! The memory for bodies of requests and for responses, bounded over all clients.
//!
//! A body or a response of up to [`SMALL`] bytes takes nothing of the budget, since the capacity of
//! the service bounds them. So unread responses never refuse a single value. Of the budget, a
//! tenant holds at most as much as stays free. One tenant alone holds half, and another tenant
//! always finds some.

use crate::quota::CAPACITY;
use domesday_state::TenantId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Bytes of bodies and of responses that the service holds at once.
const ALL: usize = 256 << 20;

/// Bytes of a body or a response that takes nothing of the budget. Every request in work may have
/// as many.
pub const SMALL: usize = 64 << 10;

/// Bytes of larger bodies and responses that the service holds at once.
pub const MEMORY_BUDGET: usize = ALL - CAPACITY * SMALL;

/// Requests that may wait for memory. Each holds its parsed rows, which no reservation counts.
const WAITING: usize = 16;

/// A budget, and how much of it is reserved.
#[derive(Clone)]
pub struct MemoryBudget(Arc<Budget>);

struct Budget {
    bytes: usize,
    usage: Mutex<Usage>,
    /// Wakes those that wait when something is given back.
    freed: Notify,
}

/// The usage of all tenants, and of each that has any.
#[derive(Default)]
struct Usage {
    all: Counts,
    /// The most bytes that were reserved since they were last asked for.
    peak_bytes: usize,
    /// The requests that were refused.
    refusals: u64,
    by_tenant: HashMap<TenantId, Counts>,
}

#[derive(Default)]
struct Counts {
    bytes: usize,
    waiting: usize,
}

/// The budget as one tenant uses it.
#[derive(Clone)]
pub struct TenantMemory {
    budget: Arc<Budget>,
    tenant: TenantId,
}

/// Memory of one request. Dropping it returns the bytes.
pub struct MemoryReservation {
    memory: TenantMemory,
    bytes: usize,
}

/// The turn of a request that waits. Dropping it gives the turn to another.
struct Turn<'a>(&'a TenantMemory);

impl MemoryBudget {
    /// Returns a budget of `bytes`, none of them reserved.
    pub fn new(bytes: usize) -> MemoryBudget {
        MemoryBudget(Arc::new(Budget {
            bytes,
            usage: Mutex::default(),
            freed: Notify::new(),
        }))
    }

    /// Returns the budget as a tenant uses it.
    pub fn of(&self, tenant: &TenantId) -> TenantMemory {
        TenantMemory {
            budget: self.0.clone(),
            tenant: tenant.clone(),
        }
    }

    /// Returns the bytes that all requests together may take.
    pub fn budget(&self) -> usize {
        self.0.bytes
    }

    /// Returns the bytes that are reserved.
    pub fn reserved_bytes(&self) -> usize {
        self.0.usage().all.bytes
    }

    /// Returns the most bytes that were reserved at once since the last call.
    pub fn take_peak_bytes(&self) -> usize {
        let mut usage = self.0.usage();
        let now = usage.all.bytes;
        std::mem::replace(&mut usage.peak_bytes, now).max(now)
    }

    /// Returns the requests that were refused since the start for want of memory.
    pub fn refusals(&self) -> u64 {
        self.0.usage().refusals
    }
}

impl Budget {
    fn usage(&self) -> MutexGuard<'_, Usage> {
        // A panic leaves the counts whole.
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves `more` bytes for a tenant, or returns false if it would hold more than stays free.
    fn take(&self, tenant: &TenantId, more: usize) -> bool {
        if more == 0 {
            return true;
        }
        let mut usage = self.usage();
        let held = usage.by_tenant.get(tenant).map_or(0, |held| held.bytes);
        let all = usage.all.bytes.saturating_add(more);
        if held.saturating_add(more) > self.bytes.saturating_sub(all) {
            return false;
        }
        usage.change(tenant, |counts| counts.bytes += more);
        usage.peak_bytes = usage.peak_bytes.max(usage.all.bytes);
        true
    }

    /// Counts a request that is refused.
    fn count_refusal(&self) {
        self.usage().refusals += 1;
    }

    fn give_back(&self, tenant: &TenantId, bytes: usize) {
        if bytes > 0 {
            self.usage().change(tenant, |counts| counts.bytes -= bytes);
            self.freed.notify_waiters();
        }
    }
}

impl Usage {
    /// Changes the counts of a tenant and of all.
    fn change(&mut self, tenant: &TenantId, change: impl Fn(&mut Counts)) {
        change(&mut self.all);
        let counts = self.by_tenant.entry(tenant.clone()).or_default();
        change(counts);
        if (counts.bytes, counts.waiting) == (0, 0) {
            self.by_tenant.remove(tenant);
        }
    }
}

impl TenantMemory {
    /// Reserves memory for this many bytes. Counts a refusal and returns `None` if the tenant may
    /// not have them now.
    pub fn reserve(&self, bytes: usize) -> Option<MemoryReservation> {
        let reservation = self.try_reserve(bytes);
        if reservation.is_none() {
            self.budget.count_refusal();
        }
        reservation
    }

    /// Reserves the memory once it is free. Counts a refusal and returns `None` after `time`, or at
    /// once if too many callers wait already, of all tenants or of this one. A caller holds no
    /// other reservation meanwhile, so that none waits for another that waits. A stream of results
    /// does hold one, and breaks off after `time`.
    pub async fn reserve_within(&self, bytes: usize, time: Duration) -> Option<MemoryReservation> {
        if let Some(reservation) = self.try_reserve(bytes) {
            return Some(reservation);
        }
        let reservation = self.wait_for(bytes, time).await;
        if reservation.is_none() {
            self.budget.count_refusal();
        }
        reservation
    }

    /// Reserves memory for this many bytes, or returns `None` if the tenant may not have them now.
    fn try_reserve(&self, bytes: usize) -> Option<MemoryReservation> {
        let bytes = budget_bytes(bytes);
        self.budget
            .take(&self.tenant, bytes)
            .then(|| MemoryReservation {
                memory: self.clone(),
                bytes,
            })
    }

    /// Reserves the memory once it is free. Returns `None` after `time`, or without a turn to wait.
    async fn wait_for(&self, bytes: usize, time: Duration) -> Option<MemoryReservation> {
        let _turn = self.turn()?;
        let free = async {
            loop {
                // Before the try, so that nothing is given back between the two unnoticed.
                let freed = self.budget.freed.notified();
                if let Some(reservation) = self.try_reserve(bytes) {
                    return reservation;
                }
                freed.await;
            }
        };
        tokio::time::timeout(time, free).await.ok()
    }

    /// Returns a turn to wait, unless all turns or half of them for this tenant are taken.
    fn turn(&self) -> Option<Turn<'_>> {
        let mut usage = self.budget.usage();
        let own = usage.by_tenant.get(&self.tenant);
        let own = own.map_or(0, |counts| counts.waiting);
        if usage.all.waiting >= WAITING || own >= WAITING / 2 {
            return None;
        }
        usage.change(&self.tenant, |counts| counts.waiting += 1);
        Some(Turn(self))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let TenantMemory { budget, tenant } = self.0;
        budget.usage().change(tenant, |counts| counts.waiting -= 1);
    }
}

impl MemoryReservation {
    /// Returns the bytes that are reserved.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Grows the reservation to memory for `most` bytes, or for `least` if the tenant may not have
    /// that many now. Counts a refusal, returns false and leaves it as it is without either.
    pub fn grow_between(&mut self, least: usize, most: usize) -> bool {
        let grown = self.grow(most) || self.grow(least);
        if !grown {
            self.memory.budget.count_refusal();
        }
        grown
    }

    /// Grows the reservation to memory for `bytes`. Returns false, and leaves it as it is, if the
    /// tenant may not have them now.
    fn grow(&mut self, bytes: usize) -> bool {
        let bytes = budget_bytes(bytes).max(self.bytes);
        let TenantMemory { budget, tenant } = &self.memory;
        let grown = budget.take(tenant, bytes - self.bytes);
        if grown {
            self.bytes = bytes;
        }
        grown
    }

    /// Releases the reservation beyond `bytes`.
    pub fn shrink(&mut self, bytes: usize) {
        let bytes = budget_bytes(bytes).min(self.bytes);
        let TenantMemory { budget, tenant } = &self.memory;
        budget.give_back(tenant, self.bytes - bytes);
        self.bytes = bytes;
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        self.memory
            .budget
            .give_back(&self.memory.tenant, self.bytes);
    }
}

/// Returns the bytes that a body or a response of this size takes of the budget.
fn budget_bytes(bytes: usize) -> usize {
    if bytes > SMALL { bytes } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn tenants(memory: &MemoryBudget) -> [TenantMemory; 3] {
        ["one", "two", "three"].map(|tenant| memory.of(&tenant.parse().unwrap()))
    }

    #[test]
    fn the_budget_and_a_small_body_of_every_request_are_256_mib() {
        assert_eq!(MEMORY_BUDGET + 1_024 * (64 << 10), 256 << 20);
    }

    #[test]
    fn a_tenant_holds_at_most_as_much_as_stays_free() {
        let memory = MemoryBudget::new(96 * MIB);
        let [one, two, three] = tenants(&memory);
        let mut first = one.reserve(40 * MIB).unwrap();
        assert!(!first.grow(48 * MIB + 1));
        assert!(first.grow(48 * MIB));
        assert!(one.reserve(MIB).is_none(), "half is all that one may have");
        let second = two.reserve(24 * MIB).unwrap();
        assert!(two.reserve(MIB).is_none());
        let third = three.reserve(12 * MIB).unwrap();
        assert!(three.reserve(MIB).is_none());
        assert_eq!(memory.reserved_bytes(), 84 * MIB);
        drop((first, second));
        let more = three.reserve(36 * MIB).unwrap();
        assert_eq!(memory.reserved_bytes(), 48 * MIB);
        drop((third, more));
        assert_eq!(memory.reserved_bytes(), 0);
        assert!(memory.0.usage().by_tenant.is_empty());
    }

    #[test]
    fn a_peak_of_reserved_bytes_is_kept_until_it_is_taken() {
        let memory = MemoryBudget::new(8 * MIB);
        let [one, ..] = tenants(&memory);
        let held = one.reserve(MIB).unwrap();
        drop(one.reserve(2 * MIB).unwrap());
        assert_eq!(memory.take_peak_bytes(), 3 * MIB);
        assert_eq!(memory.take_peak_bytes(), MIB);
        drop(held);
        assert_eq!(memory.take_peak_bytes(), MIB);
        assert_eq!(memory.take_peak_bytes(), 0);
    }

    #[tokio::test]
    async fn a_refused_request_is_counted_once() {
        let memory = MemoryBudget::new(8 * MIB);
        let [one, two, _] = tenants(&memory);
        let mut first = one.reserve(3 * MIB).unwrap();
        assert!(first.grow_between(4 * MIB, 5 * MIB), "less than the most");
        assert_eq!(memory.refusals(), 0);
        assert!(!first.grow_between(5 * MIB, 6 * MIB));
        assert_eq!(memory.refusals(), 1);
        assert!(one.reserve(MIB).is_none());
        assert_eq!(memory.refusals(), 2);

        // One tenant is refused at half of the budget. Another still has memory.
        assert_eq!(memory.reserved_bytes(), memory.budget() / 2);
        let short = Duration::from_millis(20);
        assert!(one.reserve_within(MIB, short).await.is_none());
        assert_eq!(memory.refusals(), 3);
        assert!(two.reserve_within(MIB, short).await.is_some());
        assert_eq!(memory.refusals(), 3);
    }

    #[test]
    fn bodies_and_responses_of_up_to_64_kib_take_nothing() {
        let memory = MemoryBudget::new(2 * MIB);
        let [one, two, _] = tenants(&memory);
        let mut full = one.reserve(MIB).unwrap();
        let mut body = one.reserve(SMALL).unwrap();
        assert!(!body.grow(SMALL + 1));
        assert_eq!((body.bytes(), memory.reserved_bytes()), (0, MIB));
        let mut other = two.reserve(SMALL + 1).unwrap();
        assert_eq!(other.bytes(), SMALL + 1);
        other.shrink(SMALL);
        full.shrink(1);
        assert_eq!(memory.reserved_bytes(), 0);
    }

    #[tokio::test]
    async fn a_reservation_waits_for_memory_that_others_give_back() {
        let memory = MemoryBudget::new(8 * MIB);
        let [one, two, _] = tenants(&memory);
        let mut first = one.reserve(4 * MIB).unwrap();
        let short = Duration::from_millis(20);
        assert!(two.reserve_within(3 * MIB, short).await.is_none());
        assert_eq!(memory.0.usage().all.waiting, 0);

        let wait = Duration::from_secs(10);
        let second = tokio::spawn(async move { two.reserve_within(3 * MIB, wait).await });
        tokio::task::yield_now().await;
        first.shrink(2 * MIB);
        let second = second.await.unwrap();
        assert_eq!(memory.reserved_bytes(), 5 * MIB);
        drop((first, second));
        assert_eq!(memory.reserved_bytes(), 0);
    }

    #[tokio::test]
    async fn a_tenant_takes_half_of_the_turns_to_wait() {
        let memory = MemoryBudget::new(2 * MIB);
        let [one, two, _] = tenants(&memory);
        let (_first, _second) = (one.reserve(MIB).unwrap(), two.reserve(MIB / 2).unwrap());
        let turns: Vec<_> = (0..WAITING).map_while(|_| one.turn()).collect();
        assert_eq!(turns.len(), WAITING / 2);
        let wait = Duration::from_secs(60);
        let refused = tokio::time::timeout(wait / 2, one.reserve_within(MIB, wait)).await;
        assert!(refused.unwrap().is_none());
        let others: Vec<_> = (0..WAITING).map_while(|_| two.turn()).collect();
        assert_eq!(others.len(), WAITING / 2);
        drop(turns);
        assert!(one.turn().is_some());
    }

    #[test]
    fn a_reservation_never_grows_by_being_shrunk() {
        let memory = MemoryBudget::new(MIB);
        let [one, ..] = tenants(&memory);
        let mut reservation = one.reserve(100 << 10).unwrap();
        reservation.shrink(200 << 10);
        assert_eq!(memory.reserved_bytes(), 100 << 10);
        assert!(reservation.grow(90 << 10));
        assert_eq!(memory.reserved_bytes(), 100 << 10);
    }
}
