//! One property: POST /v3/simple-value, /v3/value and /v3/development-value.

use super::body::{self, RequestBody};
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
use domesday_contract::v3::request::Kind;
use domesday_contract::v3::result::{Outcome, ValuationResult};
use domesday_state::Principal;
use domesday_valuation::pipeline::authorize;
use domesday_valuation::pipeline::deadline::Deadline;
use domesday_valuation::pipeline::row::{RowOutcome, ValuationRequest};
use domesday_valuation::worker_pool::WorkerPool;
use std::sync::Arc;

/// Bytes of the largest body that is parsed on the thread of its connection. That takes
/// microseconds; the largest body of all takes a tenth of a second.
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
    let request = parse(received, kind, &service.workers, deadline).await?;
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

/// Reads a small body here, and a large one on a worker.
async fn parse(
    received: RequestBody,
    kind: Kind,
    workers: &WorkerPool,
    deadline: Deadline,
) -> Result<ValuationRequest, ApiError> {
    if received.bytes().len() <= PARSED_AT_ONCE {
        return Ok(ValuationRequest::read(received.bytes(), kind)?);
    }
    let read = move || ValuationRequest::read(received.bytes(), kind);
    Ok(in_time(deadline, workers.run(read)).await???)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_budget::MemoryBudget;
    use axum::body::Body;
    use axum::http::HeaderMap;
    use axum::http::header::CONTENT_TYPE;
    use std::pin::pin;
    use std::sync::mpsc;
    use std::time::Duration;
    use tokio::time::timeout;

    /// Returns a body of white space of this length, as it was received.
    async fn receive(length: usize) -> RequestBody {
        let memory = MemoryBudget::new(1 << 20).of(&"tenant".parse().unwrap());
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, "application/json".parse().unwrap());
        let body = Body::from(vec![b' '; length]);
        let Ok(received) = body::receive(&memory, &headers, body).await else {
            panic!("the body is sound");
        };
        received
    }

    /// The only worker is busy, so a body that is parsed there waits for it.
    #[tokio::test]
    async fn a_large_body_is_not_parsed_on_the_thread_of_its_connection() {
        let workers = WorkerPool::new(1, 8).unwrap();
        let (release, released) = mpsc::channel::<()>();
        let mut busy = pin!(workers.run(move || released.recv()));
        let deadline = Deadline::after(Duration::from_secs(20));
        let moment = Duration::from_millis(20);
        assert!(timeout(moment, &mut busy).await.is_err());

        let small = receive(PARSED_AT_ONCE).await;
        let small = timeout(moment, parse(small, Kind::Existing, &workers, deadline));
        assert!(small.await.is_ok(), "a small body waits for no worker");
        let large = receive(PARSED_AT_ONCE + 1).await;
        let mut large = pin!(parse(large, Kind::Existing, &workers, deadline));
        assert!(timeout(moment, &mut large).await.is_err());

        release.send(()).unwrap();
        assert!(large.await.is_err(), "white space is no request");
    }
}
