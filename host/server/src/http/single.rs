//! POST /v3/simple-value and POST /v3/value: one existing property.

use super::authenticate::require;
use super::body;
use super::refusal::{Refusal, internal, json};
use super::request_id::{Ended, Trail, Valuation};
use crate::clock::new_id;
use crate::releases::OpenRelease;
use crate::service::Service;
use crate::valuation::render::{Rendering, render};
use crate::valuation::resolve::{Unresolved, identity};
use crate::valuation::value::{label, problem, value as run};
use crate::valuation::{admit, context, merge};
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use domesday_contract::error::{Code, Fault};
use domesday_contract::v3::options::Depth;
use domesday_contract::v3::request::Request;
use domesday_contract::v3::result::{Outcome, ValuationResult};
use domesday_engine::outcome::RowFailure;
use domesday_state::{Principal, Scope};
use std::sync::Arc;
use std::time::Duration;

/// How long a request may be worked on after its body is received.
const DEADLINE: Duration = Duration::from_secs(25);

/// Estimate, range, confidence and the record of inputs.
pub async fn simple_value(
    service: State<Arc<Service>>,
    principal: Extension<Arc<Principal>>,
    trail: Extension<Trail>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    one(service, principal, trail, headers, body, Depth::Simple).await
}

/// The same with comparables and context, where the options ask for them.
pub async fn value(
    service: State<Arc<Service>>,
    principal: Extension<Arc<Principal>>,
    trail: Extension<Trail>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    one(service, principal, trail, headers, body, Depth::Standard).await
}

async fn one(
    State(service): State<Arc<Service>>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trail): Extension<Trail>,
    headers: HeaderMap,
    body: Body,
    depth: Depth,
) -> Result<Response, Refusal> {
    require(&principal, Scope::AvmValue)?;
    let received = body::receive(&service.body_room, &headers, body).await?;
    // The release is pinned here: whatever is promoted meanwhile, this request stays on it.
    let release = service.releases.current();
    let request = Request::read(received.bytes())?;
    drop(received);
    admit::stored_data(&request.options, &principal)?;
    admit::valuation_date(&request.property, release.window).map_err(|fault| vec![fault])?;

    let (execution_id, valuation_id) = (new_id(&*service.clock), new_id(&*service.clock));
    trail.valuation(Valuation {
        execution_id,
        valuation_id,
        release_id: release.id.clone(),
    });
    let pinned = release.clone();
    let work = service.workers.run(move || {
        let done = work(&pinned, &request, depth);
        (request.request_reference, done)
    });
    let (request_reference, done) = match tokio::time::timeout(DEADLINE, work).await {
        Ok(done) => done?,
        Err(_) => {
            let message = "The valuation was not done within 25 seconds. Try again.";
            return Err(Fault::new(Code::ProcessingDeadlineExceeded, message).into());
        }
    };
    let done = done?;
    trail.ended(Ended {
        status: done.status,
        problem: done.problem,
    });
    let result = ValuationResult {
        release_id: &release.id,
        execution_id,
        valuation_id,
        request_reference: request_reference.as_deref(),
        outcome: done.outcome,
    };
    Ok(json(StatusCode::OK, &result))
}

/// What came of a row: for the client, and for the log.
struct Done {
    outcome: Outcome,
    status: &'static str,
    problem: Option<String>,
}

/// The steps that read the snapshot and run the release. Blocks.
fn work(release: &OpenRelease, request: &Request, depth: Depth) -> Result<Done, Refusal> {
    let identity =
        identity(&release.snapshot, &request.property).map_err(|unresolved| match unresolved {
            Unresolved::Rejected(fault) => Refusal::from(vec![*fault]),
            Unresolved::Store(error) => {
                tracing::error!(%error, "the identity store could not be read");
                let message = "The identity store does not answer. Try again.";
                Fault::new(Code::IdentityProviderUnavailable, message).into()
            }
        })?;
    let merged = merge::merge(request, &identity, release.latest_sale);
    let subject = Arc::new(merged.subject);
    let row = run(release, &subject);
    let (status, problem) = (label(&row), problem(&row));
    // A single request is the row: where the host failed, the request did, and may be tried again.
    if let Err(RowFailure::Host { problem }) = &row.outcome {
        tracing::error!(problem, release_id = release.id, "a row could not be run");
        return Err(internal().into());
    }
    let shown = request.options.shown(depth);
    let context = match shown.context {
        true => Some(
            context::context(&release.snapshot, &subject).map_err(|error| {
                tracing::error!(%error, "the context could not be read");
                Refusal::from(internal())
            })?,
        ),
        false => None,
    };
    let rendering = Rendering {
        release,
        subject: &subject,
        stored_data_used: merged.stored_data_used,
        ignored_inputs: request.ignored_inputs.clone(),
        comparables: shown.comparables,
        context,
    };
    Ok(Done {
        outcome: render(row, rendering),
        status,
        problem,
    })
}
