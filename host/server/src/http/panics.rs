//! A panic while a request is answered is that request's alone.

use super::refusal::{Refusal, internal};
use axum::response::{IntoResponse, Response};
use domesday_breaks::broken;
use std::any::Any;
use std::panic::resume_unwind;

/// The answer to a request whose handler panicked: 500 `internal`, and a log line.
pub fn answer(panic: Box<dyn Any + Send + 'static>) -> Response {
    let said = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("nothing");
    tracing::error!(said, "the answer to a request panicked");
    if broken("error-500-panic") {
        resume_unwind(panic);
    }
    Refusal::from(internal()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::body::Body;
    use axum::extract::Request;
    use axum::routing::get;
    use http_body_util::BodyExt;
    use tower_http::catch_panic::CatchPanicLayer;
    use tower_service::Service;

    #[tokio::test]
    async fn a_panic_is_a_500_of_its_own_request_and_tells_nothing() {
        async fn panics() {
            panic!("a secret of ours");
        }
        let mut router = Router::new()
            .route("/panics", get(panics))
            .route("/works", get(|| async { "works" }))
            .layer(CatchPanicLayer::custom(answer));
        let mut ask = |path: &str| router.call(Request::get(path).body(Body::empty()).unwrap());
        let (harmed, unharmed) = (ask("/panics"), ask("/works"));
        let response = harmed.await.unwrap();
        assert_eq!(response.status(), 500);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["error"]["code"], "internal");
        assert!(!body.to_string().contains("secret"));
        assert_eq!(unharmed.await.unwrap().status(), 200);
    }
}
