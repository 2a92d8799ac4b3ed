//! What a tenant's plan lets in, before a byte of a body is read.
//!
//! Each tenant has a [`Gate`], over all its keys: a token bucket for its rate of requests, and a
//! count of those in work. Beside them stands one capacity for the whole service. A request
//! *arrives* once its key is known, which counts it against the rate whatever comes of it; it
//! *enters* once its route and scope are known too, and then holds a [`Slot`] until its answer is
//! written or its client is gone. Units are charged later, when the rows are read: see [`units`].
//!
//! All of this lives in the memory of one host. Over several hosts, each grants a tenant its rate
//! and its concurrency; units are counted once, in the state.

mod rate;
pub mod units;

use domesday_breaks::broken;
use domesday_state::{Plan, Principal, TenantId};
use rate::Rate;
pub use rate::{Counted, whole_seconds};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests in work at the same time, over all tenants.
pub const CAPACITY: usize = 1_024;

/// The gates of all tenants that were seen.
pub struct Admission {
    gates: RwLock<HashMap<TenantId, Arc<Gate>>>,
    capacity: Arc<Semaphore>,
}

/// What is counted of one tenant.
struct Gate {
    rate: Mutex<Rate>,
    in_work: AtomicU32,
}

/// A request whose key is good, counted against its tenant's rate.
#[derive(Clone)]
pub struct Arrival(Arc<Arrived>);

struct Arrived {
    counted: Counted,
    concurrency: u32,
    gate: Arc<Gate>,
    capacity: Arc<Semaphore>,
}

/// A request in work. Dropping it makes room for the next.
pub struct Slot {
    gate: Arc<Gate>,
    _capacity: OwnedSemaphorePermit,
}

/// Why a request may not enter now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotNow {
    /// The tenant's bucket is empty.
    #[error("more requests than the plan's rate")]
    Rate {
        /// Until a request may come again.
        wait: Duration,
    },
    /// The tenant's slots are taken.
    #[error("{limit} requests of the tenant are in work")]
    Concurrency {
        /// How many the plan allows.
        limit: u32,
    },
    /// The service's capacity is taken.
    #[error("as many requests are in work as the service takes")]
    Capacity,
}

impl Admission {
    /// Gates with nobody in, for `capacity` requests at the same time.
    pub fn new(capacity: usize) -> Admission {
        Admission {
            gates: RwLock::default(),
            capacity: Arc::new(Semaphore::new(capacity)),
        }
    }

    /// Counts a request against its tenant's rate, under the plan as it is now.
    pub fn arrive(&self, principal: &Principal) -> Arrival {
        let gate = self.gate(&principal.tenant, &principal.plan);
        let counted = {
            let mut rate = gate.rate.lock().unwrap_or_else(PoisonError::into_inner);
            if !rate.is_of(&principal.plan) {
                *rate = Rate::new(&principal.plan);
            }
            rate.count()
        };
        Arrival(Arc::new(Arrived {
            counted,
            concurrency: principal.plan.concurrency.max(1),
            gate,
            capacity: self.capacity.clone(),
        }))
    }

    /// There are as many gates as tenants with keys, so none is ever taken down.
    fn gate(&self, tenant: &TenantId, plan: &Plan) -> Arc<Gate> {
        let known = self.gates.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(gate) = known.get(tenant) {
            return gate.clone();
        }
        drop(known);
        let mut gates = self.gates.write().unwrap_or_else(PoisonError::into_inner);
        let gate = gates.entry(tenant.clone()).or_insert_with(|| {
            Arc::new(Gate {
                rate: Mutex::new(Rate::new(plan)),
                in_work: AtomicU32::new(0),
            })
        });
        gate.clone()
    }
}

impl Arrival {
    /// How the tenant's rate stands.
    pub fn counted(&self) -> &Counted {
        &self.0.counted
    }

    /// Takes a slot.
    ///
    /// # Errors
    /// Rate, concurrency or capacity, in that order.
    pub fn enter(&self) -> Result<Slot, NotNow> {
        let arrived = &*self.0;
        if let Some(wait) = arrived.counted.wait
            && !broken("limits-rate")
        {
            return Err(NotNow::Rate { wait });
        }
        let limit = arrived.concurrency;
        let more = |n: u32| (n < limit || broken("limits-concurrency")).then_some(n + 1);
        arrived
            .gate
            .in_work
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .map_err(|_| NotNow::Concurrency { limit })?;
        // From here on the count is given back by the slot, were there no capacity either.
        let gate = arrived.gate.clone();
        match arrived.capacity.clone().try_acquire_owned() {
            Ok(capacity) => Ok(Slot {
                gate,
                _capacity: capacity,
            }),
            Err(_) => {
                gate.leave();
                Err(NotNow::Capacity)
            }
        }
    }
}

impl Gate {
    fn leave(&self) {
        self.in_work.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.gate.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_state::{KeyId, Scopes};

    fn principal(tenant: &str, plan: Plan) -> Principal {
        Principal {
            tenant: tenant.parse().unwrap(),
            key_id: KeyId::from_bytes([1; 8]),
            scopes: Scopes::all(),
            plan,
            requires_metric_selection: false,
        }
    }

    fn two_at_once() -> Plan {
        Plan {
            concurrency: 2,
            ..Plan::default()
        }
    }

    #[test]
    fn a_tenant_has_its_slots_over_all_its_keys_and_no_others() {
        let admission = Admission::new(10);
        let (one, other) = (
            principal("one", two_at_once()),
            principal("other", two_at_once()),
        );
        let first = admission.arrive(&one).enter().unwrap();
        let second = admission.arrive(&one).enter().unwrap();
        let refused = |who: &Principal| admission.arrive(who).enter().err();
        assert_eq!(refused(&one), Some(NotNow::Concurrency { limit: 2 }));
        assert_eq!(refused(&other), None);
        drop(first);
        assert_eq!(refused(&one), None);
        drop(second);
        let raised = principal(
            "one",
            Plan {
                concurrency: 1,
                ..Plan::default()
            },
        );
        let _held = admission.arrive(&raised).enter().unwrap();
        assert_eq!(refused(&raised), Some(NotNow::Concurrency { limit: 1 }));
        assert_eq!(refused(&one), None, "a plan counts as it is now");
    }

    #[test]
    fn capacity_is_everybodys_and_a_refused_request_holds_nothing() {
        let admission = Admission::new(1);
        let (one, other) = (
            principal("one", two_at_once()),
            principal("other", two_at_once()),
        );
        let held = admission.arrive(&one).enter().unwrap();
        for _ in 0..5 {
            let refused = admission.arrive(&other).enter().err();
            assert_eq!(refused, Some(NotNow::Capacity));
        }
        drop(held);
        drop(admission.arrive(&other).enter().unwrap());
        drop(admission.arrive(&one).enter().unwrap());
    }

    #[test]
    fn the_rate_comes_before_concurrency() {
        let admission = Admission::new(10);
        let plan = Plan {
            requests_per_second: 1,
            burst: 2,
            concurrency: 1,
            ..Plan::default()
        };
        let one = principal("one", plan);
        let _held = admission.arrive(&one).enter().unwrap();
        let refused = || admission.arrive(&one).enter().err();
        assert_eq!(refused(), Some(NotNow::Concurrency { limit: 1 }));
        assert!(matches!(refused(), Some(NotNow::Rate { .. })));
    }

    #[test]
    fn a_changed_plan_takes_effect_with_the_next_request() {
        let admission = Admission::new(10);
        let slow = Plan {
            requests_per_second: 1,
            burst: 1,
            ..Plan::default()
        };
        let one = principal("one", slow.clone());
        drop(admission.arrive(&one).enter().unwrap());
        assert!(admission.arrive(&one).enter().is_err());
        let faster = principal("one", Plan { burst: 3, ..slow });
        for _ in 0..3 {
            drop(admission.arrive(&faster).enter().unwrap());
        }
        assert!(admission.arrive(&faster).enter().is_err());
    }

    #[test]
    fn slots_are_exact_under_many_threads() {
        let admission = Admission::new(1_000);
        let one = principal("one", two_at_once());
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        let arrival = admission.arrive(&one);
                        let mut free = arrival.0.counted.clone();
                        free.wait = None;
                        let arrival = Arrival(Arc::new(Arrived {
                            counted: free,
                            concurrency: 2,
                            gate: arrival.0.gate.clone(),
                            capacity: arrival.0.capacity.clone(),
                        }));
                        if let Ok(slot) = arrival.enter() {
                            assert!(inside.fetch_add(1, Ordering::SeqCst) < 2);
                            inside.fetch_sub(1, Ordering::SeqCst);
                            drop(slot);
                        }
                    }
                });
            }
        });
        assert!(admission.arrive(&one).0.gate.in_work.load(Ordering::SeqCst) == 0);
    }
}
