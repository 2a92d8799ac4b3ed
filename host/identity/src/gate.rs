//! The breaker as many callers share it, and what is said of its changes.

use crate::breaker::{Breaker, Leave, Rules, State};
use crate::{Failure, Watch};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// A breaker for all callers.
pub(crate) struct Gate {
    breaker: Mutex<Breaker>,
    watch: Arc<dyn Watch>,
}

/// Leave to make one request; who drops it unreported did not see it through.
pub(crate) struct Pass<'a> {
    gate: &'a Gate,
    leave: Option<Leave>,
}

impl Gate {
    pub(crate) fn new(rules: Rules, watch: Arc<dyn Watch>) -> Gate {
        watch.breaker(State::Closed);
        Gate {
            breaker: Mutex::new(Breaker::new(rules)),
            watch,
        }
    }

    /// Leave to make a request now.
    pub(crate) fn enter(&self) -> Result<Pass<'_>, Failure> {
        let entered = self.change(None, |breaker, now| breaker.enter(now));
        match entered {
            Ok(leave) => Ok(Pass {
                gate: self,
                leave: Some(leave),
            }),
            Err(after) => Err(Failure::NotAsked { after }),
        }
    }

    /// Changes the breaker, and tells of it where its state is another after that.
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
            self.watch.breaker(after);
            match (before, after, why) {
                (State::Closed, State::Open, Some(why)) => tracing::warn!(
                    %why,
                    "the identity provider failed again and again and is left alone for a while; rows that need it are refused"
                ),
                (State::HalfOpen, State::Closed, _) => {
                    tracing::info!("the identity provider answers again");
                }
                // Tried again without luck: nothing has changed for anybody.
                _ => tracing::debug!(?after, "the identity provider's breaker"),
            }
        }
        changed
    }

    /// Whoever held it before and panicked had changed it whole or not at all.
    fn lock(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass<'_> {
    /// Reports what came of the request.
    pub(crate) fn report(mut self, failure: Option<&Failure>) {
        let Some(leave) = self.leave.take() else {
            return;
        };
        match failure {
            Some(why) if why.is_ill() => self.gate.change(Some(why), |breaker, now| {
                breaker.failed(leave, now, why.after());
            }),
            // It answers, whatever it says.
            _ => self
                .gate
                .change(None, |breaker, _| breaker.succeeded(leave)),
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if let Some(leave) = self.leave.take() {
            self.gate
                .change(None, |breaker, now| breaker.abandoned(leave, now));
        }
    }
}
