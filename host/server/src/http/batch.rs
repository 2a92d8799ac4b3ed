//! Many properties: POST /v3/simple-batch-value, /v3/batch-value and /v3/development-batch-value.

use super::body;
use super::body::RequestBody;
use super::error::{ApiError, internal, memory_full};
use super::gate::ReservedMemory;
use super::routes::MatchedRoute;
use super::row_limits::row_limits;
use crate::clock::new_id;
use crate::execution::batch::BatchRows;
use crate::execution::{Execution, in_time};
use crate::service::Service;
use crate::telemetry::request_log::RequestLog;
use axum::extract::{Extension, Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domesday_contract::v3::options::Settings;
use domesday_contract::v3::request::{Batch, ROWS_MAX};
use domesday_state::Principal;
use domesday_valuation::pipeline::deadline::Deadline;
use domesday_valuation::pipeline::response_size::{check_response_size, expected_response_size};
use domesday_valuation::pipeline::row::{ParsedRow, RequestContext, parse};
use domesday_valuation::pipeline::{authorize, batch};
use domesday_valuation::worker_pool::WorkError;
use rayon::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// Rows that one thread parses at least. Handing over fewer costs more than it saves.
const PARSED_TOGETHER: usize = 64;

/// The longest wait for the memory of a response.
const MEMORY_TIME: Duration = Duration::from_secs(5);

/// Answers with an envelope that has one result a row.
pub async fn values(
    State(service): State<Arc<Service>>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(log): Extension<RequestLog>,
    Extension(pinned): Extension<MatchedRoute>,
    request: Request,
) -> Result<Response, ApiError> {
    let memory = service.memory.of(&principal.tenant);
    let received = body::of_request(&memory, request).await?;
    let deadline = Deadline::after(service.processing_time());
    let limits = row_limits(&pinned.release.manifest.limits, &principal.plan);
    let rows_max = ROWS_MAX.min(limits.synchronous_batch_rows as usize);
    let execution_id = new_id(&*service.clock);
    let context = pinned.context(&principal, Settings::default(), execution_id);
    let parsing = service
        .workers
        .run_parallel(move || read(received, context, rows_max));
    // A batch has no deadline error: its late rows are errors of rows, which are not known before
    // the parse. So a late parse is `overloaded`, as is one that found no worker.
    let parsed = in_time(deadline, parsing).await;
    let (context, rows) = parsed.unwrap_or(Err(WorkError::Full))??;
    // The body is dropped by now: nobody waits for memory while others wait for theirs.
    let bytes = expected_response_size(&rows, &context);
    let reserving = memory.reserve_within(bytes, MEMORY_TIME.min(deadline.remaining()));
    let mut memory = reserving.await.ok_or_else(memory_full)?;

    let execution = Execution {
        service: &service,
        principal: &principal,
        log: &log,
        context,
        first_valuation_id: batch::first(new_id(&*service.clock)),
        deadline,
    };
    let results = execution.run(BatchRows(rows)).await?;
    let text = results.response(&pinned.release.id).map_err(|error| {
        tracing::error!(%error, "an envelope could not be written");
        internal()
    })?;
    memory.shrink(text.len());
    let memory = Extension(ReservedMemory(Arc::new(memory)));
    let json = [(header::CONTENT_TYPE, "application/json")];
    Ok((json, memory, text).into_response())
}

/// Parses the envelope and each row, authorizes the options and drops the body.
fn read(
    received: RequestBody,
    context: RequestContext,
    rows_max: usize,
) -> Result<(RequestContext, Vec<ParsedRow>), ApiError> {
    let Batch { settings, rows } = Batch::read(received.bytes(), context.kind, rows_max)?;
    let stored_data = settings.use_stored_data == Some(true);
    authorize::stored_data(stored_data, context.stored_data)?;
    let context = RequestContext {
        settings,
        ..context
    };
    let rows = rows
        .par_iter()
        .with_min_len(PARSED_TOGETHER)
        .map(|row| parse(row, &context))
        .collect::<Vec<_>>();
    check_response_size(&rows, &context)?;
    Ok((context, rows))
}
