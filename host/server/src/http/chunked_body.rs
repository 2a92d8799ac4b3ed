//! The body of a request in chunks, which notes its end at its connection.

use super::connection_state::Connection;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::TRANSFER_ENCODING;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A body in chunks. Its connection knows whether it was read to its end.
struct ChunkedBody {
    body: Incoming,
    connection: Connection,
}

/// Returns a request whose body, if it comes in chunks, notes its end at the connection.
pub fn track(request: hyper::Request<Incoming>, connection: &Connection) -> Request {
    if !request.headers().contains_key(TRANSFER_ENCODING) {
        return request.map(Body::new);
    }
    connection.set_has_chunks(true);
    request.map(|body| {
        Body::new(ChunkedBody {
            body,
            connection: connection.clone(),
        })
    })
}

impl HttpBody for ChunkedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if frame.is_none() {
            self.connection.set_has_chunks(false);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
