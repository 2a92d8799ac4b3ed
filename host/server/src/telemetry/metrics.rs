//! Metrics of the running service.
//!
//! Labels come from sets that requests cannot enlarge: route templates, statuses, codes of the
//! contract and opened releases. No path, tenant or key is ever a label.

use super::address_lookup::AddressLookupMetrics;
use super::connections::ConnectionMetrics;
use super::load::LoadCounters;
use super::promotions::PromotionMetrics;
use super::shadow::ShadowMetrics;
use axum::extract::MatchedPath;
use domesday_contract::v3::result::{Status, Summary};
use domesday_contract::vocabulary::Vocabulary;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::time::Duration;

/// Upper bounds of the durations in seconds, from a refusal to the longest request.
const SECONDS: [f64; 14] = [
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0,
];

/// Routes that no client's work passes. They would hide its latencies.
const PROBES: [&str; 2] = ["/healthz", "/readyz"];

/// The template of a route, or none where no route matched.
#[derive(Debug, Clone)]
pub struct Route(pub Option<MatchedPath>);

impl Route {
    /// Returns the template.
    pub fn as_str(&self) -> &str {
        self.0.as_ref().map_or("none", MatchedPath::as_str)
    }
}

impl PartialEq for Route {
    fn eq(&self, other: &Route) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Route {}

impl Hash for Route {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl EncodeLabelValue for Route {
    fn encode(&self, encoder: &mut LabelValueEncoder) -> Result<(), std::fmt::Error> {
        encoder.write_str(self.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResponseLabels {
    route: Route,
    status: u16,
    code: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: Route,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RowLabels {
    status: &'static str,
    release: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReleaseLabels {
    release: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct JobLabels {
    status: &'static str,
}

type Durations = Family<RouteLabels, Histogram, fn() -> Histogram>;

/// All metrics and their registry.
pub struct Metrics {
    registry: Registry,
    requests: Family<ResponseLabels, Counter>,
    seconds: Durations,
    values: Family<RowLabels, Counter>,
    units: Counter,
    jobs_ended: Family<JobLabels, Counter>,
    current: Family<ReleaseLabels, Gauge>,
    late: Histogram,
    /// Counts of responses that the console samples.
    pub load: LoadCounters,
    /// Metrics of the address provider.
    pub address_lookup: AddressLookupMetrics,
    /// Metrics of the connections.
    pub connections: ConnectionMetrics,
    /// Metrics of the promotion ledger.
    pub promotions: PromotionMetrics,
    /// Metrics of the shadow.
    pub shadow: ShadowMetrics,
    /// Gauges that are read for each page.
    pub(crate) sampled: SampledGauges,
}

/// Gauges of values that other parts hold, read for each page.
#[derive(Default)]
pub(crate) struct SampledGauges {
    pub workers_busy: Gauge,
    pub workers_room: Gauge,
    pub memory_reserved_bytes: Gauge,
    pub memory_budget_bytes: Gauge,
    pub jobs_waiting: Gauge,
    pub jobs_paused: Gauge,
    pub state_degraded: Gauge,
    pub data_folder_degraded: Gauge,
    pub journal_receipts: Gauge,
    pub journal_degraded: Gauge,
    pub log_lines_dropped: Gauge,
    pub resident_bytes: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("domesday");
        let metrics = Metrics {
            requests: Family::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            values: Family::default(),
            units: Counter::default(),
            jobs_ended: Family::default(),
            current: Family::default(),
            late: Histogram::new(SECONDS),
            load: LoadCounters::default(),
            address_lookup: AddressLookupMetrics::register(&mut registry),
            connections: ConnectionMetrics::register(&mut registry),
            promotions: PromotionMetrics::register(&mut registry),
            shadow: ShadowMetrics::register(&mut registry),
            sampled: SampledGauges::default(),
            registry: Registry::default(),
        };
        metrics.register_requests(&mut registry);
        metrics.register_service(&mut registry);
        metrics.sampled.register(&mut registry);
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The program", build);
        Metrics {
            registry,
            ..metrics
        }
    }
}

impl SampledGauges {
    /// Registers the gauges.
    fn register(&self, registry: &mut Registry) {
        for (name, help, gauge) in [
            (
                "workers_busy",
                "Pieces of work that wait for a thread or run",
                &self.workers_busy,
            ),
            (
                "workers_room",
                "Pieces of work that may wait or run; more are refused",
                &self.workers_room,
            ),
            (
                "memory_reserved_bytes",
                "Bytes reserved for bodies of requests and responses of more than 64 KiB",
                &self.memory_reserved_bytes,
            ),
            (
                "memory_budget_bytes",
                "Bytes that may be reserved for bodies and responses; more are refused",
                &self.memory_budget_bytes,
            ),
            (
                "jobs_waiting",
                "Jobs queued or running, over all hosts",
                &self.jobs_waiting,
            ),
            (
                "jobs_paused",
                "1 while new jobs are refused",
                &self.jobs_paused,
            ),
            (
                "state_degraded",
                "1 while changes cannot be made durable",
                &self.state_degraded,
            ),
            (
                "data_folder_degraded",
                "1 while the data folder cannot be used, so that nothing is valued",
                &self.data_folder_degraded,
            ),
            (
                "journal_receipts",
                "Receipts in this host's journal that are durable",
                &self.journal_receipts,
            ),
            (
                "journal_degraded",
                "1 while no receipt can be kept, so that nothing is valued",
                &self.journal_degraded,
            ),
            (
                "log_lines_dropped",
                "Log lines lost because their reader was too slow",
                &self.log_lines_dropped,
            ),
            (
                "process_resident_bytes",
                "Resident memory of the process",
                &self.resident_bytes,
            ),
        ] {
            registry.register(name, help, gauge.clone());
        }
    }
}

impl Metrics {
    /// Registers the metrics of requests and their rows.
    fn register_requests(&self, registry: &mut Registry) {
        registry.register(
            "requests",
            "Requests answered, by route, status and code of the error",
            self.requests.clone(),
        );
        registry.register_with_unit(
            "request",
            "Time from a request's head to its answer",
            Unit::Seconds,
            self.seconds.clone(),
        );
        registry.register(
            "values",
            "Properties by the status of their result and the release",
            self.values.clone(),
        );
        registry.register(
            "units_charged",
            "Valuation units charged, less those given back at once",
            self.units.clone(),
        );
    }

    /// Registers the metrics of jobs, releases and the runtime.
    fn register_service(&self, registry: &mut Registry) {
        registry.register(
            "jobs_ended",
            "Jobs that this host ended, by their status",
            self.jobs_ended.clone(),
        );
        registry.register(
            "current_release",
            "1 for the release that new requests are valued by",
            self.current.clone(),
        );
        registry.register_with_unit(
            "runtime_delay",
            "How late the asynchronous threads run what is due, measured ten times a second",
            Unit::Seconds,
            self.late.clone(),
        );
    }

    /// Counts a response. `code` is the contract's error code, if any.
    pub fn record_response(
        &self,
        route: Route,
        status: u16,
        code: Option<&'static str>,
        took: Duration,
    ) {
        if !PROBES.contains(&route.as_str()) {
            self.load.record(status, took);
        }
        let seconds = took.as_secs_f64();
        self.seconds
            .get_or_create(&RouteLabels {
                route: route.clone(),
            })
            .observe(seconds);
        let code = code.unwrap_or("none");
        self.requests
            .get_or_create(&ResponseLabels {
                route,
                status,
                code,
            })
            .inc();
    }

    /// Counts valuations with this status.
    pub fn values(&self, release: &str, status: &'static str, count: u64) {
        let release = release.to_owned();
        self.values
            .get_or_create(&RowLabels { status, release })
            .inc_by(count);
    }

    /// Counts the results of a batch or a job.
    pub fn summary(&self, release: &str, summary: &Summary) {
        for (status, count) in [
            (Status::Valued, summary.valued),
            (Status::Referred, summary.referred),
            (Status::Rejected, summary.rejected),
            (Status::ValuationFailed, summary.valuation_failed),
        ] {
            if count > 0 {
                self.values(release, status.code(), u64::from(count));
            }
        }
    }

    /// Counts units that are charged finally.
    pub fn units_charged(&self, units: u64) {
        self.units.inc_by(units);
    }

    /// Counts a job that ended.
    pub fn job_ended(&self, status: &'static str) {
        self.jobs_ended.get_or_create(&JobLabels { status }).inc();
    }

    /// Returns the histogram of scheduling delays.
    pub fn scheduling_delay(&self) -> Histogram {
        self.late.clone()
    }

    /// Records the current release.
    pub(crate) fn current(&self, release: &str) {
        self.current.clear();
        let release = release.to_owned();
        self.current
            .get_or_create(&ReleaseLabels { release })
            .set(1);
    }

    /// Renders all metrics as OpenMetrics text.
    pub(crate) fn write(&self) -> Result<String, std::fmt::Error> {
        let mut page = String::with_capacity(16 << 10);
        prometheus_client::encoding::text::encode(&mut page, &self.registry)?;
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_is_written() {
        let metrics = Metrics::default();
        let took = Duration::from_micros(300);
        metrics.record_response(Route(None), 401, Some("missing_credential"), took);
        metrics.values("a", "valued", 3);
        metrics.current("a");
        metrics.current("b");
        let page = metrics.write().unwrap();
        for line in [
            r#"domesday_requests_total{route="none",status="401",code="missing_credential"} 1"#,
            r#"domesday_request_seconds_bucket{le="0.0005",route="none"} 1"#,
            r#"domesday_request_seconds_bucket{le="0.00025",route="none"} 0"#,
            r#"domesday_values_total{status="valued",release="a"} 3"#,
            r#"domesday_current_release{release="b"} 1"#,
        ] {
            assert!(page.contains(line), "{line}\n{page}");
        }
        assert!(!page.contains(r#"domesday_current_release{release="a"}"#));
    }
}
