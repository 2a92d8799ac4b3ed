//! One row, on one worker: it neither waits for pieces of batches nor is divided itself.

use super::{DeadlinePassed, Results, Rows, Run};
use crate::receipts::ReceiptRecorder;
use crate::service::Service;
use crate::telemetry::request_log::RequestSummary;
use domesday_contract::error::ValidationError;
use domesday_contract::v3::result::Summary;
use domesday_contract::vocabulary::Vocabulary;
use domesday_state::UsageKind;
use domesday_valuation::pipeline::address_lookup::AddressLookups;
use domesday_valuation::pipeline::deadline::Deadline;
use domesday_valuation::pipeline::row::{
    RequestContext, RowOutcome, ValuationRequest, outcome, postcode_to_look_up,
};
use domesday_valuation::spans::SPANS;
use domesday_valuation::worker_pool::{Delivery, WorkError};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tracing::{Instrument, info_span};

/// The longest time that a result is held back for its receipt.
const LONGEST_HOLD: Duration = Duration::from_millis(100);

/// The row of a single value.
pub struct SingleRow(pub ValuationRequest);

/// The result of a single value.
pub struct SingleResult(pub Result<SingleValue, SingleError>);

/// A row that ran.
pub struct SingleValue {
    /// The request, for its reference.
    pub request: ValuationRequest,
    /// The outcome of the row.
    pub row: RowOutcome,
}

/// The reason why the row was not begun, or its result is lost.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SingleError {
    /// The pool did not run it.
    #[error(transparent)]
    Work(#[from] WorkError),
    /// The deadline passed.
    #[error(transparent)]
    Deadline(#[from] DeadlinePassed),
}

impl Rows for SingleRow {
    type Results = SingleResult;

    const KIND: UsageKind = UsageKind::Value;

    fn count(&self) -> usize {
        1
    }

    fn billable(&self) -> usize {
        1
    }

    /// Reports whether no address is looked up before the row.
    fn is_one_task(&self, service: &Service) -> bool {
        service.address_provider.is_none()
    }

    async fn run(self, run: Run<'_>) -> SingleResult {
        let deadline = run.deadline;
        let value = tokio::time::timeout_at(deadline.end().into(), value(self.0, run)).await;
        SingleResult(match value {
            Ok(value) => value.map_err(SingleError::Work),
            Err(_) => Err(DeadlinePassed(deadline).into()),
        })
    }
}

impl Results for SingleResult {
    /// Returns `Ok`: one result takes a few kilobytes.
    fn check_size(&self) -> Result<(), ValidationError> {
        Ok(())
    }

    fn refundable(&self) -> u32 {
        let refundable = self.0.as_ref().map_or(true, |value| value.row.refundable);
        u32::from(refundable)
    }

    fn report(&self) -> Option<(Summary, RequestSummary)> {
        let row = &self.0.as_ref().ok()?.row;
        let status = row.outcome.status();
        let mut summary = Summary::default();
        summary.count(status);
        let line = RequestSummary {
            status: status.code(),
            problem: row.problem.clone(),
        };
        Some((summary, line))
    }
}

async fn value(request: ValuationRequest, run: Run<'_>) -> Result<SingleValue, WorkError> {
    let Run {
        service, context, ..
    } = run;
    let (request, answers) = look_up(service, request, &context).await?;
    let (id, deadline) = (run.first_valuation_id, run.deadline);
    let value = move || {
        let row = outcome(&request, &context, &answers, id, Some(deadline));
        SingleValue { request, row }
    };
    match run.receipts {
        Some(receipts) => run_until_durable(service, value, receipts, deadline).await,
        None => service.workers.run(value).await,
    }
}

/// Runs a row whose result comes once its receipt is durable or failed, so that the request is
/// woken once. The recorder says which. Where the journal takes long, the result comes before.
async fn run_until_durable<T: Send + 'static>(
    service: &Service,
    value: impl FnOnce() -> T + Send + 'static,
    receipts: Arc<ReceiptRecorder>,
    deadline: Deadline,
) -> Result<T, WorkError> {
    let recorder = receipts.clone();
    let hold = move |deliver: Delivery| match deadline.remaining() > LONGEST_HOLD {
        true => recorder.hold_until_durable(deliver),
        false => deliver(),
    };
    let mut running = pin!(service.workers.run_and_hold(value, hold));
    loop {
        match timeout(LONGEST_HOLD, &mut running).await {
            Ok(value) => return value,
            Err(_elapsed) => receipts.deliver_held(),
        }
    }
}

/// Asks the address provider, where there is one and the snapshot leaves the address open.
async fn look_up(
    service: &Service,
    request: ValuationRequest,
    context: &Arc<RequestContext>,
) -> Result<(ValuationRequest, Arc<AddressLookups>), WorkError> {
    let Some(provider) = &service.address_provider else {
        return Ok((request, Arc::new(AddressLookups::none())));
    };
    let context = context.clone();
    let find = service.workers.run(move || {
        let postcode = postcode_to_look_up(&request, &context);
        (request, postcode)
    });
    let (request, postcode) = find.await?;
    let postcodes = postcode.into_iter().collect();
    let answers = Arc::new(AddressLookups::new(Some(provider.clone()), postcodes));
    let lookup = info_span!(target: SPANS, "address_lookup");
    answers.clone().look_up_all().instrument(lookup).await;
    Ok((request, answers))
}
