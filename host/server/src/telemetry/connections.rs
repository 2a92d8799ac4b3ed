//! Metrics of connections.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// The reason why the server closed a connection that had no request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseReason {
    /// Its address has as many connections as one address may have.
    AddressLimit,
    /// All connections were taken, and this one had waited longest for a request.
    Crowded,
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
            CloseReason::HeadTimeout => "head_timeout",
            CloseReason::IdleTimeout => "idle_timeout",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CloseLabels {
    reason: &'static str,
}

/// Counters and gauges of a listener. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct ConnectionMetrics {
    /// Open connections.
    pub open: Gauge,
    /// Open connections without a request.
    pub waiting: Gauge,
    /// Connections that may be open.
    pub limit: Gauge,
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
            "connections_closed",
            "Connections without a request that the server closed, by reason",
            metrics.closed.clone(),
        );
        metrics
    }

    /// Counts a connection that the server closed.
    pub fn record_close(&self, reason: CloseReason) {
        let labels = CloseLabels {
            reason: reason.as_str(),
        };
        self.closed.get_or_create(&labels).inc();
    }
}
