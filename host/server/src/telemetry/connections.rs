//! Metrics of connections.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// The reason why the server closed a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseReason {
    /// Its address has as many connections as one address may have.
    AddressLimit,
    /// All connections were taken, and this one had waited longest for a request.
    Crowded,
    /// Others waited for a connection, and its client did not read the response.
    Unread,
    /// The head of a request did not arrive in time.
    HeadTimeout,
    /// No request came in time.
    IdleTimeout,
}

impl CloseReason {
    fn as_str(self) -> &'static str {
        match self {
            CloseReason::AddressLimit => "address_limit",
            CloseReason::Crowded => "crowded",
            CloseReason::Unread => "unread",
            CloseReason::HeadTimeout => "head_timeout",
            CloseReason::IdleTimeout => "idle_timeout",
        }
    }
}

/// A listener of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listener {
    /// The one of the contracts' routes.
    Service,
    /// The one of the metrics page.
    Metrics,
    /// The one of the console.
    Console,
}

impl Listener {
    fn as_str(self) -> &'static str {
        match self {
            Listener::Service => "service",
            Listener::Metrics => "metrics",
            Listener::Console => "console",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ListenerLabels {
    listener: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CloseLabels {
    listener: &'static str,
    reason: &'static str,
}

/// Counters and gauges of all listeners. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct ConnectionMetrics {
    open: Family<ListenerLabels, Gauge>,
    waiting: Family<ListenerLabels, Gauge>,
    limit: Family<ListenerLabels, Gauge>,
    address_limit: Family<ListenerLabels, Gauge>,
    closed: Family<CloseLabels, Counter>,
}

/// Counters and gauges of one listener.
#[derive(Debug)]
pub struct ListenerMetrics {
    listener: Listener,
    /// Open connections.
    pub open: Gauge,
    /// Open connections without a request.
    pub waiting: Gauge,
    /// Connections that may be open.
    pub limit: Gauge,
    /// Connections that may be open of one address.
    pub address_limit: Gauge,
    closed: Family<CloseLabels, Counter>,
}

impl ConnectionMetrics {
    pub(super) fn register(registry: &mut Registry) -> ConnectionMetrics {
        let metrics = ConnectionMetrics::default();
        registry.register("connections", "Open connections", metrics.open.clone());
        registry.register(
            "connections_waiting",
            "Open connections without a request",
            metrics.waiting.clone(),
        );
        registry.register(
            "connections_limit",
            "Connections that may be open",
            metrics.limit.clone(),
        );
        registry.register(
            "connections_address_limit",
            "Connections that may be open of one address",
            metrics.address_limit.clone(),
        );
        registry.register(
            "connections_closed",
            "Connections that the server closed, by reason",
            metrics.closed.clone(),
        );
        metrics
    }

    /// Returns the counters and gauges of a listener.
    pub fn of(&self, listener: Listener) -> ListenerMetrics {
        let labels = ListenerLabels {
            listener: listener.as_str(),
        };
        ListenerMetrics {
            listener,
            open: self.open.get_or_create_owned(&labels),
            waiting: self.waiting.get_or_create_owned(&labels),
            limit: self.limit.get_or_create_owned(&labels),
            address_limit: self.address_limit.get_or_create_owned(&labels),
            closed: self.closed.clone(),
        }
    }
}

impl ListenerMetrics {
    /// Counts a connection that the server closed.
    pub fn record_close(&self, reason: CloseReason) {
        let labels = CloseLabels {
            listener: self.listener.as_str(),
            reason: reason.as_str(),
        };
        self.closed.get_or_create(&labels).inc();
    }
}
