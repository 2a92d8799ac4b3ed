//! Bodies of responses in small pieces, between which other tasks run.
//!
//! A large response is one frame. The compression layer would compress all of it in one poll of its
//! connection, and hold up the thread for 20 milliseconds or more. The runtime gives each poll a
//! budget of 128 steps. A piece takes one of them, so a poll compresses half a megabyte.

use super::error::ApiError;
use super::middleware::Middleware;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header::ACCEPT_ENCODING;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use tokio::task::coop::consume_budget;

/// Bytes of a piece.
const PIECE: usize = 4 << 10;
/// Bytes of a body that is passed on whole.
const SMALL: u64 = 64 << 10;

/// The middleware that divides the body of a large response, where the compression layer may
/// compress it.
#[derive(Clone)]
pub struct BodyDivider;

impl Middleware for BodyDivider {
    /// True if the compression layer may compress the response.
    type Facts = bool;

    fn enter(&self, request: &mut Request) -> Result<bool, ApiError> {
        Ok(request.headers().contains_key(ACCEPT_ENCODING))
    }

    async fn respond(
        compressible: bool,
        responding: impl Future<Output = Response> + Send + 'static,
    ) -> Response {
        let response = responding.await;
        let exact = response.body().size_hint().exact();
        if !compressible || exact.is_some_and(|bytes| bytes <= SMALL) {
            return response;
        }
        response.map(DividedBody::divide)
    }
}

/// A body, and the rest of the frame that is being passed on.
struct DividedBody {
    body: Body,
    rest: Bytes,
}

impl DividedBody {
    fn divide(body: Body) -> Body {
        let rest = Bytes::new();
        Body::new(DividedBody { body, rest })
    }
}

impl HttpBody for DividedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        while self.rest.is_empty() {
            let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
            match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => self.rest = data,
                Some(Ok(Err(frame))) => return Poll::Ready(Some(Ok(frame))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        // Once the budget is used up, this waits until the runtime polls the task anew.
        ready!(pin!(consume_budget()).poll(context));
        let bytes = self.rest.len().min(PIECE);
        let piece = self.rest.split_to(bytes);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = u64::try_from(self.rest.len()).unwrap_or(u64::MAX);
        let body = self.body.size_hint();
        let mut hint = SizeHint::new();
        if let Some(upper) = body.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint.set_lower(body.lower().saturating_add(rest));
        hint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::compression;
    use crate::http::middleware::MiddlewareLayer;
    use axum::Router;
    use axum::http::header::CONTENT_ENCODING;
    use axum::routing::get;
    use flate2::read::GzDecoder;
    use http_body_util::BodyExt;
    use std::io::Read;
    use std::time::{Duration, Instant};
    use tokio::task::yield_now;
    use tower_service::Service;

    /// Bytes of the largest response.
    const LARGEST: usize = 9_500_000;

    /// Returns text that shrinks to about a tenth, as results do.
    fn text() -> Vec<u8> {
        let rows = (0_u64..).flat_map(|row| {
            let value = row.wrapping_mul(6_364_136_223_846_793_005) >> 40;
            format!(r#"{{"status":"valued","value":{{"estimate":{value}}},"reason":null}},"#)
                .into_bytes()
        });
        rows.take(LARGEST).collect()
    }

    /// Sends a large response to a client that accepts this encoding. Returns the body, how often
    /// another task ran meanwhile, and the longest time that it waited.
    async fn respond(text: &[u8], encoding: &str) -> (Vec<u8>, usize, Duration) {
        let text = text.to_vec();
        let mut router: Router = Router::new()
            .route("/", get(move || async { text }))
            .layer(MiddlewareLayer(BodyDivider))
            .layer(compression::layer(compression::SMALLEST));
        let request = axum::http::Request::builder().header(ACCEPT_ENCODING, encoding);
        let request = request.body(Body::empty()).unwrap();
        let response = router.call(request).await.unwrap();
        assert_eq!(response.headers()[CONTENT_ENCODING], encoding);
        let sending = tokio::spawn(response.into_body().collect());
        let (mut turns, mut longest) = (0, Duration::ZERO);
        while !sending.is_finished() {
            let waiting = Instant::now();
            yield_now().await;
            longest = longest.max(waiting.elapsed());
            turns += 1;
        }
        let sent = sending.await.unwrap().unwrap().to_bytes();
        (sent.to_vec(), turns, longest)
    }

    #[tokio::test]
    async fn other_tasks_run_while_a_large_response_is_compressed() {
        let text = text();
        for encoding in ["gzip", "zstd"] {
            let (mut least, mut turns, mut sent) = (Duration::MAX, 0, Vec::new());
            // The machine may hold up a thread for longer than this code does.
            for _ in 0..3 {
                let longest;
                (sent, turns, longest) = respond(&text, encoding).await;
                least = least.min(longest);
            }
            println!(
                "{encoding}: {turns} turns, {least:?} at most, {} bytes",
                sent.len()
            );
            assert!(turns > 16, "{encoding}: {turns}");
            assert!(least < Duration::from_millis(20), "{encoding}: {least:?}");
            if encoding == "gzip" {
                let mut whole = Vec::new();
                GzDecoder::new(sent.as_slice())
                    .read_to_end(&mut whole)
                    .unwrap();
                assert!(whole == text);
            }
        }
    }

    #[tokio::test]
    async fn a_divided_body_has_its_length_and_its_bytes() {
        for bytes in [0, 65_536, 65_537, 200_001] {
            let whole: Vec<u8> = (0..bytes).map(|at: u32| at.to_le_bytes()[0]).collect();
            let mut body = DividedBody::divide(whole.clone().into());
            let (mut received, length) = (Vec::new(), whole.len() as u64);
            assert_eq!(body.size_hint().exact(), Some(length));
            while let Some(frame) = body.frame().await {
                received.extend_from_slice(&frame.unwrap().into_data().unwrap());
                let rest = length - received.len() as u64;
                assert_eq!(body.size_hint().exact(), Some(rest));
            }
            assert!(body.is_end_stream());
            assert!(received == whole);
        }
    }
}
