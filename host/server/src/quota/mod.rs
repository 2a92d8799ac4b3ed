//! The rate, concurrency and capacity limits of a request, checked before a byte of its body is
//! read.
//!
//! Each tenant has a [`Gate`] over all its keys: a token bucket for its rate, and a count of its
//! requests in work. One capacity bounds the whole service. A request *arrives* once its key is
//! known, which counts it against the rate in every case. It *enters* once its route and scope are
//! known. It then holds a [`Slot`] until its response is written or its client disconnects. Units
//! are reserved later, when the rows are parsed: see [`usage`].
//!
//! The limits live in the memory of one host. Each of several hosts grants its share of a tenant's
//! rate and concurrency, see [`HostShare`]. Units are counted once, in the state.

mod rate_limit;
pub(crate) mod usage;

use domesday_state::{HostShare, Plan, Principal, TenantId};
use rate_limit::Rate;
pub use rate_limit::RateStatus;
pub use rate_limit::whole_seconds;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests in work at the same time, over all tenants.
pub const CAPACITY: usize = 1_024;

/// Limits the requests of all tenants.
pub struct RequestLimiter {
    gates: RwLock<HashMap<TenantId, Arc<Gate>>>,
    capacity: Arc<Semaphore>,
    limit: usize,
    share: HostShare,
}

/// The counters of one tenant.
struct Gate {
    rate: Mutex<Rate>,
    in_work: AtomicU32,
}

/// An authenticated request, counted against the rate of its tenant.
#[derive(Clone)]
pub struct CountedRequest(Arc<CountedRequestInner>);

struct CountedRequestInner {
    rate_status: RateStatus,
    concurrency: u32,
    gate: Arc<Gate>,
    capacity: Arc<Semaphore>,
}

/// The slot of a request in work. Dropping it frees the slot.
pub struct Slot {
    gate: Arc<Gate>,
    _capacity: OwnedSemaphorePermit,
}

/// The limit that a request exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LimitExceeded {
    /// The tenant's bucket is empty.
    #[error("more requests than the plan's rate")]
    Rate {
        /// The time until a request may come again.
        wait: Duration,
    },
    /// The tenant's slots are taken.
    #[error("{limit} requests of the tenant are in work")]
    Concurrency {
        /// Number that this host's share of the plan allows.
        limit: u32,
    },
    /// The service's capacity is taken.
    #[error("the service is at its capacity of requests")]
    Capacity,
}

impl RequestLimiter {
    /// Returns a limiter for `capacity` requests at the same time.
    pub fn new(capacity: usize) -> RequestLimiter {
        RequestLimiter {
            gates: RwLock::default(),
            capacity: Arc::new(Semaphore::new(capacity)),
            limit: capacity,
            share: HostShare::WHOLE,
        }
    }

    /// Grants a part of each plan, since other hosts grant the others.
    #[must_use]
    pub fn with_share(self, share: HostShare) -> RequestLimiter {
        RequestLimiter { share, ..self }
    }

    /// Returns the slots that there are, over all tenants.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the slots that requests hold.
    pub fn in_use(&self) -> usize {
        self.limit.saturating_sub(self.capacity.available_permits())
    }

    /// Counts a request against the rate of its tenant, under the current plan.
    pub fn arrive(&self, principal: &Principal) -> CountedRequest {
        let plan = self.share.of_plan(&principal.plan);
        let gate = self.gate(&principal.tenant, &plan);
        let rate_status = {
            let mut rate = gate.rate.lock().unwrap_or_else(PoisonError::into_inner);
            if !rate.has_limits_of(&plan) {
                *rate = Rate::new(&plan);
            }
            rate.count()
        };
        CountedRequest(Arc::new(CountedRequestInner {
            rate_status,
            concurrency: plan.concurrency.max(1),
            gate,
            capacity: self.capacity.clone(),
        }))
    }

    /// Returns the gate of a tenant. There is one per tenant with a key, so none is ever removed.
    fn gate(&self, tenant: &TenantId, plan: &Plan) -> Arc<Gate> {
        let gates = self.gates.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(gate) = gates.get(tenant) {
            return gate.clone();
        }
        drop(gates);
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

impl CountedRequest {
    /// Returns the state of the tenant's rate.
    pub fn rate_status(&self) -> &RateStatus {
        &self.0.rate_status
    }

    /// Takes a slot.
    ///
    /// # Errors
    /// Rate, concurrency or capacity, in that order.
    pub fn enter(&self) -> Result<Slot, LimitExceeded> {
        let arrived = &*self.0;
        if let Some(wait) = arrived.rate_status.wait {
            return Err(LimitExceeded::Rate { wait });
        }
        let limit = arrived.concurrency;
        let more = |n: u32| (n < limit).then_some(n + 1);
        arrived
            .gate
            .in_work
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .map_err(|_| LimitExceeded::Concurrency { limit })?;
        // From here on the slot returns the count.
        let gate = arrived.gate.clone();
        match arrived.capacity.clone().try_acquire_owned() {
            Ok(capacity) => Ok(Slot {
                gate,
                _capacity: capacity,
            }),
            Err(_) => {
                gate.leave();
                Err(LimitExceeded::Capacity)
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
        let limiter = RequestLimiter::new(10);
        let (one, other) = (
            principal("one", two_at_once()),
            principal("other", two_at_once()),
        );
        let first = limiter.arrive(&one).enter().unwrap();
        let second = limiter.arrive(&one).enter().unwrap();
        let refused = |who: &Principal| limiter.arrive(who).enter().err();
        assert_eq!(refused(&one), Some(LimitExceeded::Concurrency { limit: 2 }));
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
        let _slot = limiter.arrive(&raised).enter().unwrap();
        assert_eq!(
            refused(&raised),
            Some(LimitExceeded::Concurrency { limit: 1 })
        );
        assert_eq!(refused(&one), None, "a plan counts as it is now");
    }

    #[test]
    fn capacity_is_everybodys_and_a_refused_request_holds_nothing() {
        let limiter = RequestLimiter::new(1);
        let (one, other) = (
            principal("one", two_at_once()),
            principal("other", two_at_once()),
        );
        assert_eq!((limiter.in_use(), limiter.limit()), (0, 1));
        let slot = limiter.arrive(&one).enter().unwrap();
        assert_eq!(limiter.in_use(), 1);
        for _ in 0..5 {
            let refused = limiter.arrive(&other).enter().err();
            assert_eq!(refused, Some(LimitExceeded::Capacity));
        }
        drop(slot);
        drop(limiter.arrive(&other).enter().unwrap());
        drop(limiter.arrive(&one).enter().unwrap());
    }

    #[test]
    fn hosts_with_shares_grant_together_what_one_host_grants() {
        let plan = Plan {
            requests_per_second: 1,
            burst: 7,
            concurrency: 5,
            ..Plan::default()
        };
        let lender = principal("lender", plan);
        let mut slots = Vec::new();
        let mut policies = Vec::new();
        for share in ["1/2", "2/2"] {
            let limiter = RequestLimiter::new(10).with_share(share.parse().unwrap());
            let arrived: Vec<_> = (0..7).map(|_| limiter.arrive(&lender)).collect();
            policies.push(arrived[0].rate_status().policy.clone());
            slots.extend(arrived.iter().filter_map(|request| request.enter().ok()));
        }
        assert_eq!(slots.len(), 5);
        assert_eq!(policies, ["\"requests\";q=3;w=3", "\"requests\";q=4;w=4"]);
    }

    #[test]
    fn the_rate_comes_before_concurrency() {
        let limiter = RequestLimiter::new(10);
        let plan = Plan {
            requests_per_second: 1,
            burst: 2,
            concurrency: 1,
            ..Plan::default()
        };
        let one = principal("one", plan);
        let _slot = limiter.arrive(&one).enter().unwrap();
        let refused = || limiter.arrive(&one).enter().err();
        assert_eq!(refused(), Some(LimitExceeded::Concurrency { limit: 1 }));
        assert!(matches!(refused(), Some(LimitExceeded::Rate { .. })));
    }

    #[test]
    fn a_changed_plan_takes_effect_with_the_next_request() {
        let limiter = RequestLimiter::new(10);
        let slow = Plan {
            requests_per_second: 1,
            burst: 1,
            ..Plan::default()
        };
        let one = principal("one", slow.clone());
        drop(limiter.arrive(&one).enter().unwrap());
        assert!(limiter.arrive(&one).enter().is_err());
        let faster = principal("one", Plan { burst: 3, ..slow });
        for _ in 0..3 {
            drop(limiter.arrive(&faster).enter().unwrap());
        }
        assert!(limiter.arrive(&faster).enter().is_err());
    }

    #[test]
    fn slots_are_exact_under_many_threads() {
        let limiter = RequestLimiter::new(1_000);
        let one = principal("one", two_at_once());
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        let arrival = limiter.arrive(&one);
                        let mut free = arrival.0.rate_status.clone();
                        free.wait = None;
                        let arrival = CountedRequest(Arc::new(CountedRequestInner {
                            rate_status: free,
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
        assert!(limiter.arrive(&one).0.gate.in_work.load(Ordering::SeqCst) == 0);
    }
}
