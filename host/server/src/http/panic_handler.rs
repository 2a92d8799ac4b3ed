//! A panic while a request is answered is that request's alone.

use super::error::{ApiError, internal};
use axum::response::{IntoResponse, Response};
use std::any::Any;

/// Logs a handler's panic and returns 500 `internal`.
pub fn answer(panic: Box<dyn Any + Send + 'static>) -> Response {
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("unknown panic payload");
    tracing::error!(panic = message, "a request's handler panicked");
    ApiError::from(internal()).into_response()
}

#[cfg(test)]
mod tests {
    //! The routes that panic exist here alone, in the layers that [`wrap_keyed`] and [`wrap`] put
    //! around every route.

    use super::*;
    use crate::connections::few;
    use crate::http::gate::GatedRequest;
    use crate::http::middleware::Middleware;
    use crate::http::request_id::RequestId;
    use crate::http::{bind, body, serve, wrap, wrap_keyed};
    use crate::memory_budget::{MemoryBudget, TenantMemory};
    use crate::quota::RequestLimiter;
    use axum::body::Body;
    use axum::extract::Request;
    use axum::http::HeaderMap;
    use axum::routing::{get, post};
    use axum::{Extension, Router};
    use domesday_state::{KeyId, Plan, Principal, Scopes};
    use serde_json::Value;
    use std::future::Future;
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use uuid::Uuid;

    const BODY: usize = 1 << 20;

    fn one_at_once() -> Principal {
        Principal {
            tenant: "one".parse().unwrap(),
            key_id: KeyId::from_bytes([1; 8]),
            scopes: Scopes::all(),
            plan: Plan {
                concurrency: 1,
                burst: 1_000,
                ..Plan::default()
            },
            requires_metric_selection: false,
        }
    }

    /// Lets requests of one tenant in, whatever their key.
    #[derive(Clone)]
    struct OneTenant(Arc<RequestLimiter>, Principal, TenantMemory);

    impl Middleware for OneTenant {
        type Facts = GatedRequest;

        fn enter(&self, request: &mut Request) -> Result<GatedRequest, ApiError> {
            let slot = self.0.arrive(&self.1).enter()?;
            Ok(GatedRequest::new(self.2.clone(), slot, request))
        }

        async fn respond(
            gated: GatedRequest,
            responding: impl Future<Output = Response> + Send + 'static,
        ) -> Response {
            gated.hold(responding.await)
        }
    }

    async fn open_panics() {
        panic!("a secret of an open route");
    }

    /// Starts a server whose only tenant may have one request at a time, with memory for one body.
    /// Returns a connection to it.
    async fn connection_to_panics() -> TcpStream {
        let (limiter, tenant) = (Arc::new(RequestLimiter::new(1)), one_at_once());
        // A tenant may have half of it.
        let memory = MemoryBudget::new(2 * BODY).of(&tenant.tenant);
        let responses = memory.clone();
        let one_tenant = OneTenant(limiter, tenant, responses);
        let panics = move |headers: HeaderMap, content: Body| async move {
            let received = body::receive(&memory, &headers, content).await?;
            assert!(received.bytes().is_empty(), "a secret of ours");
            Ok::<_, ApiError>(())
        };
        let keyed = Router::new()
            .route("/v3/panics", post(panics.clone()))
            .route("/v1/markets/panics", post(panics))
            .route("/works", get(|| async { "{}" }));
        let keyed = wrap_keyed(keyed, one_tenant);
        let open = Router::new().route("/openapi.json", get(open_panics));
        let router = wrap(open, keyed, ()).layer(Extension(RequestId(Uuid::nil())));
        let listener = bind(([127, 0, 0, 1], 0).into()).unwrap();
        let address = listener.local_addr().unwrap();
        let stop = std::future::pending();
        let connections = few(Duration::from_secs(75), Duration::from_secs(10));
        tokio::spawn(serve(
            listener,
            None,
            connections,
            router,
            stop,
            Duration::ZERO,
        ));
        TcpStream::connect(address).await.unwrap()
    }

    /// Sends one request and reads its answer's status and body.
    async fn ask(stream: &mut TcpStream, request_line: &str, body: &[u8]) -> (u16, Value) {
        let head = format!(
            "{request_line} HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(stream.read_u8().await.unwrap());
        }
        let head = String::from_utf8(answer).unwrap().to_lowercase();
        let length = head.split("content-length: ").nth(1).unwrap();
        let length = length.lines().next().unwrap().parse().unwrap();
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        (
            head[9..12].parse().unwrap(),
            serde_json::from_slice(&body).unwrap(),
        )
    }

    #[tokio::test]
    async fn error_500_panic_is_its_own_requests_alone() {
        let mut stream = connection_to_panics().await;
        let body = vec![b' '; BODY];
        for _ in 0..20 {
            // The request before returned both its slot and its memory.
            let (status, answer) = ask(&mut stream, "POST /v3/panics", &body).await;
            assert_eq!(status, 500, "{answer}");
            assert_eq!(answer["error"]["code"], "internal");
            assert_eq!(answer["error"]["retryable"], true);
            assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
            assert!(!answer.to_string().contains("secret"), "{answer}");
            // The connection lives on.
            assert_eq!(ask(&mut stream, "GET /works", b"").await.0, 200);
        }
        // A route that needs no key is wrapped too.
        let (status, answer) = ask(&mut stream, "GET /openapi.json", b"").await;
        assert_eq!(
            (status, &answer["error"]["code"]),
            (500, &"internal".into())
        );
        assert!(!answer.to_string().contains("secret"), "{answer}");
        assert_eq!(ask(&mut stream, "GET /works", b"").await.0, 200);
    }

    #[tokio::test]
    async fn a_panic_on_a_series_route_is_answered_in_its_own_words() {
        let mut stream = connection_to_panics().await;
        let (status, answer) = ask(&mut stream, "POST /v1/markets/panics", b" ").await;
        assert_eq!(status, 500);
        assert_eq!(answer["request_id"], Uuid::nil().to_string());
        assert_eq!(answer["error"]["code"], "internal");
        assert!(!answer.to_string().contains("secret"), "{answer}");
    }
}
