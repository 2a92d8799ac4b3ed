//! One property: POST /v3/simple-value, /v3/value and /v3/development-value.

use super::body;
use super::discovery::no_parameters;
use super::endpoint::Pinned;
use super::refusal::{Refusal, internal, json};
use super::request_id::{Ended, Trail, Valuation};
use crate::admission::units::charge;
use crate::clock::new_id;
use crate::receipts::Keeping;
use crate::service::Service;
use crate::valuation::admit;
use crate::valuation::look_up::Answers;
use crate::valuation::row::{Asked, RowOutcome, Shared, asks_for, outcome};
use crate::workers::WorkError;
use axum::body::Body;
use axum::extract::{Extension, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use domesday_breaks::{broken, panic_here};
use domesday_contract::error::{Code, Fault};
use domesday_contract::v3::options::Settings;
use domesday_contract::v3::result::{Outcome, ValuationResult};
use domesday_contract::vocabulary::Vocabulary;
use domesday_state::{Principal, Scope};
use std::sync::Arc;
use std::time::Instant;

/// A result of one property.
pub async fn value(
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
    panic_here("single");
    let asked = Asked::read(received.bytes(), route.kind)?;
    drop(received);
    let stored_data = principal.scopes.has(Scope::AvmStoredData);
    admit::stored_data(asked.options().use_stored_data, stored_data)?;
    admit::valuation_date(asked.valuation_date(), release.window).map_err(|fault| vec![fault])?;

    let (execution_id, valuation_id) = (new_id(&*service.clock), new_id(&*service.clock));
    trail.valuation(Valuation {
        execution_id,
        valuation_id,
        rows: 1,
        admitted: 1,
        release_id: release.id.clone(),
    });
    let receipts = service.receipts_of(&principal.tenant, execution_id).await?;
    let shared = Shared {
        release: release.clone(),
        kind: route.kind,
        depth: route.depth,
        settings: Settings::default(),
        stored_data,
        execution_id,
        receipts: receipts.clone(),
        shadow: service.shadows.now(),
    };
    // One unit, made durable while the release runs.
    let mut charging = charge(&service.state, &principal, 1, service.clock.now());
    let work = async {
        let (asked, shared, answers) = looked_up(&service, asked, shared).await?;
        service
            .workers
            .run(move || {
                let done = outcome(&asked, &shared, &answers, valuation_id, Some(deadline));
                (asked, done)
            })
            .await
    };
    let work = tokio::time::timeout_at(deadline.into(), work);
    let worked = match charging.beside(work).await? {
        Ok(worked) => worked.map_err(Refusal::from),
        Err(_) => Err(too_late()),
    };
    let worked = kept(receipts.as_deref()).await.and(worked);
    let undone = worked.as_ref().map_or(true, |(_, done)| done.undone);
    charging.settle(u32::from(undone)).await?;
    service.metrics.units_charged(u64::from(!undone));
    let (asked, done) = worked?;
    service
        .metrics
        .values(&release.id, done.outcome.status().code(), 1);
    trail.ended(Ended {
        status: done.outcome.status().code(),
        problem: done.problem.clone(),
    });
    let result = ValuationResult {
        release_id: &release.id,
        execution_id,
        valuation_id,
        request_reference: asked.request_reference(),
        outcome: answered(done)?,
    };
    Ok(json(StatusCode::OK, &result))
}

/// Waits until the receipts of what is about to be answered are durable.
pub(super) async fn kept(receipts: Option<&Keeping>) -> Result<(), Refusal> {
    match receipts {
        Some(receipts) => Ok(receipts.kept().await?),
        None => Ok(()),
    }
}

/// The request with what the identity provider says, where there is one and it is needed.
async fn looked_up(
    service: &Service,
    asked: Asked,
    shared: Shared,
) -> Result<(Asked, Shared, Arc<Answers>), WorkError> {
    let Some(provider) = &service.identity else {
        return Ok((asked, shared, Arc::new(Answers::none())));
    };
    let look = service.workers.run(move || {
        let postcode = asks_for(&asked, &shared);
        (asked, shared, postcode)
    });
    let (asked, shared, postcode) = look.await?;
    let wanted = postcode.into_iter().collect();
    let answers = Arc::new(Answers::wanted(Some(provider.clone()), wanted));
    answers.clone().ask_all().await;
    Ok((asked, shared, answers))
}

/// A single request is the row: where the row is rejected or undone, the request is refused.
fn answered(done: RowOutcome) -> Result<Outcome, Refusal> {
    match done.outcome {
        Outcome::Rejected(faults) if !done.undone && !broken("endpoints-1-unresolved") => {
            Err(faults.into())
        }
        Outcome::Rejected(faults) | Outcome::Failed(faults) if done.undone => {
            if let Some(problem) = &done.problem {
                tracing::error!(problem, "a value could not be worked out");
            }
            match faults.into_iter().next() {
                Some(fault) if fault.code == Code::ProcessingDeadlineExceeded => Err(too_late()),
                Some(fault) if fault.code != Code::Internal && !broken("endpoints-1-provider") => {
                    let refusal = Refusal::from(fault);
                    Err(match done.retry_after {
                        Some(wait) => refusal.after(wait),
                        None => refusal,
                    })
                }
                _ => Err(internal().into()),
            }
        }
        Outcome::Referred(_) if broken("endpoints-1-referred") => Err(internal().into()),
        outcome => Ok(outcome),
    }
}

fn too_late() -> Refusal {
    let message = "The valuation was not done within 25 seconds. Try again.";
    Fault::new(Code::ProcessingDeadlineExceeded, message).into()
}
