//! GET /v3/valuation-jobs/{job_id}/results.

use super::{JobId, incomplete, job, not_found};
use crate::http::error::{ApiError, internal, memory_full};
use crate::http::gate::ReservedMemory;
use crate::job_store::JobStoreError;
use crate::jobs::document::{document, summary};
use crate::memory_budget::{MemoryReservation, TenantMemory};
use crate::service::Service;
use crate::telemetry::request_log::RequestLog;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, RawQuery, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domesday_contract::v3::job::{RESULTS_END, failed_results, results_start};
use domesday_state::{Job, JobStatus, Principal};
use futures_util::stream::{self, Stream, StreamExt, TryStreamExt};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Bytes that every stream reserves: those of a chunk that is written and of the next one.
const STREAM: usize = 1 << 20;

/// Bytes of the largest chunk that the memory of the stream covers. A larger one, of rows that list
/// many errors, reserves its own length.
const CHUNK: usize = STREAM / 2;

/// The longest wait for the memory of a larger chunk.
const MEMORY_TIME: Duration = Duration::from_secs(5);

/// The reason to break off a response. A client must not take a part for the whole.
#[derive(Debug, thiserror::Error)]
enum ResultsError {
    #[error(transparent)]
    Store(#[from] JobStoreError),
    #[error("results ended before the last")]
    Gone,
    #[error("no memory for a large chunk was free within {} seconds", MEMORY_TIME.as_secs())]
    NoMemory,
}

/// A chunk of results with its own memory, which is free once the chunk is written.
struct LargeChunk {
    output: Vec<u8>,
    _memory: MemoryReservation,
}

impl AsRef<[u8]> for LargeChunk {
    fn as_ref(&self) -> &[u8] {
        &self.output
    }
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
    let tenant_memory = service.memory.of(&principal.tenant);
    let memory = tenant_memory.reserve(STREAM).ok_or_else(memory_full)?;
    let first = read_chunk(&service, &job, 0).await?;
    // The job has expired since.
    let first = first.ok_or_else(not_found)?;
    let first = hold(&tenant_memory, first).await.ok_or_else(memory_full)?;
    let memory = Extension(ReservedMemory(Arc::new(memory)));
    let body = stream_body(service, job, [start.into(), first]);
    Ok((json, memory, body).into_response())
}

/// Reads the results of a chunk, and a comma or the end of all after them. Returns none where the
/// job has expired.
async fn read_chunk(
    service: &Service,
    job: &Job,
    chunk: u32,
) -> Result<Option<Vec<u8>>, JobStoreError> {
    let (tenant, now) = (job.tenant.clone(), service.clock.now());
    let mut output = service.job_store.output(tenant, job.id, chunk, now).await?;
    if let Some(output) = &mut output {
        let is_last = chunk + 1 == job.chunks;
        let end = if is_last { RESULTS_END } else { &b","[..] };
        output.reserve_exact(end.len());
        output.extend_from_slice(end);
    }
    Ok(output)
}

/// Returns the bytes of a chunk, which hold their own memory where they are many. `None` if that
/// memory is not free in time.
async fn hold(memory: &TenantMemory, output: Vec<u8>) -> Option<Bytes> {
    if output.len() <= CHUNK {
        return Some(output.into());
    }
    let memory = memory.reserve_within(output.len(), MEMORY_TIME).await?;
    Some(Bytes::from_owner(LargeChunk {
        output,
        _memory: memory,
    }))
}

/// Streams the parts that were read, and then the other results from the store, chunk by chunk, as
/// the client reads them. However long the job, it holds one chunk that is written and the next.
fn stream_body(service: Arc<Service>, job: Job, parts: [Bytes; 2]) -> Body {
    let (id, chunks) = (job.id, job.chunks);
    let job = Arc::new(job);
    let read = move |chunk: u32| {
        let (service, job) = (service.clone(), job.clone());
        async move {
            let output = read_chunk(&service, &job, chunk).await?;
            let output = output.ok_or(ResultsError::Gone)?;
            let memory = service.memory.of(&job.tenant);
            hold(&memory, output).await.ok_or(ResultsError::NoMemory)
        }
    };
    let results = join_chunks(parts, chunks, read);
    Body::from_stream(results.inspect_err(move |error| {
        tracing::warn!(job_id = %id, %error, "results were broken off");
    }))
}

/// Joins the parts that were read and the chunks after the first, each read once the client has
/// taken those before. The last chunk ends the results. So a stream without an error is whole.
fn join_chunks<F, R>(
    parts: [Bytes; 2],
    chunks: u32,
    read: F,
) -> impl Stream<Item = Result<Bytes, ResultsError>>
where
    F: FnMut(u32) -> R,
    R: Future<Output = Result<Bytes, ResultsError>>,
{
    let rest = stream::try_unfold((1_u32, read), move |(chunk, mut read)| async move {
        if chunk >= chunks {
            return Ok::<_, ResultsError>(None);
        }
        let output = read(chunk).await?;
        Ok(Some((output, (chunk + 1, read))))
    });
    stream::iter(parts.map(Ok)).chain(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_budget::MemoryBudget;
    use futures_util::future::FutureExt;
    use http_body_util::BodyExt;
    use std::panic::AssertUnwindSafe;

    /// Returns the body of four chunks, of which `read` returns all but the first.
    fn body<R>(read: impl FnMut(u32) -> R + Send + 'static) -> Body
    where
        R: Future<Output = Result<Bytes, ResultsError>> + Send + 'static,
    {
        let parts = ["[", "0,"].map(Bytes::from);
        Body::from_stream(join_chunks(parts, 4, read))
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn results_arrive_whole_or_end_with_an_error() {
        for _ in 0..200 {
            let read = |chunk: u32| async move {
                tokio::task::yield_now().await;
                Ok(Bytes::from(format!("{chunk},")))
            };
            let whole = tokio::spawn(body(read).collect()).await.unwrap();
            assert_eq!(whole.unwrap().to_bytes(), "[0,1,2,3,");
        }
        let read = |_: u32| async { Err(ResultsError::Gone) };
        assert!(body(read).collect().await.is_err());
    }

    #[tokio::test]
    async fn results_whose_reader_panics_do_not_end() {
        async fn read(_: u32) -> Result<Bytes, ResultsError> {
            panic!("the reader of a chunk");
        }
        let reading = AssertUnwindSafe(body(read).collect());
        assert!(reading.catch_unwind().await.is_err());
    }

    #[tokio::test]
    async fn a_large_chunk_holds_its_own_memory_until_it_is_written() {
        let budget = MemoryBudget::new(4 << 20);
        let memory = budget.of(&"tenant".parse().unwrap());
        let small = hold(&memory, vec![b' '; CHUNK]).await.unwrap();
        assert_eq!((small.len(), budget.reserved_bytes()), (CHUNK, 0));
        let mut large = hold(&memory, vec![b' '; CHUNK + 1]).await.unwrap();
        drop(large.split_to(CHUNK));
        assert_eq!(budget.reserved_bytes(), CHUNK + 1);
        drop(large);
        assert_eq!(budget.reserved_bytes(), 0);
    }
}
