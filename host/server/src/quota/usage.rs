//! Valuation units: the price of a request, charged while its rows run.
//!
//! The charge is begun before the work and awaited before the answer, so that making it durable
//! adds no time. Nothing is answered that was not charged. The units of refundable rows are
//! returned before the answer leaves. A request is charged whole or refused whole.
//!
//! A client may leave before its response is ready, which drops the reservation. Its units are then
//! given back, as those of any reservation that is not committed.

use chrono::{DateTime, Months, NaiveDate};
use domesday_state::{
    Charge, ChargeOutcome, Month, Principal, Reply, State, TenantId, UnixMillis, UsageSource,
};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout, timeout_at};

/// The longest wait for a charge to be durable.
const DURABLE_TIMEOUT: Duration = Duration::from_secs(10);

/// Time after the deadline for which a charge or a refund may hold a response back.
const GRACE: Duration = Duration::from_secs(1);

/// The longest wait for the outcome of a charge that was given up, so that it is given back. After
/// a month its units count no more.
const UNKNOWN_CHARGE_TIMEOUT: Duration = Duration::from_secs(31 * 86_400);

/// The longest wait for a refund, which the state makes all the same. Then a line says that it is
/// late.
const REFUND_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Units that are being charged. Dropping it before [`Reservation::commit`] gives them back.
pub struct Reservation {
    state: Arc<dyn State>,
    tenant: TenantId,
    month: Month,
    /// The units of the charge, without those whose refund has begun.
    units: u32,
    /// The request, for the ledger.
    source: UsageSource,
    allowance: u64,
    until_next_month: Duration,
    /// Time at which the wait for the charge ends.
    end: Instant,
    reply: Reply<ChargeOutcome>,
    /// The outcome of the charge, once it is known.
    outcome: Option<Result<(), ReservationError>>,
    /// True if the units stay charged.
    is_committed: bool,
}

/// The reason why a request gets an error although its work was done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReservationError {
    /// The units do not fit into the month's allowance.
    #[error("{used} of {allowance} units of the month are used, and {needed} do not fit")]
    Exhausted {
        /// Units that the request needs.
        needed: u32,
        /// Units used in the month, without this request's.
        used: u64,
        /// Units that the plan allows in a month.
        allowance: u64,
        /// The time until the next month begins.
        wait: Duration,
    },
    /// The charge could not be made durable.
    #[error("the charge could not be stored")]
    Unavailable,
}

/// Begins to charge the units of billable rows to a request, at its time. The wait for them ends
/// after ten seconds, or at the end that [`Reservation::until`] sets.
pub fn reserve(
    state: &Arc<dyn State>,
    principal: &Principal,
    units: u32,
    source: UsageSource,
) -> Reservation {
    let now = source.at;
    let month = Month::of(now);
    let allowance = principal.plan.monthly_units;
    Reservation {
        state: state.clone(),
        tenant: principal.tenant.clone(),
        month,
        units,
        source,
        allowance,
        until_next_month: until_next_month(now),
        end: Instant::now() + DURABLE_TIMEOUT,
        outcome: None,
        is_committed: false,
        reply: state.charge(Charge {
            tenant: principal.tenant.clone(),
            month,
            units,
            allowance,
            source,
        }),
    }
}

impl Reservation {
    /// Ends the wait for the charge soon after the deadline of the request, where that comes first.
    pub fn until(mut self, deadline: std::time::Instant) -> Reservation {
        self.end = self.end.min(Instant::from_std(deadline) + GRACE);
        self
    }

    /// Runs work while the charge becomes durable. Work that the allowance does not cover is
    /// dropped.
    ///
    /// # Errors
    /// [`ReservationError`] if the request must not get a result.
    pub async fn with<T>(&mut self, work: impl Future<Output = T>) -> Result<T, ReservationError> {
        tokio::pin!(work);
        tokio::select! {
            output = &mut work => Ok(output),
            durable = self.durable() => {
                durable?;
                Ok(work.await)
            }
        }
    }

    /// Begins work that needs no further poll until it is done, and waits for the charge first. So
    /// the task is not woken for work that it cannot answer with yet. Work that the allowance does
    /// not cover is dropped.
    ///
    /// # Errors
    /// [`ReservationError`] if the request must not get a result.
    pub async fn before<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<T, ReservationError> {
        let mut work = pin!(work);
        let begun = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        self.durable().await?;
        Ok(match begun {
            Poll::Ready(output) => output,
            Poll::Pending => work.await,
        })
    }

    /// Waits until the charge is durable or refused. Dropping this future loses nothing.
    async fn durable(&mut self) -> Result<(), ReservationError> {
        if let Some(outcome) = &self.outcome {
            return outcome.clone();
        }
        let outcome = match timeout_at(self.end, &mut self.reply).await {
            Ok(Ok(ChargeOutcome::Granted { .. })) => Ok(()),
            Ok(Ok(ChargeOutcome::Exhausted { used })) => Err(ReservationError::Exhausted {
                needed: self.units,
                used,
                allowance: self.allowance,
                wait: self.until_next_month,
            }),
            Ok(Err(error)) => {
                tracing::error!(%error, "units could not be charged");
                Err(ReservationError::Unavailable)
            }
            Err(_) => {
                tracing::error!("a charge was not durable in time");
                self.refund_once_granted();
                Err(ReservationError::Unavailable)
            }
        };
        self.outcome = Some(outcome.clone());
        outcome
    }

    /// Gives the units back once the state answers, since nothing is answered for them.
    fn refund_once_granted(&mut self) {
        let reply = std::mem::replace(&mut self.reply, Box::pin(std::future::pending()));
        let (state, tenant) = (Arc::clone(&self.state), self.tenant.clone());
        let (month, units, source) = (self.month, self.units, self.source);
        spawn_refund(async move {
            let outcome = timeout(UNKNOWN_CHARGE_TIMEOUT, reply).await;
            if matches!(outcome, Ok(Ok(ChargeOutcome::Granted { .. }))) {
                give_back(state, tenant, month, units, source).await;
            }
        });
    }

    /// Begins to give units of the charge back.
    fn begin_refund(&self, units: u32) -> impl Future<Output = ()> + use<> {
        give_back(
            Arc::clone(&self.state),
            self.tenant.clone(),
            self.month,
            units,
            self.source,
        )
    }

    /// Waits until the charge is durable, and returns `refund` units of it. A refund that takes
    /// long goes on after the response.
    ///
    /// # Errors
    /// [`ReservationError`] if the request must not get a result.
    pub async fn commit(mut self, refund: u32) -> Result<(), ReservationError> {
        self.durable().await?;
        if refund > 0 {
            let end = self.end.max(Instant::now() + GRACE);
            // A separate task, since the client gets its response all the same.
            let refunded = self.begin_refund(refund);
            // A client that leaves during the wait has the rest given back too.
            self.units = self.units.saturating_sub(refund);
            let _ = timeout_at(end, tokio::spawn(refunded)).await;
        }
        self.is_committed = true;
        Ok(())
    }
}

impl Drop for Reservation {
    /// Gives the units back where nothing is answered for them, as where the client has left.
    fn drop(&mut self) {
        match &self.outcome {
            None => self.refund_once_granted(),
            Some(Ok(())) if !self.is_committed => spawn_refund(self.begin_refund(self.units)),
            Some(_) => {}
        }
    }
}

/// Goes on with a refund in a separate task.
fn spawn_refund(refund: impl Future<Output = ()> + Send + 'static) {
    match Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn(refund)),
        Err(error) => tracing::error!(%error, "nothing waits for a refund"),
    }
}

/// Begins to give units back. The state makes a refund later that it refuses, and the future that
/// this returns logs the delay.
fn give_back(
    state: Arc<dyn State>,
    tenant: TenantId,
    month: Month,
    units: u32,
    source: UsageSource,
) -> impl Future<Output = ()> {
    let refunded = state.refund(tenant.clone(), month, units, source);
    async move {
        // A stop waits for the last handle of the state.
        let _state = state;
        let error = match timeout(REFUND_TIMEOUT, refunded).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(elapsed) => elapsed.to_string(),
        };
        let tenant = tenant.as_str();
        tracing::error!(
            tenant,
            refund = units,
            error,
            "units are not given back yet"
        );
    }
}

/// Returns the time until the month ends and the units are renewed.
pub fn until_next_month(now: UnixMillis) -> Duration {
    let month = Month::of(now);
    let next = NaiveDate::from_ymd_opt(month.year, month.month, 1)
        .and_then(|first| first.checked_add_months(Months::new(1)))
        .and_then(|first| first.and_hms_opt(0, 0, 0))
        .map(|midnight| midnight.and_utc());
    let now = DateTime::from_timestamp_millis(now.0);
    next.zip(now)
        .and_then(|(next, now)| (next - now).to_std().ok())
        .unwrap_or_default()
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;
