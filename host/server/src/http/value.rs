//! One property: POST /v3/simple-value, /v3/value and /v3/development-value.

use super::body;
use super::error::{ApiError, internal, json};
use super::routes::MatchedRoute;
use crate::clock::new_id;
use crate::execution::single::{SingleError, SingleRow};
use crate::execution::{DeadlinePassed, Execution, in_time};
use crate::service::Service;
use crate::telemetry::request_log::RequestLog;
use axum::extract::{Extension, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use domesday_contract::error::Code;
use domesday_contract::v3::options::Settings;
use domesday_contract::v3::result::{Outcome, ValuationResult};
use domesday_state::Principal;
use domesday_valuation::pipeline::authorize;
use domesday_valuation::pipeline::deadline::Deadline;
use domesday_valuation::pipeline::row::{RowOutcome, ValuationRequest};
use std::sync::Arc;

/// Bytes of the largest body that is parsed on the thread of its connection, in microseconds.
const PARSED_AT_ONCE: usize = 64 << 10;

/// Answers with the result of one property.
pub async fn value(
    State(service): State<Arc<Service>>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(log): Extension<RequestLog>,
    Extension(pinned): Extension<MatchedRoute>,
    request: Request,
) -> Result<Response, ApiError> {
    let memory = service.memory.of(&principal.tenant);
    let received = body::of_request(&memory, request).await?;
    let deadline = Deadline::after(service.processing_time());
    let kind = pinned.route.kind;
    let request = if received.bytes().len() <= PARSED_AT_ONCE {
        ValuationRequest::read(received.bytes(), kind)?
    } else {
        let parse = move || ValuationRequest::read(received.bytes(), kind);
        in_time(deadline, service.workers.run(parse)).await???
    };
    let execution_id = new_id(&*service.clock);
    let context = pinned.context(&principal, Settings::default(), execution_id);
    authorize::stored_data(request.options().use_stored_data, context.stored_data)?;
    authorize::valuation_date(request.valuation_date(), context.release.window)
        .map_err(|error| vec![error])?;

    let valuation_id = new_id(&*service.clock);
    let execution = Execution {
        service: &service,
        principal: &principal,
        log: &log,
        context,
        first_valuation_id: valuation_id,
        deadline,
    };
    let value = execution.run(SingleRow(request)).await?.0?;
    let result = ValuationResult {
        release_id: &pinned.release.id,
        execution_id,
        valuation_id,
        request_reference: value.request.request_reference(),
        outcome: single_outcome(value.row, deadline)?,
    };
    Ok(json(StatusCode::OK, &result))
}

/// Returns the outcome of the row. A single request is its row: where the row is rejected or
/// refundable, the request is refused.
fn single_outcome(row: RowOutcome, deadline: Deadline) -> Result<Outcome, ApiError> {
    match row.outcome {
        Outcome::Rejected(errors) if !row.refundable => Err(errors.into()),
        Outcome::Rejected(errors) | Outcome::Failed(errors) if row.refundable => {
            if let Some(problem) = &row.problem {
                tracing::error!(problem, "cannot compute the value");
            }
            match errors.into_iter().next() {
                Some(error) if error.code == Code::ProcessingDeadlineExceeded => {
                    Err(DeadlinePassed(deadline).into())
                }
                Some(error) if error.code != Code::Internal => {
                    let refusal = ApiError::from(error);
                    Err(match row.retry_after {
                        Some(wait) => refusal.after(wait),
                        None => refusal,
                    })
                }
                _ => Err(internal().into()),
            }
        }
        outcome => Ok(outcome),
    }
}

impl From<SingleError> for ApiError {
    fn from(error: SingleError) -> Self {
        match error {
            SingleError::Work(error) => error.into(),
            SingleError::Deadline(passed) => passed.into(),
        }
    }
}
