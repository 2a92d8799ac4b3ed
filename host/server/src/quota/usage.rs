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

/// The longest wait for the outcome of a charge that was given up, so that it is given back.
const LATE_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Units that are being charged. Dropping it before [`Reservation::commit`] gives them back.
pub struct Reservation {
    state: Arc<dyn State>,
    tenant: TenantId,
    month: Month,
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
    /// True if the units stay charged, apart from those that `commit` refunds.
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
        /// Until the next month begins.
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
            let outcome = timeout(LATE_TIMEOUT, reply).await;
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
        self.is_committed = true;
        if refund > 0 {
            let end = self.end.max(Instant::now() + GRACE);
            // A separate task, since the client gets its response all the same.
            let refunded = self.begin_refund(refund);
            let _ = timeout_at(end, tokio::spawn(refunded)).await;
        }
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
    use domesday_state::{EmbeddedState, KeyId, Plan, Scopes, UsageKind};
    use uuid::Uuid;

    fn at(text: &str) -> UnixMillis {
        UnixMillis(
            DateTime::parse_from_rfc3339(text)
                .unwrap()
                .timestamp_millis(),
        )
    }

    /// Reserves units for a request at a time.
    fn reserve(
        state: &Arc<dyn State>,
        principal: &Principal,
        units: u32,
        at: UnixMillis,
    ) -> Reservation {
        let source = UsageSource {
            kind: UsageKind::Batch,
            id: Uuid::from_u128(1),
            at,
        };
        super::reserve(state, principal, units, source)
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
    async fn work_that_needs_no_poll_is_begun_before_its_charge_is_durable() {
        let units = Units::new();
        let (begun, mut state) = (std::sync::atomic::AtomicBool::new(false), Vec::new());
        let mut reservation = units.reserve_with_late_answer(4).await;
        let work = async {
            begun.store(true, std::sync::atomic::Ordering::Relaxed);
            tokio::task::yield_now().await;
            7
        };
        let mut run = pin!(reservation.before(work));
        for _ in 0..3 {
            let moment = Duration::from_millis(5);
            state.push(timeout(moment, &mut run).await.is_ok());
            assert!(begun.load(std::sync::atomic::Ordering::Relaxed));
        }
        assert_eq!(state, [false; 3], "the charge is not durable yet");
        assert_eq!(run.await, Ok(7));
        // Work that the allowance does not cover is dropped.
        let mut reservation = units.reserve(11);
        let for_ever = std::future::pending::<()>();
        assert!(reservation.before(for_ever).await.is_err());
    }

    #[tokio::test]
    async fn unused_units_are_refunded() {
        let folder = tempfile::tempdir().unwrap();
        let state: Arc<dyn State> =
            Arc::new(EmbeddedState::open(&folder.path().join("state.redb")).unwrap());
        let principal = ten_a_month();
        let now = at("2026-11-21T12:00:00Z");
        assert_eq!(reserve(&state, &principal, 8, now).commit(3).await, Ok(()));
        let used = state
            .used_units(principal.tenant.clone(), Month::of(now))
            .await;
        assert_eq!(used.unwrap(), 5);
        assert_eq!(reserve(&state, &principal, 5, now).commit(0).await, Ok(()));
    }

    /// The units of a tenant that has ten a month.
    struct Units {
        state: Arc<dyn State>,
        principal: Principal,
        now: UnixMillis,
        _folder: tempfile::TempDir,
    }

    impl Units {
        fn new() -> Units {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("state.redb");
            Units {
                state: Arc::new(EmbeddedState::open(&path).unwrap()),
                principal: ten_a_month(),
                now: at("2026-11-24T12:00:00Z"),
                _folder: folder,
            }
        }

        fn reserve(&self, units: u32) -> Reservation {
            reserve(&self.state, &self.principal, units, self.now)
        }

        async fn count_used(&self) -> u64 {
            let (tenant, month) = (self.principal.tenant.clone(), Month::of(self.now));
            self.state.used_units(tenant, month).await.unwrap()
        }

        /// Waits until this many units are used.
        async fn settle(&self, units: u64) {
            let begun = std::time::Instant::now();
            while self.count_used().await != units {
                let used = self.count_used().await;
                assert!(begun.elapsed().as_secs() < 10, "{used} are still used");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }

        /// Reserves units whose charge is granted, but answered only after a while.
        async fn reserve_with_late_answer(&self, units: u32) -> Reservation {
            let mut reservation = self.reserve(units);
            let pending = Box::pin(std::future::pending());
            let granted = std::mem::replace(&mut reservation.reply, pending).await;
            reservation.reply = Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(50)).await;
                granted
            });
            reservation
        }
    }

    #[tokio::test]
    async fn a_charge_that_is_granted_too_late_is_given_back() {
        let units = Units::new();
        let mut reservation = units.reserve_with_late_answer(4).await;
        reservation.end = Instant::now() + Duration::from_millis(10);
        assert_eq!(units.count_used().await, 4);
        // The disk answers now, long after the request was refused.
        let refused = reservation.commit(0).await;
        assert_eq!(refused, Err(ReservationError::Unavailable));
        units.settle(0).await;
    }

    #[tokio::test]
    async fn units_are_given_back_where_the_client_leaves_before_they_are_charged() {
        let units = Units::new();
        drop(units.reserve_with_late_answer(4).await);
        assert_eq!(units.count_used().await, 4);
        units.settle(0).await;
    }

    #[tokio::test]
    async fn units_are_given_back_where_the_client_leaves_while_its_rows_run() {
        let units = Units::new();
        let mut reservation = units.reserve(4);
        reservation.durable().await.unwrap();
        let run = reservation.with(std::future::pending::<()>());
        assert!(timeout(Duration::from_millis(10), run).await.is_err());
        assert_eq!(units.count_used().await, 4);
        drop(reservation);
        units.settle(0).await;
    }

    #[tokio::test]
    async fn units_are_given_back_where_the_client_leaves_while_its_row_waits_for_its_charge() {
        let units = Units::new();
        let moment = Duration::from_millis(10);
        let mut charging = units.reserve(4);
        let pending = Box::pin(std::future::pending());
        let granted = std::mem::replace(&mut charging.reply, pending).await;
        let (answer, late) = tokio::sync::oneshot::channel();
        charging.reply = Box::pin(async move { late.await.unwrap() });
        let run = charging.before(std::future::pending::<()>());
        assert!(timeout(moment, run).await.is_err());
        drop(charging);
        assert_eq!(units.count_used().await, 4);
        // The charge is durable only now.
        assert!(answer.send(granted).is_ok());
        units.settle(0).await;
        let mut charged = units.reserve(4);
        charged.durable().await.unwrap();
        let run = charged.before(std::future::pending::<()>());
        assert!(timeout(moment, run).await.is_err());
        assert_eq!(units.count_used().await, 4);
        drop(charged);
        units.settle(0).await;
    }

    #[tokio::test]
    async fn units_are_given_back_where_the_client_leaves_before_its_results_are_charged() {
        let units = Units::new();
        let commit = units.reserve_with_late_answer(4).await.commit(1);
        assert!(timeout(Duration::from_millis(10), commit).await.is_err());
        assert_eq!(units.count_used().await, 4);
        units.settle(0).await;
    }

    #[tokio::test]
    async fn units_that_are_committed_or_refused_are_given_back_once_at_most() {
        let units = Units::new();
        assert_eq!(units.reserve(4).commit(1).await, Ok(()));
        drop(units.reserve(8));
        assert!(units.reserve(8).commit(0).await.is_err());
        // The refunds of the drops would be made before this charge.
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(units.reserve(2).commit(0).await, Ok(()));
        assert_eq!(units.count_used().await, 5);
    }
}
