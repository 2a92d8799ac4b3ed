//! Valuation units: the price of a request, charged while its rows run.
//!
//! The charge is begun before the work and awaited before the answer, so that making it durable
//! adds no time. Nothing is answered that was not charged. The units of refundable rows are
//! returned before the answer leaves. A request is charged whole or refused whole.

use chrono::{DateTime, Months, NaiveDate};
use domesday_state::{Charge, ChargeOutcome, Month, Principal, Reply, State, TenantId, UnixMillis};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// The longest wait for a charge to be durable.
const DURABLE_TIMEOUT: Duration = Duration::from_secs(10);

/// Time after the deadline for which a charge or a refund may hold a response back.
const GRACE: Duration = Duration::from_secs(1);

/// The longest wait for the outcome of a charge that was given up, so that it is given back.
const LATE_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Units that are being charged.
pub struct Reservation {
    state: Arc<dyn State>,
    tenant: TenantId,
    month: Month,
    units: u32,
    allowance: u64,
    until_next_month: Duration,
    /// Time at which the wait for the charge ends.
    end: Instant,
    reply: Reply<ChargeOutcome>,
    /// The outcome of the charge, once it is known.
    outcome: Option<Result<(), ReservationError>>,
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
        /// Until the next month begins.
        wait: Duration,
    },
    /// The charge could not be made durable.
    #[error("the charge could not be stored")]
    Unavailable,
}

/// Begins to charge the units of billable rows at `now`. The wait for them ends after ten seconds,
/// or at the end that [`Reservation::until`] sets.
pub fn reserve(
    state: &Arc<dyn State>,
    principal: &Principal,
    units: u32,
    now: UnixMillis,
) -> Reservation {
    let month = Month::of(now);
    let allowance = principal.plan.monthly_units;
    Reservation {
        state: state.clone(),
        tenant: principal.tenant.clone(),
        month,
        units,
        allowance,
        until_next_month: until_next_month(now),
        end: Instant::now() + DURABLE_TIMEOUT,
        outcome: None,
        reply: state.charge(Charge {
            tenant: principal.tenant.clone(),
            month,
            units,
            allowance,
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
        let (month, units) = (self.month, self.units);
        tokio::spawn(async move {
            let outcome = timeout(LATE_TIMEOUT, reply).await;
            if matches!(outcome, Ok(Ok(ChargeOutcome::Granted { .. }))) {
                give_back(state, tenant, month, units).await;
            }
        });
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
            // A task of its own, since the client gets its response all the same.
            let refunded = give_back(self.state, self.tenant, self.month, refund);
            let _ = timeout_at(end, tokio::spawn(refunded)).await;
        }
        Ok(())
    }
}

/// Gives units back. The state makes a refund later that it refuses, and this logs the delay.
async fn give_back(state: Arc<dyn State>, tenant: TenantId, month: Month, units: u32) {
    let refunded = state.refund(tenant.clone(), month, units);
    let error = match timeout(LATE_TIMEOUT, refunded).await {
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
mod tests {
    use super::*;
    use domesday_state::{EmbeddedState, KeyId, Plan, Scopes};

    fn at(text: &str) -> UnixMillis {
        UnixMillis(
            DateTime::parse_from_rfc3339(text)
                .unwrap()
                .timestamp_millis(),
        )
    }

    fn ten_a_month() -> Principal {
        Principal {
            tenant: "ten".parse().unwrap(),
            key_id: KeyId::from_bytes([1; 8]),
            scopes: Scopes::all(),
            plan: Plan {
                monthly_units: 10,
                ..Plan::default()
            },
            requires_metric_selection: false,
        }
    }

    #[test]
    fn the_next_month_begins_at_midnight_in_utc() {
        let seconds = |text| until_next_month(at(text)).as_secs_f64();
        assert!((seconds("2026-11-21T12:00:00Z") - 9.5 * 86_400.0).abs() < 1e-6);
        assert!((seconds("2026-12-31T23:59:59.999Z") - 0.001).abs() < 1e-6);
        assert!((seconds("2027-01-01T00:00:00Z") - 31.0 * 86_400.0).abs() < 1e-6);
        assert!((seconds("2028-02-01T01:00:00+01:00") - 29.0 * 86_400.0).abs() < 1e-6);
    }

    #[tokio::test]
    async fn a_month_ends_and_the_next_has_its_own_allowance() {
        let folder = tempfile::tempdir().unwrap();
        let state: Arc<dyn State> =
            Arc::new(EmbeddedState::open(&folder.path().join("state.redb")).unwrap());
        let principal = ten_a_month();
        let last = at("2026-10-31T23:59:59.999Z");
        let first = at("2026-11-01T00:00:00Z");
        let charged = |units, refund, now| reserve(&state, &principal, units, now).commit(refund);
        assert_eq!(charged(10, 0, last).await, Ok(()));
        let exhausted = ReservationError::Exhausted {
            needed: 1,
            used: 10,
            allowance: 10,
            wait: Duration::from_millis(1),
        };
        assert_eq!(charged(1, 0, last).await, Err(exhausted));
        assert!(charged(11, 0, first).await.is_err());
        assert_eq!(charged(10, 0, first).await, Ok(()));
    }

    #[tokio::test]
    async fn work_that_is_not_paid_for_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let state: Arc<dyn State> =
            Arc::new(EmbeddedState::open(&folder.path().join("state.redb")).unwrap());
        let now = at("2026-11-21T12:00:00Z");
        let mut reservation = reserve(&state, &ten_a_month(), 11, now);
        let for_ever = std::future::pending::<()>();
        assert!(reservation.with(for_ever).await.is_err());
        assert!(reservation.commit(0).await.is_err());
        let mut reservation = reserve(&state, &ten_a_month(), 10, now);
        assert_eq!(reservation.with(async { 7 }).await, Ok(7));
        assert_eq!(reservation.commit(0).await, Ok(()));
    }

    #[tokio::test]
    async fn unused_units_are_refunded() {
        let folder = tempfile::tempdir().unwrap();
        let state: Arc<dyn State> =
            Arc::new(EmbeddedState::open(&folder.path().join("state.redb")).unwrap());
        let principal = ten_a_month();
        let now = at("2026-11-21T12:00:00Z");
        assert_eq!(reserve(&state, &principal, 8, now).commit(3).await, Ok(()));
        let used = state.used(principal.tenant.clone(), Month::of(now)).await;
        assert_eq!(used.unwrap(), 5);
        assert_eq!(reserve(&state, &principal, 5, now).commit(0).await, Ok(()));
    }

    #[tokio::test]
    async fn a_charge_that_is_granted_too_late_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let state: Arc<dyn State> =
            Arc::new(EmbeddedState::open(&folder.path().join("state.redb")).unwrap());
        let (principal, now) = (ten_a_month(), at("2026-11-24T12:00:00Z"));
        let used = || state.used(principal.tenant.clone(), Month::of(now));
        let mut reservation = reserve(&state, &principal, 4, now);
        let granted = std::mem::replace(&mut reservation.reply, Box::pin(std::future::pending()));
        let granted = granted.await.unwrap();
        assert_eq!(used().await.unwrap(), 4);
        // The disk answers now, long after the request was refused.
        reservation.reply = Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            Ok(granted)
        });
        reservation.refund_once_granted();
        drop(reservation);
        let begun = std::time::Instant::now();
        while used().await.unwrap() != 0 {
            assert!(
                begun.elapsed() < Duration::from_secs(10),
                "4 are still used"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}
