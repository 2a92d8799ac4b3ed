//! POST /v3/valuation-jobs.

use super::incomplete;
use crate::clock::{new_id, new_id_at};
use crate::execution::in_time;
use crate::http::authenticate::require;
use crate::http::body;
use crate::http::body::RequestBody;
use crate::http::error::{ApiError, internal, storage_unavailable};
use crate::http::request_id::RequestId;
use crate::http::row_limits::row_limits;
use crate::job_store::submission;
use crate::jobs::chunking::chunks;
use crate::jobs::document::{document, state_mode};
use crate::jobs::persisted;
use crate::quota::usage::{ReservationError, until_next_month};
use crate::service::Service;
use crate::telemetry::request_log::{LoggedValuation, RequestLog};
use axum::extract::{Extension, Request, State};
use axum::response::Response;
use domesday_contract::error::{Code, ValidationError};
use domesday_contract::v3::job::{JobRequest, Mode};
use domesday_contract::v3::request::ROWS_MAX;
use domesday_state::{
    Idempotency, Job, Month, NewJob, Plan, Principal, Scope, Submission, UnixMillis,
};
use domesday_valuation::pipeline::deadline::Deadline;
use domesday_valuation::pipeline::row::RequestContext;
use domesday_valuation::pipeline::{authorize, batch};
use domesday_valuation::release_store::OpenRelease;
use domesday_valuation::worker_pool::WorkError;
use std::sync::Arc;
use tokio::sync::oneshot;
use tracing::Instrument;
use uuid::Uuid;

/// Accepts a job, or returns the job that was accepted under the same idempotency key.
pub async fn submit(
    State(service): State<Arc<Service>>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(log): Extension<RequestLog>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    // The job stays on this package. Where a promotion puts another under its id, the job waits.
    Extension(release): Extension<Arc<OpenRelease>>,
    request: Request,
) -> Result<Response, ApiError> {
    if !principal.plan.jobs {
        let message = "Jobs are not part of this customer's plan. Use a synchronous batch.";
        return Err(ValidationError::new(Code::AccessDisabled, message).into());
    }
    let memory = service.memory.of(&principal.tenant);
    let received = body::of_request(&memory, request).await?;
    let deadline = Deadline::after(service.processing_time());

    let new = NewSubmission {
        // Objects of the job are removed by the time in it.
        id: new_id_at(service.state.job_time(service.clock.now())),
        execution_id: new_id(&*service.clock),
        first_valuation_id: batch::first(new_id(&*service.clock)),
        now: service.clock.now(),
        principal: principal.clone(),
        release,
    };
    let (id, now) = (new.id, new.now);
    let logged = LoggedValuation {
        execution_id: new.execution_id,
        valuation_id: new.first_valuation_id,
        rows: 0,
        billable: 0,
        release_id: new.release.id.clone(),
    };
    let parse = move || {
        let parsed = read(&received, new);
        (parsed, received.into_memory())
    };
    // As for a batch, a late parse is `overloaded`: the deadline error is one of rows.
    let parsing = in_time(deadline, service.workers.run_bulk(parse)).await;
    let (parsed, memory) = parsing.unwrap_or(Err(WorkError::Full))?;
    let parsed = parsed?;
    let size = parsed.size();
    let has_key = parsed.has_key();
    let (answer, submitted) = oneshot::channel();
    // A separate task, which goes on where the request has ended. So it counts the job and logs it,
    // too. The store holds the parsed rows until it has answered, so the task holds their memory.
    let submitting = {
        let (service, principal) = (service.clone(), principal.clone());
        async move {
            let submission = submit_or_find(&service, &principal, parsed, now).await;
            // One that nobody can find is withdrawn below.
            let is_lost = !has_key && answer.is_closed();
            if let Some(job) = job_of(&submission)
                && !is_lost
            {
                let is_new = job.id == id;
                if is_new {
                    let tenant = principal.tenant.as_str();
                    service.metrics.units_charged(tenant, size.billable.into());
                    service.metrics.jobs.record_accepted();
                    service.submitted.notify_one();
                }
                let valuation = is_new.then_some(LoggedValuation {
                    rows: job.request_count as usize,
                    billable: size.billable as usize,
                    ..logged
                });
                log_job(job, request_id, valuation, &log);
            }
            let state = service.state.clone();
            drop((service, memory));
            if let Err(Ok(Submission::Accepted(job))) = answer.send(submission)
                && !has_key
            {
                submission::withdraw(state, job.tenant, job.id).await;
            }
        }
    };
    tokio::spawn(submitting.in_current_span());
    let submission = in_time(deadline, submitted).await.map_err(|passed| {
        tracing::error!(%passed, "a submission is not stored in time");
        storage_unavailable()
    })?;
    let submission = submission.map_err(|error| {
        tracing::error!(%error, "a submission panicked");
        internal()
    })??;
    let job = accepted_job(submission, &principal.plan, size, now)?;
    Ok(incomplete(&document(&job)))
}

/// Returns the job that a submission became, or the known one that it found.
fn job_of(submission: &Result<Submission, ApiError>) -> Option<&Job> {
    match submission {
        Ok(Submission::Accepted(job) | Submission::Known(job)) => Some(job),
        _ => None,
    }
}

/// Logs a job that was accepted or found, and adds it to the line of its request. A new one has the
/// ids of its valuation.
fn log_job(job: &Job, request_id: Uuid, valuation: Option<LoggedValuation>, log: &RequestLog) {
    let is_new = valuation.is_some();
    if let Some(valuation) = valuation {
        log.set_valuation(valuation);
    }
    log.set_job(job.id);
    tracing::info!(
        job_id = %job.id,
        new = is_new,
        request_id = %request_id,
        tenant = job.tenant.as_str(),
        "job accepted"
    );
}

/// Submits a job to the state. A submission of too many rows is refused, unless its job is known.
async fn submit_or_find(
    service: &Service,
    principal: &Principal,
    parsed: ParsedSubmission,
    now: UnixMillis,
) -> Result<Submission, ApiError> {
    match parsed {
        ParsedSubmission::Job(job) => Ok(service.job_store.submit(*job).await?),
        ParsedSubmission::TooLong { error, key } => {
            // A known idempotency key returns its job even if the limits have become lower.
            let existing = match key {
                Some(key) => {
                    let tenant = principal.tenant.clone();
                    service.state.find_submission(tenant, key, now).await?
                }
                None => None,
            };
            existing.ok_or_else(|| vec![error].into())
        }
    }
}

/// Returns the job of a submission.
///
/// # Errors
/// The reason why the state refused the submission.
fn accepted_job(
    submission: Submission,
    plan: &Plan,
    size: JobSize,
    now: UnixMillis,
) -> Result<Job, ApiError> {
    match submission {
        Submission::Accepted(job) | Submission::Known(job) => Ok(job),
        Submission::Conflict => Err(conflict()),
        Submission::KeyExpired => Err(key_expired()),
        Submission::Paused => Err(paused_error()),
        Submission::QueueFull => Err(queue_full()),
        Submission::StoreFull => Err(store_full(size.bytes, plan.stored_bytes)),
        Submission::Exhausted { used } => Err(ReservationError::Exhausted {
            needed: size.billable,
            used,
            allowance: plan.monthly_units,
            wait: until_next_month(now),
        }
        .into()),
    }
}

/// The facts of a submission, apart from its body.
struct NewSubmission {
    id: Uuid,
    execution_id: Uuid,
    first_valuation_id: Uuid,
    now: UnixMillis,
    principal: Arc<Principal>,
    release: Arc<OpenRelease>,
}

/// A body that the contract allows.
enum ParsedSubmission {
    /// A job to submit to the state.
    Job(Box<NewJob>),
    /// More rows than the release or the plan takes.
    TooLong {
        error: ValidationError,
        key: Option<Idempotency>,
    },
}

/// The units and the bytes of a job to submit.
#[derive(Clone, Copy, Default)]
struct JobSize {
    billable: u32,
    bytes: u64,
}

impl ParsedSubmission {
    /// Reports whether a client finds the job by its idempotency key.
    fn has_key(&self) -> bool {
        match self {
            ParsedSubmission::Job(job) => job.idempotency.is_some(),
            ParsedSubmission::TooLong { key, .. } => key.is_some(),
        }
    }

    /// Returns the size of the job, which is zero where there is none to submit.
    fn size(&self) -> JobSize {
        match self {
            ParsedSubmission::Job(job) => JobSize {
                billable: job.chunks.iter().map(|chunk| chunk.units).sum(),
                bytes: job
                    .chunks
                    .iter()
                    .map(|chunk| chunk.input.len() as u64)
                    .sum(),
            },
            ParsedSubmission::TooLong { .. } => JobSize::default(),
        }
    }
}

/// Parses a submission and all its rows.
fn read(received: &RequestBody, new: NewSubmission) -> Result<ParsedSubmission, ApiError> {
    let plan = &new.principal.plan;
    let limits = row_limits(&new.release.manifest.limits, plan);
    let rows_max = limits.asynchronous_job_rows as usize;
    // A job beyond the lower limit may be known by its key, so that limit counts later. In a
    // refusal its error stands before the others.
    let request = JobRequest::read(received.bytes(), ROWS_MAX)
        .or_else(|_| JobRequest::read(received.bytes(), rows_max))?;
    if request.mode == Mode::Development {
        require(&new.principal, Scope::AvmDevelopment)?;
    }
    let stored_data = new.principal.scopes.has(Scope::AvmStoredData);
    let settings = request.batch.settings;
    authorize::stored_data(settings.use_stored_data == Some(true), stored_data)?;

    let idempotency = request.idempotency_key.as_ref().map(|key| Idempotency {
        key: key.as_str().to_owned(),
        digest: request.digest(),
    });
    if let Err(error) = request.batch.within(rows_max) {
        return Ok(ParsedSubmission::TooLong {
            error,
            key: idempotency,
        });
    }
    let stored = persisted::PersistedContext {
        execution_id: new.execution_id,
        first_valuation_id: new.first_valuation_id,
        package: Some(new.release.package),
        stored_data,
        settings,
    };
    let context = RequestContext {
        release: new.release.clone(),
        kind: request.mode.kind(),
        depth: request.mode.depth(),
        settings,
        stored_data,
        execution_id: new.execution_id,
        // The rows are only parsed with this context.
        observer: None,
    };
    Ok(ParsedSubmission::Job(Box::new(NewJob {
        id: new.id,
        tenant: new.principal.tenant.clone(),
        mode: state_mode(request.mode),
        release_id: new.release.id.clone(),
        shared: stored.to_bytes().map_err(|error| {
            tracing::error!(%error, "a job could not be written");
            internal()
        })?,
        chunks: chunks(&request.batch.rows, &context),
        idempotency,
        month: Month::of(new.now),
        allowance: plan.monthly_units,
        queued_jobs: plan.queued_jobs,
        stored_bytes: plan.stored_bytes,
        now: new.now,
    })))
}

fn conflict() -> ApiError {
    ValidationError::new(
        Code::IdempotencyConflict,
        "This idempotency_key was used with another body. Send that body again, or use a new key.",
    )
    .at("/idempotency_key")
    .into()
}

fn key_expired() -> ApiError {
    ValidationError::new(
        Code::IdempotencyKeyExpired,
        "This idempotency_key was used more than 30 days ago. Use a new key for a new job.",
    )
    .at("/idempotency_key")
    .into()
}

fn paused_error() -> ApiError {
    ValidationError::new(
        Code::JobAdmissionPaused,
        "New jobs are paused. Submit the same job again later, with the same idempotency_key.",
    )
    .into()
}

fn queue_full() -> ApiError {
    ValidationError::new(
        Code::CapacityOccupied,
        "The plan's maximum of queued and running jobs is reached. Submit this one when one of them is done.",
    )
    .into()
}

fn store_full(bytes: u64, allowed: u64) -> ApiError {
    if bytes > allowed {
        let message = format!(
            "This job alone takes {bytes} bytes, and the plan allows jobs {allowed}. Split it, or use synchronous batches."
        );
        return ValidationError::new(Code::BodyTooLarge, message).into();
    }
    ValidationError::new(
        Code::CapacityOccupied,
        "The jobs of the last seven days occupy as much as the plan allows, and this one would not fit. It may when one of them expires.",
    )
    .into()
}
