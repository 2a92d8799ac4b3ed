//! The layer that compresses large answers of keyed routes, and the console's pages, for clients
//! that accept gzip or zstd.
//!
//! The entity tags of these routes are weak, so one tag is good for every encoding. Fixed documents
//! have strong tags and are outside this layer.

use super::error::ResponseError;
use axum::body::HttpBody;
use axum::http::Response;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tower_http::compression::{CompressionLayer, CompressionLevel};

/// Bytes of the smallest answer of the API that is compressed.
pub const SMALLEST: u16 = 16 << 10;

/// A file of Parquet is compressed within.
const PARQUET: NotForContentType = NotForContentType::const_new("application/vnd.apache.parquet");

/// Returns the layer for answers of at least some bytes, and those of unknown length. It answers
/// with `Vary: Accept-Encoding` where the encoding may differ.
pub fn layer(smallest: u16) -> CompressionLayer<impl Predicate> {
    // JSON shrinks to a tenth at the fastest level, and other requests wait less for the thread.
    CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(
            SizeAbove::new(smallest)
                .and(NotForContentType::SSE)
                .and(PARQUET)
                .and(NotRefused),
        )
}

/// Excludes error responses, whose bodies another layer may rewrite.
#[derive(Clone, Copy)]
struct NotRefused;

impl Predicate for NotRefused {
    fn should_compress<B>(&self, response: &Response<B>) -> bool
    where
        B: HttpBody,
    {
        response.extensions().get::<ResponseError>().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::error::ApiError;
    use axum::Router;
    use axum::body::Body;
    use axum::http::header::{
        ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, ETAG, HeaderName, VARY,
    };
    use axum::http::{HeaderMap, Request};
    use axum::routing::get;
    use domesday_contract::error::{Code, ValidationError};
    use flate2::read::GzDecoder;
    use http_body_util::BodyExt;
    use std::io::Read;
    use tower_service::Service;

    const TEXT: &str = "0123456789abcdef";

    fn large() -> String {
        TEXT.repeat(usize::from(SMALLEST) / TEXT.len())
    }

    /// Returns the headers and the body of an answer to a client that accepts these encodings.
    async fn answer(path: &str, accepted: Option<&str>) -> (HeaderMap, Vec<u8>) {
        let refused = || async {
            let error = ValidationError::new(Code::InvalidValue, large());
            ApiError::from(error)
        };
        let mut router: Router = Router::new()
            .route("/large", get(|| async { ([(ETAG, "W/\"1\"")], large()) }))
            .route("/small", get(|| async { large()[1..].to_owned() }))
            .route("/refused", get(refused))
            .layer(layer(SMALLEST));
        let mut request = Request::builder().uri(path);
        if let Some(accepted) = accepted {
            request = request.header(ACCEPT_ENCODING, accepted);
        }
        let request = request.body(Body::empty()).unwrap();
        let (parts, body) = router.call(request).await.unwrap().into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        (parts.headers, bytes.to_vec())
    }

    fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
        headers.get(name).map(|value| value.to_str().unwrap())
    }

    #[tokio::test]
    async fn a_large_answer_is_compressed_as_its_client_accepts() {
        for (accepted, encoding, start) in [
            ("gzip", Some("gzip"), &b"\x1f\x8b"[..]),
            ("gzip, zstd", Some("zstd"), &b"\x28\xb5\x2f\xfd"[..]),
            ("zstd;q=0, gzip;q=0.5", Some("gzip"), &b"\x1f\x8b"[..]),
            ("gzip, zstd;q=0.9", Some("gzip"), &b"\x1f\x8b"[..]),
            ("X-GZIP", Some("gzip"), &b"\x1f\x8b"[..]),
            ("*", None, &b"0123"[..]),
            ("gzip;q=2", None, &b"0123"[..]),
            ("identity;q=0, *;q=0", None, &b"0123"[..]),
            ("br, deflate", None, &b"0123"[..]),
            ("identity", None, &b"0123"[..]),
        ] {
            let (headers, body) = answer("/large", Some(accepted)).await;
            assert_eq!(text(&headers, CONTENT_ENCODING), encoding, "{accepted}");
            assert_eq!(text(&headers, VARY), Some("accept-encoding"), "{accepted}");
            assert_eq!(text(&headers, ETAG), Some("W/\"1\""));
            assert!(body.starts_with(start), "{accepted}");
            if encoding.is_some() {
                assert!(body.len() < large().len() / 10, "{} bytes", body.len());
            }
            if encoding == Some("gzip") {
                let mut whole = String::new();
                let mut decoder = GzDecoder::new(body.as_slice());
                decoder.read_to_string(&mut whole).unwrap();
                assert_eq!(whole, large());
            }
        }
    }

    #[tokio::test]
    async fn small_answers_refusals_and_other_clients_have_plain_bodies() {
        for (path, accepted) in [
            ("/small", Some("gzip")),
            ("/refused", Some("gzip")),
            ("/large", None),
        ] {
            let (headers, body) = answer(path, accepted).await;
            assert_eq!(text(&headers, CONTENT_ENCODING), None, "{path}");
            let length = body.len().to_string();
            assert_eq!(text(&headers, CONTENT_LENGTH), Some(length.as_str()));
        }
    }
}
