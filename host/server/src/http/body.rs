//! Receives a JSON body. The head is checked before the first byte is read.

use super::discovery::no_parameters;
use super::error::{ApiError, memory_full};
use crate::memory_budget::{MemoryReservation, SMALL, TenantMemory};
use axum::body::Body;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use domesday_contract::error::{Code, ValidationError};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use std::time::Duration;

/// The largest JSON body, bytes.
pub const MAX_BYTES: usize = 9_500_000;
/// The time that a body has to arrive.
pub const TIME: Duration = Duration::from_secs(10);

/// A body with the memory that it holds.
pub struct RequestBody {
    bytes: Vec<u8>,
    memory: MemoryReservation,
}

impl RequestBody {
    /// Returns the bytes of the body.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Drops the body, and returns the memory that was reserved for it.
    pub fn into_memory(self) -> MemoryReservation {
        self.memory
    }
}

/// Reads the whole body of a request that takes no query parameters.
///
/// # Errors
/// As [`receive`], and then 422 for a parameter.
pub async fn of_request(memory: &TenantMemory, request: Request) -> Result<RequestBody, ApiError> {
    let (head, body) = request.into_parts();
    let received = receive(memory, &head.headers, body).await?;
    no_parameters(head.uri.query())?;
    Ok(received)
}

/// Reads the whole body. Its memory is reserved as its bytes arrive, so that a client holds no more
/// than it sent.
///
/// # Errors
/// 415, 413, 408, or 503 where the memory is reserved.
pub async fn receive(
    memory: &TenantMemory,
    headers: &HeaderMap,
    body: Body,
) -> Result<RequestBody, ApiError> {
    let length = check_head(headers)?;
    match tokio::time::timeout(TIME, collect(memory, body, length)).await {
        Ok(received) => received,
        Err(_) => Err(ValidationError::new(
            Code::BodyTimeout,
            "The body did not arrive within 10 seconds.",
        )
        .into()),
    }
}

async fn collect(
    memory: &TenantMemory,
    body: Body,
    length: Option<usize>,
) -> Result<RequestBody, ApiError> {
    let mut body = Limited::new(body, MAX_BYTES);
    let mut bytes = Vec::new();
    let mut reservation = memory.reserve(0).ok_or_else(memory_full)?;
    while let Some(frame) = body.frame().await {
        let Ok(part) = frame.map_err(broken_off)?.into_data() else {
            continue;
        };
        let size = bytes.len() + part.len();
        if size > SMALL {
            // By halves, as the vector grows, but no more than may still come.
            let ample = (size + size / 2).min(length.unwrap_or(MAX_BYTES)).max(size);
            if size > reservation.bytes() && !reservation.grow_between(size, ample) {
                return Err(memory_full().into());
            }
            // The declared length at once: a vector that doubles holds a body twice while it moves
            // it. The bytes that have not arrived are address space and no memory.
            bytes.reserve_exact(length.unwrap_or(0).saturating_sub(bytes.len()));
        }
        bytes.extend_from_slice(&part);
    }
    Ok(RequestBody {
        bytes,
        memory: reservation,
    })
}

fn broken_off(error: Box<dyn std::error::Error + Send + Sync>) -> ApiError {
    if error.is::<LengthLimitError>() {
        return too_large().into();
    }
    // The client disconnected or broke the framing.
    vec![ValidationError::new(Code::InvalidJson, "The body broke off before its end.").at("")]
        .into()
}

/// Checks the encoding, the type and the length that the head declares, and returns the length.
fn check_head(headers: &HeaderMap) -> Result<Option<usize>, ValidationError> {
    let encoded = |name, plain: &[u8]| {
        let mut encodings = headers.get_all(name).iter();
        encodings.any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(plain))
    };
    if encoded(CONTENT_ENCODING, b"identity") || encoded(TRANSFER_ENCODING, b"chunked") {
        return Err(ValidationError::new(
            Code::CompressedBody,
            "Compressed bodies are not accepted; send the JSON as it is.",
        ));
    }
    if !headers
        .get(CONTENT_TYPE)
        .is_some_and(|value| value.to_str().is_ok_and(is_json))
    {
        return Err(ValidationError::new(
            Code::UnsupportedMediaType,
            "Send the body with Content-Type: application/json.",
        ));
    }
    let length = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    match length {
        Some(length) if length > MAX_BYTES => Err(too_large()),
        length => Ok(length),
    }
}

/// Returns whether a media type is `application/json`, in any case, with no charset but UTF-8.
fn is_json(value: &str) -> bool {
    let mut parts = value.split(';').map(str::trim);
    parts
        .next()
        .is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"))
        && parts.filter(|part| !part.is_empty()).all(|parameter| {
            parameter.split_once('=').is_some_and(|(name, value)| {
                !name.eq_ignore_ascii_case("charset")
                    || value.trim_matches('"').eq_ignore_ascii_case("utf-8")
            })
        })
}

fn too_large() -> ValidationError {
    ValidationError::new(
        Code::BodyTooLarge,
        "The body is larger than 9,500,000 bytes. Split the rows over several requests.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_json_in_any_case_and_in_utf_8_only() {
        for good in [
            "application/json",
            "Application/JSON; charset=UTF-8",
            "application/json;charset=\"utf-8\"",
        ] {
            assert!(is_json(good), "{good}");
        }
        for bad in [
            "",
            "text/json",
            "application/json; charset=latin1",
            "application/jsonx",
            "application/json; utf-8",
        ] {
            assert!(!is_json(bad), "{bad}");
        }
    }
}
