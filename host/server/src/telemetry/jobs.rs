//! Metrics of jobs: those of this host, and the age of the oldest of all hosts.

use domesday_state::UnixMillis;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use std::sync::atomic::AtomicU64;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StatusLabels {
    status: &'static str,
}

/// Counters and gauges of jobs.
///
/// Each host counts the jobs that it accepted, ran and ended, so that sums over hosts are right.
/// Only the time of the oldest job is the same on all, and nobody adds up times.
#[derive(Debug, Default)]
pub struct JobMetrics {
    accepted: Counter,
    ended: Family<StatusLabels, Counter>,
    leases_lost: Counter,
    /// Jobs that a runner of this host works on.
    pub(crate) running: Gauge,
    oldest: Gauge<f64, AtomicU64>,
    oldest_passed_over: Gauge<f64, AtomicU64>,
}

impl JobMetrics {
    pub(super) fn register(registry: &mut Registry) -> JobMetrics {
        let metrics = JobMetrics::default();
        registry.register(
            "jobs_accepted",
            "Jobs that this host accepted",
            metrics.accepted.clone(),
        );
        registry.register(
            "jobs_ended",
            "Jobs that this host ended, by their status",
            metrics.ended.clone(),
        );
        registry.register(
            "jobs_running",
            "Jobs that this host works on",
            metrics.running.clone(),
        );
        registry.register(
            "job_leases_lost",
            "Leases that this host lost to another before it was done",
            metrics.leases_lost.clone(),
        );
        registry.register_with_unit(
            "jobs_oldest_waiting_timestamp",
            "Time at which the oldest job that is queued or running was accepted, since 1970; 0 if \
             there is none",
            Unit::Seconds,
            metrics.oldest.clone(),
        );
        registry.register_with_unit(
            "jobs_oldest_passed_over_timestamp",
            "Time at which the oldest job was accepted that nobody works on and that this host \
             cannot run, since 1970; 0 if there is none",
            Unit::Seconds,
            metrics.oldest_passed_over.clone(),
        );
        metrics
    }

    /// Counts a job that this host accepted.
    pub fn record_accepted(&self) {
        self.accepted.inc();
    }

    /// Counts a job that ended.
    pub fn record_end(&self, status: &'static str) {
        self.ended.get_or_create(&StatusLabels { status }).inc();
    }

    /// Counts a lease that another host has by now.
    pub fn record_lost_lease(&self) {
        self.leases_lost.inc();
    }

    /// Shows the time at which the oldest waiting job was accepted.
    pub(crate) fn show_oldest(&self, accepted: Option<UnixMillis>) {
        self.oldest.set(seconds(accepted));
    }

    /// Shows the time at which the oldest job that this host passes over was accepted.
    pub(crate) fn show_passed_over(&self, accepted: Option<UnixMillis>) {
        self.oldest_passed_over.set(seconds(accepted));
    }
}

/// Returns a time in seconds since 1970, and 0 for none.
fn seconds(at: Option<UnixMillis>) -> f64 {
    // Milliseconds since 1970 are far below 2^52.
    #[allow(clippy::cast_precision_loss)]
    at.map_or(0.0, |at| at.0 as f64 / 1e3)
}
