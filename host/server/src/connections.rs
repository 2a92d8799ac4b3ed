//! The connections of a listener: how many there may be, and which makes way for another.

use crate::telemetry::connections::{CloseReason, ListenerMetrics};
use ipnet::IpNet;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep_until, timeout};

/// The limits of a listener's connections.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// Connections at the same time.
    pub connections: usize,
    /// Connections of one address at the same time. An IPv6 address counts with its /64.
    pub per_address: usize,
    /// Networks of proxies, whose addresses are not limited one by one.
    pub trusted_proxies: Vec<IpNet>,
    /// Time limit of a connection without a request, once it has had one.
    pub idle_timeout: Duration,
    /// Time limit of a request's head, and of the first byte of a connection.
    pub head_timeout: Duration,
}

/// The open connections of a listener.
pub struct Connections {
    limits: ConnectionLimits,
    metrics: ListenerMetrics,
    permits: Arc<Semaphore>,
    open: Mutex<OpenConnections>,
    /// Signals that a connection may make way.
    may_close: Notify,
    /// True while a connection waits to be counted in.
    crowded: AtomicBool,
    /// Time at which requests are cut off, once the listener drains.
    drain_until: watch::Sender<Option<Instant>>,
}

#[derive(Default)]
struct OpenConnections {
    by_address: HashMap<IpAddr, usize>,
    /// Connections that may make way, by their standing and then by how long they have waited.
    waiting: BTreeMap<WaitingKey, WaitingConnection>,
    /// Number of them that never had a request.
    new: usize,
    next: u64,
}

/// A connection that may make way.
struct WaitingConnection {
    /// The address that it is counted under.
    address: Option<IpAddr>,
    makes_way: Arc<Notify>,
}

impl OpenConnections {
    fn insert(&mut self, standing: Standing, connection: WaitingConnection) -> WaitingKey {
        let key = (standing, self.next);
        self.next += 1;
        self.new += usize::from(standing == Standing::New);
        self.waiting.insert(key, connection);
        key
    }

    /// Removes a connection, unless it makes way already.
    fn remove(&mut self, key: WaitingKey) -> Option<WaitingConnection> {
        let removed = self.waiting.remove(&key)?;
        self.new -= usize::from(key.0 == Standing::New);
        Some(removed)
    }

    /// Returns the connection that makes way next. Those whose response is unread come first. Those
    /// without ever a request are next, but for a share of all connections, which a client needs
    /// for its handshake and its first head.
    fn next_to_close(&self, limit: usize) -> Option<WaitingKey> {
        let first = self.waiting.keys().next().copied();
        if first.is_some_and(|(standing, _)| standing == Standing::Unread) {
            return first;
        }
        let idle = self.waiting.range((Standing::Known, 0)..).next();
        match idle {
            Some((&idle, _)) if self.new <= limit / SHARE_OF_NEW => Some(idle),
            _ => first,
        }
    }

    /// Returns the connection of an address that makes way for another of that address.
    fn next_of(&self, address: IpAddr) -> Option<WaitingKey> {
        let mut waiting = self.waiting.iter();
        let own = waiting.find(|(_, connection)| connection.address == Some(address));
        own.map(|(&key, _)| key)
    }
}

/// One connection in this many may be without ever a request before those make way first.
const SHARE_OF_NEW: usize = 4;

/// Time limit of the task of a connection that makes way.
const MAKE_WAY_TIME: Duration = Duration::from_millis(200);

/// The standing of a connection that may make way, and a number that grows with time.
type WaitingKey = (Standing, u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    /// Its request had no key, and its client does not read the response.
    Unread,
    /// It never had a request.
    New,
    /// It had one.
    Known,
}

impl Connections {
    /// Creates the connections of a listener that has none yet.
    pub fn new(limits: ConnectionLimits, metrics: ListenerMetrics) -> Arc<Connections> {
        let whole = |limit: usize| i64::try_from(limit).unwrap_or(i64::MAX);
        metrics.limit.set(whole(limits.connections));
        metrics.address_limit.set(whole(limits.per_address));
        Arc::new(Connections {
            permits: Arc::new(Semaphore::new(limits.connections)),
            limits,
            metrics,
            open: Mutex::default(),
            may_close: Notify::new(),
            crowded: AtomicBool::new(false),
            drain_until: watch::Sender::new(None),
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
    /// off after `time`. A second call may make that sooner, never later.
    pub fn drain(&self, time: Duration) {
        let until = Instant::now() + time;
        self.drain_until.send_if_modified(|end| {
            let sooner = end.is_none_or(|end| until < end);
            if sooner {
                *end = Some(until);
            }
            sooner
        });
    }

    /// Reports whether the listener drains.
    pub fn is_draining(&self) -> bool {
        self.drain_until.borrow().is_some()
    }

    /// Returns the time that is left for requests, once the listener drains.
    pub fn time_left(&self) -> Option<Duration> {
        let until = (*self.drain_until.borrow())?;
        Some(until.saturating_duration_since(Instant::now()))
    }

    /// Waits until the listener drains and no more than `time` is left for requests.
    pub async fn until_left(&self, time: Duration) {
        let mut drain_until = self.drain_until.subscribe();
        loop {
            let until = *drain_until.borrow_and_update();
            let left = async {
                match until {
                    Some(until) => {
                        let at = until.checked_sub(time).unwrap_or(until);
                        sleep_until(at.into()).await;
                    }
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = left => return,
                _ = drain_until.changed() => {}
            }
        }
    }

    /// Reports whether a response has to close its connection: the listener drains, or another
    /// client waits for the connection.
    pub fn must_close(&self) -> bool {
        self.is_draining() || self.crowded.load(Relaxed)
    }

    /// Counts an accepted connection in. Where its address has too many, or no more connections may
    /// be open, one that has no request or whose response is unread makes way. Where an address has
    /// too many with a request, it returns nothing. Where every connection has a request, it waits
    /// until one of them ends.
    pub async fn enter(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionGuard> {
        let (address, own_makes_way) = self.count(address)?;
        let mut guard = ConnectionGuard {
            connections: self.clone(),
            address,
            waiting: Mutex::new(None),
            makes_way: Arc::new(Notify::new()),
            permit: None,
        };
        guard.permit = Some(self.permit(own_makes_way).await?);
        self.metrics.open.inc();
        guard.wait_for_request(Standing::New);
        Some(guard)
    }

    /// Counts a connection of an address. Returns what it is counted under, and whether another of
    /// the address makes way for it. Returns nothing where the address has too many with a request.
    /// A trusted proxy is counted under nothing.
    fn count(&self, address: IpAddr) -> Option<(Option<IpAddr>, bool)> {
        let address = address.to_canonical();
        let is_trusted = |network: &IpNet| network.contains(&address);
        if self.limits.trusted_proxies.iter().any(is_trusted) {
            return Some((None, false));
        }
        let subscriber = subscriber(address);
        let count = self.open().by_address.get(&subscriber).copied();
        let is_full = count.unwrap_or(0) >= self.limits.per_address;
        if is_full && !self.make_way(Some(subscriber)) {
            self.record_close(CloseReason::AddressLimit);
            return None;
        }
        *self.open().by_address.entry(subscriber).or_default() += 1;
        Some((Some(subscriber), is_full))
    }

    /// Waits for a permit. Where a connection makes way already, that one's comes first.
    async fn permit(&self, one_makes_way: bool) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = self.permits.clone().try_acquire_owned() {
            return Some(permit);
        }
        let _crowded = CrowdedGuard::new(&self.crowded);
        let mut permit = pin!(self.permits.clone().acquire_owned());
        if one_makes_way && let Ok(permit) = timeout(MAKE_WAY_TIME, &mut permit).await {
            return permit.ok();
        }
        while !self.make_way(None) {
            tokio::select! {
                permit = &mut permit => return permit.ok(),
                () = self.may_close.notified() => {}
            }
        }
        // The semaphore is never closed.
        permit.await.ok()
    }

    /// Tells the next connection that may make way to close: of an address, or of all. Reports
    /// whether there was one.
    fn make_way(&self, of: Option<IpAddr>) -> bool {
        let next = {
            let mut open = self.open();
            let key = match of {
                Some(address) => open.next_of(address),
                None => open.next_to_close(self.limits.connections),
            };
            key.and_then(|key| Some((key.0, open.remove(key)?)))
        };
        let Some((standing, connection)) = next else {
            return false;
        };
        self.record_removal(standing);
        self.record_close(match (standing, of) {
            (Standing::Unread, _) => CloseReason::Unread,
            (_, Some(_)) => CloseReason::AddressLimit,
            (_, None) => CloseReason::Crowded,
        });
        connection.makes_way.notify_one();
        true
    }

    /// Removes a connection from those that may make way. Returns false where it does already.
    fn remove(&self, key: WaitingKey) -> bool {
        let removed = self.open().remove(key).is_some();
        if removed {
            self.record_removal(key.0);
        }
        removed
    }

    fn record_removal(&self, standing: Standing) {
        if standing != Standing::Unread {
            self.metrics.waiting.dec();
        }
    }

    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes that a connection waits to be counted in, until it is dropped.
struct CrowdedGuard<'a>(&'a AtomicBool);

impl<'a> CrowdedGuard<'a> {
    fn new(crowded: &'a AtomicBool) -> CrowdedGuard<'a> {
        crowded.store(true, Relaxed);
        CrowdedGuard(crowded)
    }
}

impl Drop for CrowdedGuard<'_> {
    fn drop(&mut self) {
        self.0.store(false, Relaxed);
    }
}

/// An open connection. Dropping it counts the connection out.
pub struct ConnectionGuard {
    connections: Arc<Connections>,
    /// The address that the connection is counted under.
    address: Option<IpAddr>,
    /// Its key while it may make way.
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
        self.connections.remove(key)
    }

    /// Notes that the client does not read the response, so that the connection may make way.
    pub fn begin_unread(&self) {
        let is_unread = self.key().is_some();
        if !is_unread {
            self.insert(Standing::Unread);
            self.connections.may_close.notify_one();
        }
    }

    /// Notes that the client reads the response again.
    pub fn end_unread(&self) {
        let mut key = self.key();
        // One that makes way already keeps its key, so that it begins no request.
        key.take_if(|key| key.0 == Standing::Unread && self.connections.remove(*key));
    }

    /// Notes that the response to its request is written.
    pub fn end_request(&self) {
        let makes_way = self.key().is_some();
        if makes_way {
            return;
        }
        self.wait_for_request(Standing::Known);
        self.connections.may_close.notify_one();
    }

    fn wait_for_request(&self, standing: Standing) {
        self.insert(standing);
        self.connections.metrics.waiting.inc();
    }

    fn insert(&self, standing: Standing) {
        let connection = WaitingConnection {
            address: self.address,
            makes_way: self.makes_way.clone(),
        };
        let key = self.connections.open().insert(standing, connection);
        *self.key() = Some(key);
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
    use crate::telemetry::connections::{ConnectionMetrics, Listener};
    let limits = ConnectionLimits {
        connections: 4,
        per_address: 4,
        trusted_proxies: Vec::new(),
        idle_timeout,
        head_timeout,
    };
    Connections::new(limits, ConnectionMetrics::default().of(Listener::Service))
}

#[cfg(test)]
#[path = "connections_tests.rs"]
mod tests;
