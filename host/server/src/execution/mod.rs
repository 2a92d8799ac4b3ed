//! The one path of a valuation request, from its parsed rows to the results that may be answered:
//!
//! reserve units → run rows → check the size → record receipts → commit units → report.
//!
//! A single value is a batch of one: [`single`] runs one row on one worker, [`batch`] runs many in
//! pieces. Both are [`Rows`], so nothing else differs. The HTTP handlers receive, authorize and
//! parse before they call [`Execution::run`], and respond after it.
//!
//! A job chunk shares [`RowRecorder::run_and_record`], the part from run to record. The rest of its
//! rules differ, so `jobs::runner` keeps them:
//!
//! - The units of a job are committed with its submission. A chunk refunds in the transaction that
//!   stores its results, since a crash between the two would charge twice or not at all.
//! - A lease takes the place of the deadline. The runner renews it while rows run and while
//!   receipts are recorded, and the store refuses the results of a lease that was lost.
//! - A chunk yields to requests between two rows and retries refundable rows itself. A request
//!   does neither, because its client waits.

pub mod batch;
mod recorder;
pub mod single;
mod time_limit;

pub use recorder::RowRecorder;
pub use time_limit::{DeadlinePassed, in_time};

use crate::quota::usage::{ReservationError, reserve};
use crate::receipts::{ReceiptError, ReceiptRecorder};
use crate::service::Service;
use crate::telemetry::request_log::{LoggedValuation, RequestLog, RequestSummary};
use domesday_contract::error::ValidationError;
use domesday_contract::v3::result::Summary;
use domesday_state::{Principal, UsageKind, UsageSource};
use domesday_valuation::pipeline::deadline::Deadline;
use domesday_valuation::pipeline::row::RequestContext;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Time for the refund and the response of a request that a stop cuts off. It is less than a stop
/// leaves after the last deadlines, so rows that end by their deadline are answered.
const CUT_OFF_TIME: Duration = Duration::from_millis(500);

/// A valuation request whose rows are parsed and whose options are authorized.
pub struct Execution<'a> {
    /// The service.
    pub service: &'a Service,
    /// The key that pays for the rows.
    pub principal: &'a Principal,
    /// The log line of the request.
    pub log: &'a RequestLog,
    /// The context that the rows share. Its observer is set here.
    pub context: RequestContext,
    /// The valuation id of the first row.
    pub first_valuation_id: Uuid,
    /// The end of the time for the rows.
    pub deadline: Deadline,
}

/// The parsed rows of one request.
pub trait Rows: Send {
    /// The results of the rows.
    type Results: Results + Send;

    /// The kind of request, for the ledger of units.
    const KIND: UsageKind;

    /// Returns the number of rows.
    fn count(&self) -> usize;

    /// Returns the number of rows that cost a unit.
    fn billable(&self) -> usize;

    /// Returns whether the rows are one task of a worker, which needs no poll until it is done.
    fn is_one_task(&self, _: &Service) -> bool {
        false
    }

    /// Runs the rows until the deadline. A row that is not done by then has a result that says so.
    fn run(self, run: Run<'_>) -> impl Future<Output = Self::Results> + Send;
}

/// The results of one request's rows.
pub trait Results {
    /// Checks that the results may be sent in one response.
    ///
    /// # Errors
    /// `response_too_large`, 413.
    fn check_size(&self) -> Result<(), ValidationError>;

    /// Returns the units of rows that the host failed or had no time for.
    fn refundable(&self) -> u32;

    /// Returns the count by status and the line for the log, or none where no row was begun.
    fn report(&self) -> Option<(Summary, RequestSummary)>;
}

/// The arguments of [`Rows::run`].
pub struct Run<'a> {
    /// The service.
    pub service: &'a Service,
    /// The context that the rows share.
    pub context: Arc<RequestContext>,
    /// The valuation id of the first row.
    pub first_valuation_id: Uuid,
    /// The end of the time for the rows.
    pub deadline: Deadline,
    /// The receipts of the rows, where they have some.
    pub receipts: Option<Arc<ReceiptRecorder>>,
}

/// The reason why a request has no result.
#[derive(Debug, thiserror::Error)]
pub enum ExecutionError {
    /// The units are not reserved.
    #[error(transparent)]
    Units(#[from] ReservationError),
    /// A receipt is not durable.
    #[error(transparent)]
    Receipts(#[from] ReceiptError),
    /// The results are larger than a response may be.
    #[error("the results do not fit into one response")]
    TooLarge(ValidationError),
    /// The service stops, and its time for requests is over.
    #[error("the service stops")]
    Stopping,
}

impl Execution<'_> {
    /// Runs the rows. When it returns results, their receipts and their units are durable. Where
    /// the client leaves before that, this is dropped with its rows, and the units are refunded.
    ///
    /// # Errors
    /// `Units` where the reservation is refused or not durable, `Receipts` where a receipt is not,
    /// `TooLarge` and `Stopping`. The units are refunded in all but the first case.
    pub async fn run<R: Rows>(self, rows: R) -> Result<R::Results, ExecutionError> {
        let Execution {
            service,
            principal,
            log,
            context,
            first_valuation_id,
            deadline,
        } = self;
        let billable = rows.billable();
        log.set_valuation(LoggedValuation {
            execution_id: context.execution_id,
            valuation_id: first_valuation_id,
            rows: rows.count(),
            billable,
            release_id: context.release.id.clone(),
        });
        let (tenant, execution_id) = (&principal.tenant, context.execution_id);
        let (release, until) = (&context.release, Some(deadline));
        let recorder = RowRecorder::open(service, tenant, release, execution_id, until).await?;
        let context = Arc::new(RequestContext {
            observer: recorder.observer(),
            ..context
        });
        // The request is charged whole or refused whole. The reservation becomes durable while the
        // rows run, so that it adds no time.
        let units = u32::try_from(billable).unwrap_or(u32::MAX);
        let source = UsageSource {
            kind: R::KIND,
            id: execution_id,
            at: service.clock.now(),
        };
        let reservation = reserve(&service.state, principal, units, source);
        let mut reservation = reservation.until(deadline.end());
        let receipts = recorder.receipts();
        let charge_is_first = waits_for_charge_first(rows.is_one_task(service), receipts.is_some());
        let run = rows.run(Run {
            service,
            context: context.clone(),
            first_valuation_id,
            deadline,
            receipts,
        });
        let run = recorder.run_and_record(async {
            let results = run.await;
            results.check_size().map_err(ExecutionError::TooLarge)?;
            Ok::<_, ExecutionError>(results)
        });
        let recorded = async {
            match charge_is_first {
                true => reservation.before(run).await,
                false => reservation.with(run).await,
            }
        };
        let recorded = tokio::select! {
            recorded = recorded => recorded?,
            () = service.connections.until_left(CUT_OFF_TIME) => Err(ExecutionError::Stopping),
        };
        let refund = match &recorded {
            Ok(results) => results.refundable(),
            Err(_) => units,
        };
        reservation.commit(refund).await?;
        let results = recorded?;
        let metrics = &service.metrics;
        let charged = units.saturating_sub(refund);
        metrics.units_charged(principal.tenant.as_str(), charged.into());
        if let Some((summary, line)) = results.report() {
            metrics.summary(&context.release.id, &summary);
            log.set_summary(line);
        }
        Ok(results)
    }
}

/// Returns whether a request waits for its charge before it polls its work again.
///
/// With receipts it waits for both together. A result is then held for its receipt within a time
/// limit, and the wait for the receipt follows. Neither goes on without a poll, so a late charge
/// would hold both up.
fn waits_for_charge_first(is_one_task: bool, has_receipts: bool) -> bool {
    is_one_task && !has_receipts
}

#[cfg(test)]
mod tests {
    use super::waits_for_charge_first;

    #[test]
    fn only_one_task_without_receipts_waits_for_its_charge_first() {
        assert!(waits_for_charge_first(true, false));
        assert!(!waits_for_charge_first(true, true));
        assert!(!waits_for_charge_first(false, false));
        assert!(!waits_for_charge_first(false, true));
    }
}
