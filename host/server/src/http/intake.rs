//! The order in which a request is let in, once its key and its route are known: scope (403),
//! rate, concurrency and capacity (429), the state of the store (503). The body comes after all
//! of them ([`super::body`]: 415, 413, 503, 408), so that no byte of it is asked for, and no
//! `100 Continue` sent, on behalf of a request that would be refused.

use super::authenticate::require;
use super::connection::Connection;
use super::refusal::{Refusal, nothing_kept};
use crate::admission::{Arrival, Slot};
use crate::service::Service;
use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use domesday_breaks::broken;
use domesday_contract::error::{Code, Fault};
use domesday_state::{Principal, Scope};
use hyper::body::{Bytes, Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Bytes of an answer that a connection may hold unread without holding a slot.
const SMALL: u64 = 64 << 10;

/// What a route asks of a key.
#[derive(Debug, Clone, Copy)]
pub enum Needs {
    /// This scope.
    Scope(Scope),
    /// Any scope of the valuation interface.
    AnyValuation,
}

/// Lets a request in to its route, and holds its slot until the answer is written.
pub async fn intake(
    State((service, needs)): State<(Arc<Service>, Needs)>,
    request: Request,
    next: Next,
) -> Response {
    match enter(&service, needs, &request) {
        Ok(slot) => {
            let connection = request.extensions().get::<Connection>().cloned();
            let response = next.run(request).await;
            response.map(|body| {
                let exact = body.size_hint().exact();
                Body::new(Held {
                    small: exact.is_some_and(|bytes| bytes <= SMALL),
                    body,
                    slot: Some(slot),
                    connection,
                })
            })
        }
        Err(refusal) => refusal.into_response(),
    }
}

fn enter(service: &Service, needs: Needs, request: &Request) -> Result<Slot, Refusal> {
    let extensions = request.extensions();
    let (Some(principal), Some(arrival)) = (
        extensions.get::<Arc<Principal>>(),
        extensions.get::<Arrival>(),
    ) else {
        // A route outside the key's layer; the router has none.
        return Err(super::refusal::internal().into());
    };
    match needs {
        Needs::Scope(scope) => require(principal, scope)?,
        Needs::AnyValuation => any_valuation(principal)?,
    }
    let slot = arrival.enter()?;
    // What only reads can still be answered.
    if request.method() == Method::POST && service.state.trouble().is_some() {
        return Err(nothing_kept());
    }
    Ok(slot)
}

fn any_valuation(principal: &Principal) -> Result<(), Refusal> {
    let scopes = [Scope::AvmValue, Scope::AvmDevelopment, Scope::AvmStoredData];
    if scopes
        .into_iter()
        .any(|scope| principal.scopes.has(scope) || broken("authentication-5"))
    {
        return Ok(());
    }
    Err(Fault::new(
        Code::ScopeRequired,
        "This route needs a key with a valuation scope, such as avm:value.",
    )
    .into())
}

/// An answer's body with the slot of its request.
struct Held {
    body: Body,
    small: bool,
    slot: Option<Slot>,
    connection: Option<Connection>,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // The body is handed over, not yet written: the connection knows when it is. A small one's
        // slot is free before its last byte can be read, so that a client that has its answer is
        // not refused its next request.
        if let (Some(slot), Some(connection), false) =
            (self.slot.take(), &self.connection, self.small)
        {
            connection.after_flush(slot);
        }
    }
}
