//! The state of one connection: the phase of its request, and the slots and the memory that it
//! holds until its responses are written.

use super::framing::Framing;
use super::guarded_body::GuardedBody;
use crate::connections::{ConnectionGuard, Connections};
use axum::body::Body;
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The phase of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It has answered a request and waits for the next.
    Idle,
    /// It is new, or a part of a head has arrived.
    Head,
    /// A request is being received or worked on, or its response is made.
    Request,
    /// The last part of a response is being written.
    Response,
}

/// A handle of a connection for its requests.
#[derive(Clone)]
pub struct Connection(Arc<State>);

struct State {
    /// Values that are dropped once all responses so far are written.
    held: Mutex<Vec<Box<dyn Any + Send>>>,
    /// The phase, and how many there were before it.
    phase: Mutex<(Phase, u64)>,
    framing: Mutex<Framing>,
    /// True while the current request has chunks that are not read.
    has_chunks: AtomicBool,
    /// True while the current request has a valid key.
    has_key: AtomicBool,
    /// Signals that a request has begun.
    request_begun: Notify,
    guard: ConnectionGuard,
}

impl Connection {
    /// Returns the handle of a new connection.
    pub fn new(guard: ConnectionGuard) -> Connection {
        Connection(Arc::new(State {
            held: Mutex::default(),
            phase: Mutex::new((Phase::Head, 0)),
            framing: Mutex::default(),
            has_chunks: AtomicBool::new(false),
            has_key: AtomicBool::new(false),
            request_begun: Notify::new(),
            guard,
        }))
    }

    /// Holds a slot, or memory, until all responses so far are written.
    pub fn after_flush(&self, held: impl Any + Send) {
        self.lock_held().push(Box::new(held));
    }

    /// Notes that the head of a request has arrived. Returns false where the connection makes way
    /// for another already.
    pub fn begin_request(&self) -> bool {
        self.enter(Phase::Request);
        self.0.has_key.store(false, Relaxed);
        self.set_has_chunks(false);
        self.0.request_begun.notify_one();
        self.0.guard.begin_request()
    }

    /// Waits until the connection has had a request. Only one task may wait.
    pub(super) async fn first_request(&self) {
        self.0.request_begun.notified().await;
    }

    /// Notes that the current request has a valid key, so that its connection makes way for nobody.
    pub fn set_has_key(&self) {
        self.0.has_key.store(true, Relaxed);
    }

    /// Returns whether the current request has a valid key.
    pub(super) fn has_key(&self) -> bool {
        self.0.has_key.load(Relaxed)
    }

    /// Notes that the client reads nothing of a response, so that the connection may make way.
    pub(super) fn begin_unread(&self) {
        self.0.guard.begin_unread();
    }

    /// Notes that the client reads again.
    pub(super) fn end_unread(&self) {
        self.0.guard.end_unread();
    }

    /// Returns whether the head of the next request has both `Content-Length` and
    /// `Transfer-Encoding`. Call it once a request.
    pub fn next_has_two_lengths(&self) -> bool {
        self.framing().begin_request()
    }

    /// Notes whether the current request has chunks that are not read.
    pub(super) fn set_has_chunks(&self, has_chunks: bool) {
        self.0.has_chunks.store(has_chunks, Relaxed);
    }

    /// Returns whether another request may follow the current one. hyper skips the rest of a body
    /// that has arrived, but not several chunks. Otherwise it closes the connection.
    pub(super) fn may_go_on(&self) -> bool {
        !self.0.has_chunks.load(Relaxed) && self.framing().has_all_of_request()
    }

    /// Returns a response's body that notes its end.
    pub fn track(&self, body: Body) -> GuardedBody<EndOfResponse> {
        GuardedBody::new(body, EndOfResponse(self.clone()))
    }

    /// Returns the connections of its listener.
    pub fn connections(&self) -> &Connections {
        self.0.guard.connections()
    }

    /// Returns once the connection has to make way for another.
    pub async fn must_close(&self) {
        self.0.guard.must_close().await;
    }

    /// Notes that everything is written.
    pub(super) fn note_flush(&self) {
        self.lock_held().clear();
        if self.phase().0 == Phase::Response {
            self.enter(Phase::Idle);
            self.0.guard.end_request();
        }
    }

    /// Notes that the connection enters a phase.
    pub(super) fn enter(&self, phase: Phase) {
        let mut current = self.lock_phase();
        *current = (phase, current.1 + 1);
    }

    /// Returns the phase, and how many there were before it.
    pub(super) fn phase(&self) -> (Phase, u64) {
        *self.lock_phase()
    }

    fn lock_phase(&self) -> MutexGuard<'_, (Phase, u64)> {
        self.0.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state of the framing of requests.
    pub(super) fn framing(&self) -> MutexGuard<'_, Framing> {
        let framing = self.0.framing.lock();
        framing.unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_held(&self) -> MutexGuard<'_, Vec<Box<dyn Any + Send>>> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes the end of a response when its body is dropped. A streamed body is flushed many times
/// before that.
pub struct EndOfResponse(Connection);

impl Drop for EndOfResponse {
    fn drop(&mut self) {
        self.0.enter(Phase::Response);
    }
}
