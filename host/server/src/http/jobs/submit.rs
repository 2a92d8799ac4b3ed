//! POST /v3/valuation-jobs.

use crate::admission::units::{Uncharged, until_next_month};
use crate::clock::new_id;
use crate::http::authenticate::require;
use crate::http::body::{self, Received};
use crate::http::discovery::no_parameters;
use crate::http::refusal::{Refusal, internal, json};
use crate::http::request_id::{RequestId, Trail, Valuation};
use crate::jobs::document::{document, kept_mode};
use crate::jobs::intake::chunks;
use crate::jobs::stored;
use crate::releases::OpenRelease;
use crate::service::Service;
use crate::valuation::row::Shared;
use crate::valuation::{admit, batch};
use axum::extract::{Extension, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use domesday_breaks::broken;
use domesday_contract::error::{Code, Fault};
use domesday_contract::v3::job::{JobRequest, Mode};
use domesday_contract::v3::request::ROWS_MAX;
use domesday_state::{Idempotency, Month, NewJob, Principal, Scope, Submission, UnixMillis};
use std::sync::Arc;
use uuid::Uuid;

/// Accepts a job, or finds the one that was accepted under the same key.
pub async fn submit(
    State(service): State<Arc<Service>>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trail): Extension<Trail>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    // The job stays on this release, whatever is promoted while it waits or runs.
    Extension(release): Extension<Arc<OpenRelease>>,
    request: Request,
) -> Result<Response, Refusal> {
    if !principal.plan.jobs {
        let message = "Jobs are not part of this customer's plan. Use a synchronous batch.";
        return Err(Fault::new(Code::AccessDisabled, message).into());
    }
    let (head, body) = request.into_parts();
    let received = body::receive(&service.body_room, &head.headers, body).await?;
    no_parameters(head.uri.query())?;

    let new = New {
        id: new_id(&*service.clock),
        execution_id: new_id(&*service.clock),
        first_valuation_id: batch::first(new_id(&*service.clock)),
        now: service.clock.now(),
        principal: principal.clone(),
        release,
    };
    let (id, now) = (new.id, new.now);
    let noted = Valuation {
        execution_id: new.execution_id,
        valuation_id: new.first_valuation_id,
        rows: 0,
        admitted: 0,
        release_id: new.release.id.clone(),
    };
    let work = service.workers.run(move || read(&received, new));
    let (mut admitted, mut bytes) = (0_u32, 0_u64);
    let submission = match work.await?? {
        Read::Job(job) => {
            admitted = job.chunks.iter().map(|chunk| chunk.units).sum();
            bytes = job
                .chunks
                .iter()
                .map(|chunk| chunk.input.len() as u64)
                .sum();
            service.state.submit(*job).await?
        }
        Read::TooLong { fault, key } => {
            // A key that is known answers whatever the limits have become since.
            let known = match key {
                Some(key) => {
                    let tenant = principal.tenant.clone();
                    service.state.known(tenant, key, now).await?
                }
                None => None,
            };
            known.ok_or_else(|| vec![fault])?
        }
    };
    let job = match submission {
        Submission::Accepted(job) | Submission::Known(job) => job,
        Submission::Conflict => return Err(conflict()),
        Submission::KeyExpired => return Err(key_expired()),
        Submission::Paused => return Err(paused()),
        Submission::QueueFull => return Err(queue_full()),
        Submission::StoreFull => return Err(store_full(bytes, principal.plan.stored_bytes)),
        Submission::Exhausted { used } => {
            let (allowance, wait) = (principal.plan.monthly_units, until_next_month(now));
            return Err(Uncharged::Exhausted {
                needed: admitted,
                used,
                allowance,
                wait,
            }
            .into());
        }
    };
    if job.id == id {
        service.submitted.notify_one();
        service.metrics.units_charged(admitted.into());
        trail.valuation(Valuation {
            rows: job.request_count as usize,
            admitted: admitted as usize,
            ..noted
        });
    }
    trail.job(job.id);
    tracing::info!(
        job_id = %job.id,
        new = job.id == id,
        request_id = %request_id,
        tenant = principal.tenant.as_str(),
        "job accepted"
    );
    Ok(json(StatusCode::ACCEPTED, &document(&job)))
}

/// What a submission is judged by, besides its body.
struct New {
    id: Uuid,
    execution_id: Uuid,
    first_valuation_id: Uuid,
    now: UnixMillis,
    principal: Arc<Principal>,
    release: Arc<OpenRelease>,
}

/// A body that the contract allows.
enum Read {
    /// A job to be accepted, if its tenant has room for it.
    Job(Box<NewJob>),
    /// More rows than this release or this plan takes at present.
    TooLong {
        fault: Fault,
        key: Option<Idempotency>,
    },
}

/// Reads a submission and all its rows. The body is then done with.
fn read(received: &Received, new: New) -> Result<Read, Refusal> {
    let plan = &new.principal.plan;
    let most = ROWS_MAX - usize::from(broken("limit-job-rows"));
    let request = JobRequest::read(received.bytes(), most)?;
    if request.mode == Mode::Development {
        require(&new.principal, Scope::AvmDevelopment)?;
    }
    let stored_data = new.principal.scopes.has(Scope::AvmStoredData);
    let settings = request.batch.settings;
    admit::stored_data(settings.use_stored_data == Some(true), stored_data)?;

    let idempotency = request.idempotency_key.as_ref().map(|key| Idempotency {
        key: key.as_str().to_owned(),
        digest: request.digest(),
    });
    let rows_max =
        (new.release.manifest.limits.asynchronous_job_rows).min(plan.asynchronous_job_rows);
    if let Err(fault) = request.batch.within(rows_max as usize) {
        return Ok(Read::TooLong {
            fault,
            key: idempotency,
        });
    }
    let kept = stored::Shared {
        execution_id: new.execution_id,
        first_valuation_id: new.first_valuation_id,
        stored_data,
        settings,
    };
    let shared = Shared {
        release: new.release.clone(),
        kind: request.mode.kind(),
        depth: request.mode.depth(),
        settings,
        stored_data,
        execution_id: new.execution_id,
        // Nothing is valued with it: the rows are only read.
        receipts: None,
        shadow: None,
    };
    Ok(Read::Job(Box::new(NewJob {
        id: new.id,
        tenant: new.principal.tenant.clone(),
        mode: kept_mode(request.mode),
        release_id: new.release.id.clone(),
        shared: kept.to_bytes().map_err(|error| {
            tracing::error!(%error, "a job could not be written");
            internal()
        })?,
        chunks: chunks(&request.batch.rows, &shared),
        idempotency,
        month: Month::of(new.now),
        allowance: plan.monthly_units,
        queued_jobs: plan.queued_jobs,
        stored_bytes: plan.stored_bytes,
        now: new.now,
    })))
}

fn conflict() -> Refusal {
    Fault::new(
        Code::IdempotencyConflict,
        "This idempotency_key was used with another body. Send that body again, or use a new key.",
    )
    .at("/idempotency_key")
    .into()
}

fn key_expired() -> Refusal {
    Fault::new(
        Code::IdempotencyKeyExpired,
        "This idempotency_key was used more than 30 days ago. Use a new key for a new job.",
    )
    .at("/idempotency_key")
    .into()
}

fn paused() -> Refusal {
    Fault::new(
        Code::JobAdmissionPaused,
        "New jobs are not taken at present. Submit the same job again later, with the same idempotency_key.",
    )
    .into()
}

fn queue_full() -> Refusal {
    Fault::new(
        Code::CapacityOccupied,
        "As many jobs are queued or running as the plan allows. Submit this one when one of them is done.",
    )
    .into()
}

fn store_full(bytes: u64, allowed: u64) -> Refusal {
    if bytes > allowed {
        let message = format!(
            "This job alone takes {bytes} bytes, and the plan allows jobs {allowed}. Split it, or use synchronous batches."
        );
        return Fault::new(Code::BodyTooLarge, message).into();
    }
    Fault::new(
        Code::CapacityOccupied,
        "The jobs of the last seven days occupy as much as the plan allows, and this one would not fit. It may when one of them expires.",
    )
    .into()
}
