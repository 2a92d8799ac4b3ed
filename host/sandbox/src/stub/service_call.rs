//! Calls of the service behind the stub.

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header;
use axum::response::Response;
use tower_service::Service;

/// Calls the service.
pub async fn call(service: &Router, request: Request) -> Response {
    let mut service = service.clone();
    match service.call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// Returns a GET of a path, as the client of a request would send it.
pub fn get_as_client(of: &Request, path: &str) -> Request {
    let mut request = Request::new(Body::empty());
    if let Ok(address) = path.parse() {
        *request.uri_mut() = address;
    }
    if let Some(key) = of.headers().get(header::AUTHORIZATION) {
        let headers = request.headers_mut();
        headers.insert(header::AUTHORIZATION, key.clone());
    }
    *request.extensions_mut() = of.extensions().clone();
    request
}
