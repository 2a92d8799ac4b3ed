//! GET /v3/valuation-jobs/{job_id}/results.

use super::{JobId, incomplete, job, not_found};
use crate::http::error::{ApiError, internal, memory_full};
use crate::http::gate::ReservedMemory;
use crate::job_store::JobStoreError;
use crate::jobs::document::{document, summary};
use crate::service::Service;
use crate::telemetry::request_log::RequestLog;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, RawQuery, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domesday_contract::v3::job::{RESULTS_END, failed_results, results_start};
use domesday_state::{Job, JobStatus, Principal};
use http_body_util::BodyExt;
use http_body_util::channel::{Channel, Sender};
use std::sync::Arc;

/// Bytes of the chunks that a stream holds at once, at most: one that is read, one that waits and
/// one that is written.
const STREAM: usize = 1 << 20;

/// The reason to break off a response. A client must not take a part for the whole.
#[derive(Debug, thiserror::Error)]
enum ResultsError {
    #[error(transparent)]
    Store(#[from] JobStoreError),
    #[error("results ended before the last")]
    Gone,
    #[error("the client went away")]
    NoClient,
}

/// Responds with a completed job's results, a failed job's error, or the document of an incomplete
/// job. The first chunk is read before the response begins. So a client gets 503 while the store
/// does not answer, and not the head of a response that breaks off.
pub async fn results(
    State(service): State<Arc<Service>>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(log): Extension<RequestLog>,
    id: JobId,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let job = job(&service, &principal, &log, id, query).await?;
    let job_document = document(&job);
    let start = match job.status {
        JobStatus::Queued | JobStatus::Running => {
            return Ok(incomplete(&job_document));
        }
        JobStatus::Failed => failed_results(&job_document),
        JobStatus::Completed => results_start(&job_document, summary(job.tally)),
    };
    let start = start.map_err(|error| {
        tracing::error!(%error, "results could not be written");
        internal()
    })?;
    let json = [(header::CONTENT_TYPE, "application/json")];
    if job.status == JobStatus::Failed {
        return Ok((json, start).into_response());
    }
    let memory = service.memory.of(&principal.tenant).reserve(STREAM);
    let memory = memory.ok_or_else(memory_full)?;
    let first = read_chunk(&service, &job, 0).await?;
    // The job has expired since.
    let first = first.ok_or_else(not_found)?;
    let memory = Extension(ReservedMemory(Arc::new(memory)));
    let body = stream_body(service, job, [start, first]);
    Ok((json, memory, body).into_response())
}

/// Reads the results of a chunk, or none where the job has expired.
async fn read_chunk(
    service: &Service,
    job: &Job,
    chunk: u32,
) -> Result<Option<Vec<u8>>, JobStoreError> {
    let (tenant, now) = (job.tenant.clone(), service.clock.now());
    service.job_store.output(tenant, job.id, chunk, now).await
}

/// Streams the parts that were read, and then the other results from the store, chunk by chunk, as
/// the client reads them. However long the job, it holds no more than a few chunks.
fn stream_body(service: Arc<Service>, job: Job, parts: [Vec<u8>; 2]) -> Body {
    let (mut sender, body) = Channel::new(1);
    tokio::spawn(async move {
        match stream(&service, &job, parts, &mut sender).await {
            Ok(()) | Err(ResultsError::NoClient) => {}
            Err(error) => {
                tracing::warn!(job_id = %job.id, %error, "results were broken off");
                sender.abort(error);
            }
        }
    });
    // The compression layer asks once more after the end, which a channel alone does not allow.
    Body::new(body.fuse())
}

async fn stream(
    service: &Service,
    job: &Job,
    parts: [Vec<u8>; 2],
    sender: &mut Sender<Bytes, ResultsError>,
) -> Result<(), ResultsError> {
    for part in parts {
        send(sender, part).await?;
    }
    for chunk in 1..job.chunks {
        send(sender, b",".to_vec()).await?;
        let output = read_chunk(service, job, chunk).await?;
        send(sender, output.ok_or(ResultsError::Gone)?).await?;
    }
    send(sender, RESULTS_END.to_vec()).await
}

async fn send(sender: &mut Sender<Bytes, ResultsError>, part: Vec<u8>) -> Result<(), ResultsError> {
    let sending = sender.send_data(part.into()).await;
    sending.map_err(|_| ResultsError::NoClient)
}
