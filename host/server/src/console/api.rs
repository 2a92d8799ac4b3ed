//! Requests of a session to the service's own routes, inside this process.

use super::Console;
use super::error::ConsoleError;
use crate::console_sessions::Session;
use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Limited};
use serde_json::Value;
use tower_service::Service as _;

/// The largest response that a page reads, bytes.
const MAX_BYTES: usize = 64 << 20;

/// A response of the API.
pub(super) struct ApiResponse {
    pub(super) status: StatusCode,
    pub(super) body: Value,
}

impl ApiResponse {
    /// Returns the body, or the error that it holds.
    ///
    /// # Errors
    /// `Api` with the message of the API.
    pub(super) fn ok(self) -> Result<Value, ConsoleError> {
        match self.status.is_success() {
            true => Ok(self.body),
            false => Err(ConsoleError::Api {
                status: self.status,
                message: self.message(),
            }),
        }
    }

    /// Returns every error in the content of a request.
    pub(super) fn errors(&self) -> Vec<Value> {
        let errors = self.body["errors"].as_array();
        errors.cloned().unwrap_or_default()
    }

    /// Returns the message of an error.
    pub(super) fn message(&self) -> String {
        let message = self.body["error"]["message"].as_str();
        message.map_or_else(
            || format!("the API answered {}", self.status),
            str::to_owned,
        )
    }
}

impl Console {
    /// Reads a route with the key of the session.
    ///
    /// # Errors
    /// `Response` if the response is no JSON.
    pub(super) async fn get(
        &self,
        session: &Session,
        path: &str,
    ) -> Result<ApiResponse, ConsoleError> {
        self.call(session, Method::GET, path, Body::empty()).await
    }

    /// Posts a body with the key of the session.
    ///
    /// # Errors
    /// As [`Console::get`].
    pub(super) async fn post(
        &self,
        session: &Session,
        path: &str,
        body: &Value,
    ) -> Result<ApiResponse, ConsoleError> {
        let body = Body::from(body.to_string());
        self.call(session, Method::POST, path, body).await
    }

    async fn call(
        &self,
        session: &Session,
        method: Method,
        path: &str,
        body: Body,
    ) -> Result<ApiResponse, ConsoleError> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(AUTHORIZATION, format!("Bearer {}", session.key.expose()))
            .header(CONTENT_TYPE, "application/json")
            .body(body)
            .map_err(|error| ConsoleError::Form(error.to_string()))?;
        // A router is always ready, and never fails.
        let response = match self.api.clone().call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let status = response.status();
        let body = Limited::new(response.into_body(), MAX_BYTES).collect();
        let bytes = body.await.map_err(|_| ConsoleError::Response)?.to_bytes();
        let body = serde_json::from_slice(&bytes).map_err(|_| ConsoleError::Response)?;
        Ok(ApiResponse { status, body })
    }
}
