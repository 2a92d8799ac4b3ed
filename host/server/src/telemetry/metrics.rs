//! Metrics of the running service.
//!
//! Labels come from sets that requests cannot enlarge: route templates, statuses, codes of the
//! contract and opened releases. No path or key is ever a label, and a tenant only where the
//! operator asked for a bounded number of them.

use super::address_lookup::AddressLookupMetrics;
use super::connections::ConnectionMetrics;
use super::job_objects::JobObjectMetrics;
use super::jobs::JobMetrics;
use super::load::LoadCounters;
use super::process::ProcessMetrics;
use super::promotions::PromotionMetrics;
use super::releases::ReleaseMetrics;
use super::sampled::{SampledGauges, SampledValues};
use super::shadow::ShadowMetrics;
use super::state::StateMetrics;
use super::tenants::TenantMetrics;
use axum::extract::MatchedPath;
use domesday_contract::v3::result::{Status, Summary};
use domesday_contract::vocabulary::Vocabulary;
use domesday_valuation::worker_pool::WaitObserver;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
pub use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Upper bounds of the durations in seconds, from a refusal to the longest request.
const SECONDS: [f64; 14] = [
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0,
];

/// The status of a request without a response, as nginx has it: its client left, or its connection
/// was closed.
pub const UNANSWERED: u16 = 499;

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

type Durations = Family<RouteLabels, Histogram, fn() -> Histogram>;

/// All metrics and their registry.
pub struct Metrics {
    registry: Registry,
    requests: Family<ResponseLabels, Counter>,
    seconds: Durations,
    values: Family<RowLabels, Counter>,
    units: Counter,
    late: Histogram,
    worker_wait: Histogram,
    /// Counts of responses that the console samples.
    pub load: LoadCounters,
    /// Metrics of the address provider.
    pub address_lookup: AddressLookupMetrics,
    /// Metrics of the connections.
    pub connections: ConnectionMetrics,
    /// Metrics of the object store for jobs.
    pub job_objects: JobObjectMetrics,
    /// Metrics of jobs.
    pub jobs: JobMetrics,
    /// Metrics of the promotion ledger.
    pub promotions: PromotionMetrics,
    /// Metrics of the releases.
    pub releases: ReleaseMetrics,
    /// Metrics of the shadow.
    pub shadow: ShadowMetrics,
    /// Metrics of the state.
    pub state: StateMetrics,
    /// Metrics of tenants.
    pub tenants: TenantMetrics,
    process: ProcessMetrics,
    sampled: SampledGauges,
    /// Held while a page is made. Two at once would sample the same counters twice.
    page: Mutex<()>,
}

impl Metrics {
    /// Makes the metrics, which show at most this many tenants.
    pub fn new(tenants: usize) -> Metrics {
        let mut root = Registry::default();
        let process = ProcessMetrics::register(&mut root);
        let registry = root.sub_registry_with_prefix("domesday");
        let metrics = Metrics {
            requests: Family::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            values: Family::default(),
            units: Counter::default(),
            late: Histogram::new(SECONDS),
            worker_wait: Histogram::new(SECONDS),
            load: LoadCounters::default(),
            address_lookup: AddressLookupMetrics::register(registry),
            connections: ConnectionMetrics::register(registry),
            job_objects: JobObjectMetrics::register(registry),
            jobs: JobMetrics::register(registry),
            promotions: PromotionMetrics::register(registry),
            releases: ReleaseMetrics::register(registry),
            shadow: ShadowMetrics::register(registry),
            state: StateMetrics::register(registry),
            tenants: TenantMetrics::register(registry, tenants),
            process,
            sampled: SampledGauges::register(registry),
            page: Mutex::default(),
            registry: Registry::default(),
        };
        metrics.register_requests(registry);
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The program", build);
        Metrics {
            registry: root,
            ..metrics
        }
    }

    /// Registers the metrics of requests, their rows and the threads that run them.
    fn register_requests(&self, registry: &mut Registry) {
        registry.register(
            "requests",
            "Requests that ended, by route, status and code of the error",
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
        registry.register_with_unit(
            "runtime_delay",
            "How late the asynchronous threads run what is due, measured ten times a second",
            Unit::Seconds,
            self.late.clone(),
        );
        registry.register_with_unit(
            "worker_wait",
            "Time that a piece of work of a request waited for a worker",
            Unit::Seconds,
            self.worker_wait.clone(),
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
        self.count_request(route, status, code);
    }

    /// Counts a request that ended without a response. It has no time to an answer.
    pub fn record_unanswered(&self, route: Route) {
        self.count_request(route, UNANSWERED, None);
    }

    fn count_request(&self, route: Route, status: u16, code: Option<&'static str>) {
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

    /// Counts units that are charged: those of a request less its refunds, and those of a job as it
    /// is accepted. Nothing deducts the units that are given back for rows of a job later.
    pub fn units_charged(&self, tenant: &str, units: u64) {
        self.units.inc_by(units);
        self.tenants.record_units(tenant, units);
    }

    /// Returns the histogram of scheduling delays.
    pub fn scheduling_delay(&self) -> Histogram {
        self.late.clone()
    }

    /// Returns an observer of the time that work waits for a worker.
    pub fn wait_observer(&self) -> WaitObserver {
        let waits = self.worker_wait.clone();
        Arc::new(move |wait| waits.observe(wait.as_secs_f64()))
    }

    /// Returns all metrics as OpenMetrics text, with the process and the values that other parts
    /// hold as `sample` reads them. Pages wait for each other.
    ///
    /// # Errors
    /// A metric cannot be written.
    pub(crate) fn page(
        &self,
        sample: impl FnOnce() -> SampledValues,
    ) -> Result<String, std::fmt::Error> {
        // It guards no data: each page samples everything anew.
        let _page = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        let values = sample();
        self.process.sample();
        self.sampled.show(&values);
        self.releases.show(&values.releases);
        self.state.show_pools(&values.pools);
        self.write()
    }

    /// Returns the gauge of the time at which the certificate in use expires, in seconds
    /// since 1970.
    pub fn certificate_expiry(&self) -> Gauge {
        self.sampled.certificate_expiry.clone()
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
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn a_page_is_sampled_once_the_one_before_is_written() {
        let metrics = Metrics::new(0);
        let values = || SampledValues {
            jobs_damaged: true,
            log_lines_dropped: 3,
            ..SampledValues::default()
        };
        let sampled = AtomicBool::new(false);
        thread::scope(|scope| {
            let (begin, begun) = mpsc::channel();
            let (finish, finished) = mpsc::channel::<()>();
            let (metrics, sampled) = (&metrics, &sampled);
            scope.spawn(move || {
                metrics.page(|| {
                    begin.send(()).unwrap();
                    finished.recv().unwrap();
                    values()
                })
            });
            begun.recv().unwrap();
            let second = scope.spawn(move || {
                metrics.page(|| {
                    sampled.store(true, Ordering::SeqCst);
                    values()
                })
            });
            thread::sleep(Duration::from_millis(50));
            assert!(!sampled.load(Ordering::SeqCst), "two pages at once");
            finish.send(()).unwrap();
            let page = second.join().unwrap().unwrap();
            for line in [
                "domesday_jobs_damaged 1\n",
                "domesday_log_lines_dropped_total 3\n",
            ] {
                assert!(page.contains(line), "{page}");
            }
        });
    }

    #[test]
    fn every_counter_is_written() {
        let metrics = Metrics::new(0);
        let took = Duration::from_micros(300);
        metrics.record_response(Route(None), 401, Some("missing_credential"), took);
        metrics.values("a", "valued", 3);
        let page = metrics.write().unwrap();
        for line in [
            r#"domesday_requests_total{route="none",status="401",code="missing_credential"} 1"#,
            r#"domesday_request_seconds_bucket{le="0.0005",route="none"} 1"#,
            r#"domesday_request_seconds_bucket{le="0.00025",route="none"} 0"#,
            r#"domesday_values_total{status="valued",release="a"} 3"#,
            "# TYPE process_cpu_seconds counter",
            "# UNIT process_resident_memory_bytes bytes",
            "# TYPE domesday_log_lines_dropped counter",
        ] {
            assert!(page.contains(line), "{line}\n{page}");
        }
    }
}
