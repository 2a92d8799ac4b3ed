//! Receiving a JSON body: its declared form before its first byte, then its size and its time.

use super::refusal::Refusal;
use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use domesday_breaks::broken;
use domesday_contract::error::{Code, Fault};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The largest JSON body, bytes.
pub const MAX_BYTES: usize = 9_500_000;
/// How long a body may take to arrive.
pub const TIME: Duration = Duration::from_secs(10);

/// Bytes of bodies held at once, over all clients.
pub const ROOM_BYTES: usize = 256 << 20;

/// The room for bodies, a permit a kibibyte.
pub fn room() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(ROOM_BYTES >> 10))
}

/// A body with the room that it takes.
pub struct Received {
    bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

impl Received {
    /// The body.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads the whole body.
///
/// # Errors
/// 415, 413, 503 where there is no room, or 408, in that order.
pub async fn receive(
    room: &Arc<Semaphore>,
    headers: &HeaderMap,
    body: Body,
) -> Result<Received, Refusal> {
    let bytes = declared(headers)?.unwrap_or(MAX_BYTES);
    let kibibytes = u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX);
    let room = room
        .clone()
        .try_acquire_many_owned(kibibytes)
        .map_err(|_| no_room())?;
    let time = if broken("limit-body-reception") {
        TIME / 2
    } else {
        TIME
    };
    match tokio::time::timeout(time, Limited::new(body, MAX_BYTES).collect()).await {
        Ok(Ok(whole)) => Ok(Received {
            bytes: whole.to_bytes(),
            _room: room,
        }),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large().into()),
        // The client went away or broke the framing; nobody may be there to read this.
        Ok(Err(_)) => {
            Err(
                vec![Fault::new(Code::InvalidJson, "The body broke off before its end.").at("")]
                    .into(),
            )
        }
        Err(_) => Err(Fault::new(
            Code::BodyTimeout,
            "The body did not arrive within 10 seconds.",
        )
        .into()),
    }
}

/// The length that the head declares, where it does and all it declares may be.
fn declared(headers: &HeaderMap) -> Result<Option<usize>, Fault> {
    let encoded = |name, plain: &[u8]| {
        let mut encodings = headers.get_all(name).iter();
        encodings.any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(plain))
    };
    if (encoded(CONTENT_ENCODING, b"identity") || encoded(TRANSFER_ENCODING, b"chunked"))
        && !broken("limit-compression")
    {
        return Err(Fault::new(
            Code::CompressedBody,
            "Compressed bodies are not accepted; send the JSON as it is.",
        ));
    }
    if !headers
        .get(CONTENT_TYPE)
        .is_some_and(|value| value.to_str().is_ok_and(is_json))
    {
        return Err(Fault::new(
            Code::UnsupportedMediaType,
            "Send the body with Content-Type: application/json.",
        ));
    }
    let length = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    match length {
        Some(length) if length > MAX_BYTES && !broken("limit-body") => Err(too_large()),
        length => Ok(length),
    }
}

fn no_room() -> Fault {
    Fault::new(
        Code::Overloaded,
        "The service holds as many bodies as it takes. Try again shortly.",
    )
}

/// `application/json`, in any case, with UTF-8 if it names a character set at all.
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

fn too_large() -> Fault {
    Fault::new(
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
