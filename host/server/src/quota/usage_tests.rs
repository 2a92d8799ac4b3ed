//! Charges, and the units that are given back.

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
async fn units_are_given_back_where_the_client_leaves_while_a_refund_is_made_durable() {
    let units = Units::new();
    assert_eq!(units.reserve(5).commit(0).await, Ok(()));
    let mut reservation = units.reserve(4);
    reservation.durable().await.unwrap();
    let mut commit = Box::pin(reservation.commit(1));
    // The task of the refund cannot run before this one waits.
    let polled = commit
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    drop(commit);
    units.settle(5).await;
    // Nothing is given back twice.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(units.count_used().await, 5);
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
