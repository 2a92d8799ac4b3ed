//! A tenant's rate of requests: a bucket of `burst` tokens, refilled evenly.

use axum::http::HeaderValue;
use domesday_state::Plan;
use governor::clock::{Clock, MonotonicClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use std::num::NonZeroU32;
use std::time::Duration;

/// The bucket of one tenant.
pub struct Rate<C: Clock = MonotonicClock> {
    requests_per_second: u32,
    burst: u32,
    quota: Quota,
    policy: HeaderValue,
    limiter: RateLimiter<NotKeyed, InMemoryState, C, StateInformationMiddleware>,
    clock: C,
}

/// The rate limit of a tenant after a request: the policy, the remaining requests and the waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateStatus {
    /// The plan, as the header `RateLimit-Policy` states it.
    pub policy: HeaderValue,
    /// Requests that may still come at once.
    pub remaining: u32,
    /// The time until one more may come than now. It is never later than `wait`, so that
    /// Retry-After is never earlier than the header.
    pub reset: Duration,
    /// The time until a request may come again, where this one may not.
    pub wait: Option<Duration>,
}

impl Rate {
    /// Creates a full bucket.
    pub fn new(plan: &Plan) -> Rate {
        Rate::with_clock(plan, MonotonicClock)
    }
}

impl<C: Clock + Clone> Rate<C> {
    fn with_clock(plan: &Plan, clock: C) -> Rate<C> {
        // A rate of nothing would be a tenant switched off, for which there is another switch.
        let at_least_one = |value| NonZeroU32::new(value).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::per_second(at_least_one(plan.requests_per_second))
            .allow_burst(at_least_one(plan.burst));
        let refill = quota.replenish_interval() * quota.burst_size().get();
        let policy = format!(
            "\"requests\";q={};w={}",
            quota.burst_size(),
            whole_seconds(refill).max(1)
        );
        Rate {
            requests_per_second: plan.requests_per_second,
            burst: plan.burst,
            quota,
            policy: HeaderValue::from_str(&policy)
                .unwrap_or_else(|_| HeaderValue::from_static("\"requests\"")),
            limiter: RateLimiter::direct_with_clock(quota, clock.clone()).with_middleware(),
            clock,
        }
    }

    /// Reports whether the bucket has the rate and the burst of this plan.
    pub fn has_limits_of(&self, plan: &Plan) -> bool {
        (self.requests_per_second, self.burst) == (plan.requests_per_second, plan.burst)
    }

    /// Counts a request. One that may not come takes no token.
    pub fn count(&self) -> RateStatus {
        let (remaining, wait) = match self.limiter.check() {
            Ok(state) => (state.remaining_burst_capacity(), None),
            Err(until) => (0, Some(until.wait_time_from(self.clock.now()))),
        };
        RateStatus {
            policy: self.policy.clone(),
            remaining,
            reset: wait.unwrap_or(self.quota.replenish_interval()),
            wait,
        }
    }
}

impl RateStatus {
    /// Formats the header `RateLimit`.
    pub fn state(&self) -> HeaderValue {
        let state = format!(
            "\"requests\";r={};t={}",
            self.remaining,
            whole_seconds(self.reset)
        );
        HeaderValue::from_str(&state).unwrap_or_else(|_| HeaderValue::from_static("\"requests\""))
    }
}

/// Rounds a time up to whole seconds.
pub fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use governor::clock::FakeRelativeClock;
    use proptest::prelude::*;

    fn plan(requests_per_second: u32, burst: u32) -> Plan {
        Plan {
            requests_per_second,
            burst,
            ..Plan::default()
        }
    }

    #[test]
    fn a_burst_passes_then_one_at_a_time() {
        let clock = FakeRelativeClock::default();
        let rate = Rate::with_clock(&plan(4, 3), clock.clone());
        for remaining in [2, 1, 0] {
            let status = rate.count();
            assert_eq!((status.remaining, status.wait), (remaining, None));
        }
        let refused = rate.count();
        let quarter = Duration::from_millis(250);
        assert_eq!((refused.remaining, refused.wait), (0, Some(quarter)));
        assert_eq!(refused.reset, quarter);
        clock.advance(quarter - Duration::from_nanos(1));
        assert_eq!(rate.count().wait, Some(Duration::from_nanos(1)));
        clock.advance(Duration::from_nanos(1));
        assert_eq!(rate.count().wait, None);
        assert!(rate.count().wait.is_some());
        clock.advance(quarter * 3);
        assert_eq!(rate.count().remaining, 2, "the whole burst came back");
    }

    #[test]
    fn the_headers_state_the_plan_and_how_it_stands() {
        let clock = FakeRelativeClock::default();
        let rate = Rate::with_clock(&plan(50, 100), clock);
        let status = rate.count();
        assert_eq!(status.policy, "\"requests\";q=100;w=2");
        assert_eq!(status.state(), "\"requests\";r=99;t=1");
        let unlimited = Rate::new(&Plan::without_limits()).count();
        assert_eq!(unlimited.policy, "\"requests\";q=4294967295;w=1");
        assert_eq!(unlimited.wait, None);
        let nothing = Rate::new(&plan(0, 0));
        assert_eq!(nothing.count().policy, "\"requests\";q=1;w=1");
    }

    proptest! {
        /// The wait that a refusal names is enough, and at most a second too long.
        #[test]
        fn the_wait_is_true(rps in 1_u32..2_000, burst in 1_u32..50, pauses in prop::collection::vec(0_u64..2_000_000_000, 0..40)) {
            let clock = FakeRelativeClock::default();
            let rate = Rate::with_clock(&plan(rps, burst), clock.clone());
            for pause in pauses {
                let status = rate.count();
                if let Some(wait) = status.wait {
                    prop_assert!(wait <= Duration::from_secs(1).div_f64(f64::from(rps)) + Duration::from_nanos(1));
                    clock.advance(wait);
                    prop_assert_eq!(rate.count().wait, None);
                }
                clock.advance(Duration::from_nanos(pause));
            }
            let status = rate.count();
            clock.advance(status.reset);
            let later = rate.count();
            prop_assert_eq!(later.wait, None);
            prop_assert!(later.remaining >= status.remaining);
        }
    }
}
