//! Many properties: POST /v3/simple-batch-value, /v3/batch-value and /v3/development-batch-value.

use super::body::{self, Received};
use super::discovery::no_parameters;
use super::endpoint::Pinned;
use super::refusal::{Refusal, internal};
use super::request_id::{Ended, Trail, Valuation};
use super::single::kept;
use crate::admission::units::charge;
use crate::clock::new_id;
use crate::service::Service;
use crate::valuation::extent::foreseen;
use crate::valuation::row::{ParsedRow, Shared, parse};
use crate::valuation::{admit, batch};
use axum::body::Body;
use axum::extract::{Extension, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domesday_breaks::{broken, panic_here};
use domesday_contract::v3::options::Settings;
use domesday_contract::v3::request::{Batch, ROWS_MAX};
use domesday_contract::v3::result::{BATCH_END, BatchStatus, batch_start};
use domesday_contract::vocabulary::Vocabulary;
use domesday_state::{Principal, Scope};
use rayon::prelude::*;
use std::sync::Arc;
use std::time::Instant;

/// Rows that are parsed by one thread at least: finer pieces would cost more than they share.
const PARSED_TOGETHER: usize = 64;

/// An envelope of results, one a row.
pub async fn values(
    State(service): State<Arc<Service>>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trail): Extension<Trail>,
    Extension(Pinned { route, release }): Extension<Pinned>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let received = body::receive(&service.body_room, &headers, body).await?;
    no_parameters(query.as_deref())?;
    let deadline = Instant::now() + service.processing_deadline;

    let most = ROWS_MAX - usize::from(broken("limit-batch-rows"));
    let rows_max = most
        .min(match broken("limits-lowest-release") {
            true => ROWS_MAX,
            false => release.manifest.limits.synchronous_batch_rows as usize,
        })
        .min(principal.plan.synchronous_batch_rows as usize);
    let execution_id = new_id(&*service.clock);
    let valuation_id = batch::first(new_id(&*service.clock));
    let receipts = service.receipts_of(&principal.tenant, execution_id).await?;
    let shared = Shared {
        release: release.clone(),
        kind: route.kind,
        depth: route.depth,
        settings: Settings::default(),
        stored_data: principal.scopes.has(Scope::AvmStoredData),
        execution_id,
        receipts: receipts.clone(),
        shadow: service.shadows.now(),
    };
    let (shared, rows) = service
        .workers
        .run_divided(move || read(received, shared, rows_max))
        .await??;
    let shared = Arc::new(shared);
    let admitted = rows.iter().filter(|row| row.admitted()).count();
    trail.valuation(Valuation {
        execution_id,
        valuation_id,
        rows: rows.len(),
        admitted,
        release_id: release.id.clone(),
    });

    // All of them or none, made durable while the release runs.
    let units = u32::try_from(admitted).unwrap_or(u32::MAX);
    let mut charging = charge(&service.state, &principal, units, service.clock.now());
    let work = batch::value(
        &service.workers,
        service.identity.as_ref(),
        &shared,
        rows,
        valuation_id,
        deadline,
    );
    let done = charging.beside(work).await?;
    let kept = kept(receipts.as_deref()).await;
    let undone = match kept {
        Ok(()) => done.undone,
        Err(_) => units,
    };
    charging.settle(undone).await?;
    kept?;
    let kept = units.saturating_sub(done.undone);
    service.metrics.units_charged(kept.into());
    service.metrics.summary(&release.id, &done.summary);
    trail.ended(Ended {
        status: done.summary.status().code(),
        problem: done.problem,
    });
    let mut text = batch_start(&release.id, done.summary).map_err(|error| {
        tracing::error!(%error, "an envelope could not be written");
        internal()
    })?;
    text.extend_from_slice(&done.json);
    text.extend_from_slice(BATCH_END);
    let json = [(header::CONTENT_TYPE, "application/json")];
    let status = match done.summary.status() {
        BatchStatus::Partial if broken("endpoints-2-envelope") => StatusCode::MULTI_STATUS,
        _ => StatusCode::OK,
    };
    Ok((status, json, text).into_response())
}

/// Reads the envelope, and every row for itself; the body is then done with.
fn read(
    received: Received,
    shared: Shared,
    rows_max: usize,
) -> Result<(Shared, Vec<ParsedRow>), Refusal> {
    let Batch { settings, rows } = Batch::read(received.bytes(), shared.kind, rows_max)?;
    panic_here("batch");
    let asked = settings.use_stored_data == Some(true);
    admit::stored_data(asked, shared.stored_data)?;
    let shared = Shared { settings, ..shared };
    let rows = match broken("options-7-own") {
        true => vec![rows[0]; rows.len()],
        false => rows,
    };
    let rows = rows
        .par_iter()
        .with_min_len(PARSED_TOGETHER)
        .map(|row| parse(row, &shared))
        .collect::<Vec<_>>();
    foreseen(&rows, &shared)?;
    Ok((shared, rows))
}
