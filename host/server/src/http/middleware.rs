//! Middleware that copies nothing of the service that it wraps.
//!
//! axum's `from_fn` clones and boxes the wrapped service for each request. A boxed service clones
//! all services below it.

use super::error::ApiError;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// Middleware in two steps: one before a request is passed on, and one around its response.
pub trait Middleware: Clone + Send + Sync + 'static {
    /// The facts that the first step leaves for the second.
    type Facts: Send + 'static;

    /// Prepares a request, or refuses it.
    ///
    /// # Errors
    /// The refusal, which is the response.
    fn enter(&self, request: &mut Request) -> Result<Self::Facts, ApiError>;

    /// Waits for the response, and finishes it. Leaves it as it is by default.
    fn respond(
        _: Self::Facts,
        responding: impl Future<Output = Response> + Send + 'static,
    ) -> impl Future<Output = Response> + Send + 'static {
        responding
    }
}

/// The layer of a middleware.
#[derive(Clone)]
pub struct MiddlewareLayer<A>(pub A);

impl<A: Clone, S> Layer<S> for MiddlewareLayer<A> {
    type Service = MiddlewareService<A, S>;

    fn layer(&self, inner: S) -> MiddlewareService<A, S> {
        MiddlewareService {
            middleware: self.0.clone(),
            inner,
        }
    }
}

/// A service with a middleware around it.
#[derive(Clone)]
pub struct MiddlewareService<A, S> {
    middleware: A,
    inner: S,
}

impl<A, S> Service<Request> for MiddlewareService<A, S>
where
    A: Middleware,
    S: Service<Request, Error = Infallible>,
    S::Response: IntoResponse,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let entered = match self.middleware.enter(&mut request) {
            Ok(entered) => entered,
            Err(refusal) => return Box::pin(std::future::ready(Ok(refusal.into_response()))),
        };
        let inner = self.inner.call(request);
        let responding = async move {
            match inner.await {
                Ok(response) => response.into_response(),
                Err(never) => match never {},
            }
        };
        let responding = A::respond(entered, responding);
        Box::pin(async move { Ok(responding.await) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::body::Body;
    use axum::http::HeaderValue;
    use axum::routing::get;
    use domesday_contract::error::{Code, ValidationError};

    /// Refuses requests without a header, and returns that of others in their responses.
    #[derive(Clone)]
    struct Echo(&'static str);

    impl Middleware for Echo {
        type Facts = (&'static str, HeaderValue);

        fn enter(&self, request: &mut Request) -> Result<Self::Facts, ApiError> {
            let header = request.headers_mut().remove(self.0);
            let missing = || ValidationError::new(Code::MissingCredential, "none");
            Ok((self.0, header.ok_or_else(missing)?))
        }

        async fn respond(
            (name, header): Self::Facts,
            responding: impl Future<Output = Response> + Send + 'static,
        ) -> Response {
            let mut response = responding.await;
            response.headers_mut().insert(name, header);
            response
        }
    }

    #[tokio::test]
    async fn a_middleware_refuses_or_passes_on_and_finishes_the_response() {
        let handler = |request: Request| async move { request.headers().len().to_string() };
        let mut router: Router = Router::new().route("/", get(handler)).layer((
            MiddlewareLayer(Echo("outer")),
            MiddlewareLayer(Echo("inner")),
        ));
        let mut ask = |names: &[&str]| {
            let mut request = axum::http::Request::builder().uri("/");
            for name in names {
                request = request.header(*name, "given");
            }
            router.call(request.body(Body::empty()).unwrap())
        };
        let passed = ask(&["outer", "inner", "other"]).await.unwrap();
        assert_eq!(passed.status(), 200);
        assert_eq!(
            (&passed.headers()["outer"], &passed.headers()["inner"]),
            (&"given".parse().unwrap(), &"given".parse().unwrap())
        );
        let body = axum::body::to_bytes(passed.into_body(), 10).await.unwrap();
        assert_eq!(body, "1", "both steps took their header before the handler");
        let refused = ask(&["outer"]).await.unwrap();
        assert_eq!(refused.status(), 401);
        // The outer one finishes the refusal of the inner one, and not its own.
        assert!(refused.headers().contains_key("outer"));
        let refused = ask(&["inner"]).await.unwrap();
        assert!(refused.status() == 401 && !refused.headers().contains_key("outer"));
    }
}
