//! Metrics of the state: the duration of its operations, and the pools of its connections.

use domesday_state::{ConnectionPool, StateObserver};
use domesday_valuation::spans::SPANS;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::time::Duration;
use tracing::{Span, info_span};

/// Upper bounds of an operation's duration in seconds, from one in memory to the time limit.
const SECONDS: [f64; 12] = [
    0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 3.0, 10.0,
];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    operation: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PoolLabels {
    pool: &'static str,
}

/// Counters and gauges. Clones share them.
#[derive(Clone)]
pub struct StateMetrics {
    seconds: Family<OperationLabels, Histogram, fn() -> Histogram>,
    failures: Family<OperationLabels, Counter>,
    connections: Family<PoolLabels, Gauge>,
    connections_in_use: Family<PoolLabels, Gauge>,
    connections_limit: Family<PoolLabels, Gauge>,
}

impl StateMetrics {
    pub(super) fn register(registry: &mut Registry) -> StateMetrics {
        let metrics = StateMetrics {
            seconds: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            failures: Family::default(),
            connections: Family::default(),
            connections_in_use: Family::default(),
            connections_limit: Family::default(),
        };
        registry.register_with_unit(
            "state_operation",
            "Time until an operation of the state was durable or failed",
            Unit::Seconds,
            metrics.seconds.clone(),
        );
        registry.register(
            "state_operation_failures",
            "Operations of the state that failed",
            metrics.failures.clone(),
        );
        for (name, help, gauges) in [
            (
                "database_connections",
                "Open connections to the database",
                &metrics.connections,
            ),
            (
                "database_connections_in_use",
                "Connections to the database that an operation has",
                &metrics.connections_in_use,
            ),
            (
                "database_connections_limit",
                "Connections to the database that may be open",
                &metrics.connections_limit,
            ),
        ] {
            registry.register(name, help, gauges.clone());
        }
        metrics
    }

    /// Shows the pools of a database.
    pub(crate) fn show_pools(&self, pools: &[ConnectionPool]) {
        for pool in pools {
            let labels = PoolLabels { pool: pool.name };
            for (family, count) in [
                (&self.connections, pool.open),
                (&self.connections_in_use, pool.in_use),
                (&self.connections_limit, pool.limit),
            ] {
                family.get_or_create(&labels).set(count.into());
            }
        }
    }
}

impl StateObserver for StateMetrics {
    fn begin(&self, operation: &'static str) -> Span {
        match operation {
            "charge" => info_span!(target: SPANS, "charge"),
            _ => info_span!(target: SPANS, "database", db.operation.name = operation),
        }
    }

    fn record_operation(&self, operation: &'static str, took: Duration, failed: bool) {
        let labels = OperationLabels { operation };
        self.seconds
            .get_or_create(&labels)
            .observe(took.as_secs_f64());
        if failed {
            self.failures.get_or_create(&labels).inc();
        }
    }
}
