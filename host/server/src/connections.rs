//! The connections of a listener: how many there may be, and which makes way for another.

use crate::telemetry::connections::{CloseReason, ConnectionMetrics};
use ipnet::IpNet;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// The limits of a listener's connections.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// Connections at the same time.
    pub connections: usize,
    /// Connections of one address at the same time. An IPv6 address counts with its /64.
    pub per_address: usize,
    /// Networks of proxies, whose addresses have no limit of their own.
    pub trusted_proxies: Vec<IpNet>,
    /// Time limit of a connection without a request, once it has had one.
    pub idle_timeout: Duration,
    /// Time limit of a request's head, and of the first byte of a connection.
    pub head_timeout: Duration,
}

/// The open connections of a listener.
pub struct Connections {
    limits: ConnectionLimits,
    metrics: ConnectionMetrics,
    permits: Arc<Semaphore>,
    open: Mutex<Open>,
    /// Signals that a connection is without a request again.
    became_idle: Notify,
    /// True while a connection waits to be counted in.
    crowded: AtomicBool,
    /// Time at which requests are cut off, once the listener drains.
    drain_until: OnceLock<Instant>,
}

#[derive(Default)]
struct Open {
    by_address: HashMap<IpAddr, usize>,
    /// Connections without a request, by their standing and then by how long they have waited.
    waiting: BTreeMap<WaitingKey, Arc<Notify>>,
    /// Number of them that never had a request.
    new: usize,
    next: u64,
}

impl Open {
    fn insert(&mut self, standing: Standing, connection: Arc<Notify>) -> WaitingKey {
        let key = (standing, self.next);
        self.next += 1;
        self.new += usize::from(standing == Standing::New);
        self.waiting.insert(key, connection);
        key
    }

    /// Removes a connection, unless it makes way already.
    fn remove(&mut self, key: WaitingKey) -> Option<Arc<Notify>> {
        let removed = self.waiting.remove(&key)?;
        self.new -= usize::from(key.0 == Standing::New);
        Some(removed)
    }

    /// Returns the connection that makes way next. Those without ever a request come first, but for
    /// a share of all connections, which a client needs for its handshake and its first head.
    fn next_to_close(&self, limit: usize) -> Option<WaitingKey> {
        let first = self.waiting.keys().next().copied();
        let idle = self.waiting.range((Standing::Known, 0)..).next();
        match idle {
            Some((&idle, _)) if self.new <= limit / SHARE_OF_NEW => Some(idle),
            _ => first,
        }
    }
}

/// One connection in this many may be without ever a request before those make way first.
const SHARE_OF_NEW: usize = 4;

/// The standing of a connection without a request, and a number that grows with time.
type WaitingKey = (Standing, u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    /// It never had a request.
    New,
    /// It had one.
    Known,
}

impl Connections {
    /// Creates the connections of a listener that has none yet.
    pub fn new(limits: ConnectionLimits, metrics: ConnectionMetrics) -> Arc<Connections> {
        metrics
            .limit
            .set(i64::try_from(limits.connections).unwrap_or(i64::MAX));
        Arc::new(Connections {
            permits: Arc::new(Semaphore::new(limits.connections)),
            limits,
            metrics,
            open: Mutex::default(),
            became_idle: Notify::new(),
            crowded: AtomicBool::new(false),
            drain_until: OnceLock::new(),
        })
    }

    /// Returns the limits.
    pub fn limits(&self) -> &ConnectionLimits {
        &self.limits
    }

    /// Counts a connection that the server closes.
    pub fn record_close(&self, reason: CloseReason) {
        self.metrics.record_close(reason);
    }

    /// Begins to drain: readiness says so, and responses close their connections. Requests are cut
    /// off after `time`.
    pub fn drain(&self, time: Duration) {
        self.drain_until.get_or_init(|| Instant::now() + time);
    }

    /// Reports whether the listener drains.
    pub fn is_draining(&self) -> bool {
        self.drain_until.get().is_some()
    }

    /// Returns the time that is left for requests, once the listener drains.
    pub fn time_left(&self) -> Option<Duration> {
        let until = self.drain_until.get()?;
        Some(until.saturating_duration_since(Instant::now()))
    }

    /// Reports whether a response has to close its connection: the listener drains, or another
    /// client waits for the connection.
    pub fn must_close(&self) -> bool {
        self.is_draining() || self.crowded.load(Relaxed)
    }

    /// Counts an accepted connection in, or returns nothing where its address has too many. Where
    /// no more connections may be open, one without a request makes way. Where every connection has
    /// a request, it waits until one of them ends.
    pub async fn enter(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionGuard> {
        let address = self.count(address)?;
        let mut guard = ConnectionGuard {
            connections: self.clone(),
            address,
            waiting: Mutex::new(None),
            makes_way: Arc::new(Notify::new()),
            permit: None,
        };
        guard.permit = Some(self.permit().await?);
        self.metrics.open.inc();
        guard.wait_for_request(Standing::New);
        Some(guard)
    }

    /// Counts a connection of an address. Returns what it is counted under, or nothing where the
    /// address has too many. A trusted proxy is counted under nothing.
    fn count(&self, address: IpAddr) -> Option<Option<IpAddr>> {
        let address = address.to_canonical();
        let is_trusted = |network: &IpNet| network.contains(&address);
        if self.limits.trusted_proxies.iter().any(is_trusted) {
            return Some(None);
        }
        let subscriber = subscriber(address);
        let mut open = self.open();
        let count = open.by_address.entry(subscriber).or_default();
        if *count >= self.limits.per_address {
            drop(open);
            self.record_close(CloseReason::AddressLimit);
            return None;
        }
        *count += 1;
        Some(Some(subscriber))
    }

    async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = self.permits.clone().try_acquire_owned() {
            return Some(permit);
        }
        let _crowded = Crowded::new(&self.crowded);
        let mut permit = pin!(self.permits.clone().acquire_owned());
        while !self.make_way() {
            tokio::select! {
                permit = &mut permit => return permit.ok(),
                () = self.became_idle.notified() => {}
            }
        }
        // The semaphore is never closed.
        permit.await.ok()
    }

    /// Tells the first of the waiting connections to close, and reports whether there was one.
    fn make_way(&self) -> bool {
        let connection = {
            let mut open = self.open();
            let next = open.next_to_close(self.limits.connections);
            next.and_then(|key| open.remove(key))
        };
        let Some(connection) = connection else {
            return false;
        };
        self.metrics.waiting.dec();
        self.record_close(CloseReason::Crowded);
        connection.notify_one();
        true
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes that a connection waits to be counted in, until it is dropped.
struct Crowded<'a>(&'a AtomicBool);

impl<'a> Crowded<'a> {
    fn new(crowded: &'a AtomicBool) -> Crowded<'a> {
        crowded.store(true, Relaxed);
        Crowded(crowded)
    }
}

impl Drop for Crowded<'_> {
    fn drop(&mut self) {
        self.0.store(false, Relaxed);
    }
}

/// An open connection. Dropping it counts the connection out.
pub struct ConnectionGuard {
    connections: Arc<Connections>,
    /// The address that the connection is counted under.
    address: Option<IpAddr>,
    /// Its key while it has no request.
    waiting: Mutex<Option<WaitingKey>>,
    makes_way: Arc<Notify>,
    permit: Option<OwnedSemaphorePermit>,
}

impl ConnectionGuard {
    /// Returns the connections of its listener.
    pub fn connections(&self) -> &Connections {
        &self.connections
    }

    /// Returns once the connection has to make way for another.
    pub async fn must_close(&self) {
        self.makes_way.notified().await;
    }

    /// Notes that the connection has a request, so that it makes way for nobody. Returns false
    /// where it makes way already, so that nothing of the request may run.
    #[must_use]
    pub fn begin_request(&self) -> bool {
        let Some(key) = self.key().take() else {
            return true;
        };
        let removed = self.connections.open().remove(key).is_some();
        if removed {
            self.connections.metrics.waiting.dec();
        }
        removed
    }

    /// Notes that the response to its request is written.
    pub fn end_request(&self) {
        self.wait_for_request(Standing::Known);
        self.connections.became_idle.notify_one();
    }

    fn wait_for_request(&self, standing: Standing) {
        let key = (self.connections.open()).insert(standing, self.makes_way.clone());
        *self.key() = Some(key);
        self.connections.metrics.waiting.inc();
    }

    fn key(&self) -> MutexGuard<'_, Option<WaitingKey>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        let _ = self.begin_request();
        if self.permit.is_some() {
            self.connections.metrics.open.dec();
        }
        let Some(address) = self.address else { return };
        let mut open = self.connections.open();
        if let Some(count) = open.by_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                open.by_address.remove(&address);
            }
        }
    }
}

/// Returns the address that stands for a subscriber. It is an IPv4 address, or the first 64 bits of
/// an IPv6 address, since a subscriber has all the others.
fn subscriber(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

/// Returns connections with these timeouts for the tests of a listener.
#[cfg(test)]
pub(crate) fn few(idle_timeout: Duration, head_timeout: Duration) -> Arc<Connections> {
    let limits = ConnectionLimits {
        connections: 4,
        per_address: 4,
        trusted_proxies: Vec::new(),
        idle_timeout,
        head_timeout,
    };
    Connections::new(limits, ConnectionMetrics::default())
}

#[cfg(test)]
#[path = "connections_tests.rs"]
mod tests;
