//! Middleware that authorizes a request and acquires its slot, once its key and its route are
//! known.
//!
//! In order: scope (403), rate, concurrency and capacity (429), degraded storage (503). The body
//! comes after all of them ([`super::body`]: 415, 413, 408, 503). So the server reads no byte of
//! it, and sends no `100 Continue`, for a request that it refuses.

use super::authenticate::require;
use super::connection_state::Connection;
use super::error::{ApiError, memory_full, storage_unavailable};
use super::guarded_body::GuardedBody;
use super::middleware::Middleware;
use crate::memory_budget::{MemoryReservation, SMALL, TenantMemory};
use crate::quota::{CountedRequest, Slot};
use crate::service::Service;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use domesday_contract::error::{Code, ValidationError};
use domesday_state::{Principal, Scope};
use std::future::Future;
use std::sync::Arc;

/// The scope that a route requires of a key.
#[derive(Debug, Clone, Copy)]
pub enum RequiredScope {
    /// One scope.
    Scope(Scope),
    /// Any scope of the valuation interface.
    AnyValuation,
}

/// The middleware that authorizes a request, and holds its slot until the response is written.
#[derive(Clone)]
pub struct Gate {
    /// The service.
    pub service: Arc<Service>,
    /// The scope of the route.
    pub needs: RequiredScope,
}

/// A request that passed the gate, with its slot.
pub struct GatedRequest {
    memory: TenantMemory,
    slot: Slot,
    connection: Option<Connection>,
}

impl Middleware for Gate {
    type Facts = GatedRequest;

    fn enter(&self, request: &mut Request) -> Result<GatedRequest, ApiError> {
        let (slot, memory) = enter(&self.service, self.needs, request)?;
        Ok(GatedRequest::new(memory, slot, request))
    }

    async fn respond(
        gated: GatedRequest,
        responding: impl Future<Output = Response> + Send + 'static,
    ) -> Response {
        gated.hold(responding.await)
    }
}

impl GatedRequest {
    /// Returns a request that holds a slot.
    pub(super) fn new(memory: TenantMemory, slot: Slot, request: &Request) -> GatedRequest {
        GatedRequest {
            memory,
            slot,
            connection: request.extensions().get::<Connection>().cloned(),
        }
    }

    /// Holds the slot and the memory of a response until it is written.
    pub(super) fn hold(self, mut response: Response) -> Response {
        let GatedRequest {
            memory,
            slot,
            connection,
        } = self;
        let exact = response.body().size_hint().exact().map(size);
        // A connection may leave as much unread without holding a slot or memory.
        let small = exact.is_some_and(|bytes| bytes <= SMALL);
        let reserved = response.extensions_mut().remove::<ReservedMemory>();
        let reservation = match (reserved, exact) {
            (Some(ReservedMemory(reservation)), _) => Some(reservation),
            (None, Some(bytes)) if !small => match memory.reserve(bytes) {
                Some(reservation) => Some(Arc::new(reservation)),
                None => return ApiError::from(memory_full()).into_response(),
            },
            (None, _) => None,
        };
        response.map(|body| {
            let guard = ResponseGuard {
                small,
                held: Some((slot, reservation)),
                connection,
            };
            Body::new(GuardedBody::new(body, guard))
        })
    }
}

/// The memory that a handler reserved for its response, as an extension of the response.
#[derive(Clone)]
pub struct ReservedMemory(pub Arc<MemoryReservation>);

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn enter(
    service: &Service,
    needs: RequiredScope,
    request: &Request,
) -> Result<(Slot, TenantMemory), ApiError> {
    let extensions = request.extensions();
    let (Some(principal), Some(arrival)) = (
        extensions.get::<Arc<Principal>>(),
        extensions.get::<CountedRequest>(),
    ) else {
        // The router has no route outside the layer that authenticates.
        return Err(super::error::internal().into());
    };
    match needs {
        RequiredScope::Scope(scope) => require(principal, scope)?,
        RequiredScope::AnyValuation => any_valuation(principal)?,
    }
    let slot = arrival.enter()?;
    // Requests that only read still work.
    if request.method() == Method::POST && !service.can_value() {
        return Err(storage_unavailable());
    }
    Ok((slot, service.memory.of(&principal.tenant)))
}

fn any_valuation(principal: &Principal) -> Result<(), ApiError> {
    let scopes = [Scope::AvmValue, Scope::AvmDevelopment, Scope::AvmStoredData];
    if scopes.into_iter().any(|scope| principal.scopes.has(scope)) {
        return Ok(());
    }
    Err(ValidationError::new(
        Code::ScopeRequired,
        "This route needs a key with a valuation scope, such as avm:value.",
    )
    .into())
}

/// The slot and the memory of a request until the last part of its response is handed over.
struct ResponseGuard {
    small: bool,
    held: Option<(Slot, Option<Arc<MemoryReservation>>)>,
    connection: Option<Connection>,
}

impl Drop for ResponseGuard {
    fn drop(&mut self) {
        // The body is handed over but not yet written: the connection knows when it is. Release the
        // slot early for small bodies, so that a client can send its next request as soon as it has
        // read the response.
        if let (Some(held), Some(connection), false) =
            (self.held.take(), &self.connection, self.small)
        {
            connection.after_flush(held);
        }
    }
}
