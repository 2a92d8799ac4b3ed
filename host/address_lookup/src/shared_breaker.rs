//! The breaker that all callers share, and the reports of its changes.

use crate::breaker::{Breaker, Permit, Rules, State};
use crate::{Failure, LookupObserver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// A breaker for all callers.
pub(crate) struct SharedBreaker {
    breaker: Mutex<Breaker>,
    observer: Arc<dyn LookupObserver>,
}

/// A permit for one request. A permit that is dropped without a report was abandoned.
pub(crate) struct SharedPermit<'a> {
    breaker: &'a SharedBreaker,
    permit: Option<Permit>,
}

impl SharedBreaker {
    pub(crate) fn new(rules: Rules, observer: Arc<dyn LookupObserver>) -> SharedBreaker {
        observer.breaker_changed(State::Closed);
        SharedBreaker {
            breaker: Mutex::new(Breaker::new(rules)),
            observer,
        }
    }

    /// Returns a permit for one request.
    pub(crate) fn enter(&self) -> Result<SharedPermit<'_>, Failure> {
        let entered = self.change(None, |breaker, now| breaker.enter(now));
        match entered {
            Ok(permit) => Ok(SharedPermit {
                breaker: self,
                permit: Some(permit),
            }),
            Err(after) => Err(Failure::BreakerOpen { after }),
        }
    }

    /// Changes the breaker, and reports a new state.
    fn change<T>(
        &self,
        why: Option<&Failure>,
        change: impl FnOnce(&mut Breaker, std::time::Instant) -> T,
    ) -> T {
        let mut breaker = self.lock();
        let before = breaker.state();
        let changed = change(&mut breaker, Instant::now().into_std());
        let after = breaker.state();
        drop(breaker);
        if before != after {
            self.observer.breaker_changed(after);
            match (before, after, why) {
                (State::Closed, State::Open, Some(why)) => tracing::warn!(
                    %why,
                    "the address provider keeps failing: circuit breaker open, rows that need a lookup are rejected"
                ),
                (State::HalfOpen, State::Closed, _) => {
                    tracing::info!("the address provider recovered: circuit breaker closed");
                }
                // A failed trial: callers notice no change.
                _ => tracing::debug!(?after, "circuit breaker of the address provider"),
            }
        }
        changed
    }

    /// Locks the breaker. A holder that panicked left it either unchanged or wholly changed.
    fn lock(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedPermit<'_> {
    /// Reports the result of the request.
    pub(crate) fn report(mut self, failure: Option<&Failure>) {
        let Some(permit) = self.permit.take() else {
            return;
        };
        match failure {
            Some(why) if why.is_ill() => self.breaker.change(Some(why), |breaker, now| {
                breaker.record_failure(permit, now, why.after());
            }),
            // The provider responds, if only with an error.
            _ => self
                .breaker
                .change(None, |breaker, _| breaker.record_success(permit)),
        }
    }
}

impl Drop for SharedPermit<'_> {
    fn drop(&mut self) {
        if let Some(permit) = self.permit.take() {
            self.breaker
                .change(None, |breaker, now| breaker.abandon(permit, now));
        }
    }
}
