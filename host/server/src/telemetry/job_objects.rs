//! Metrics of the object store for jobs: the duration of its operations, and those that failed.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::time::Instant;

/// Upper bounds of an operation's duration in seconds, from a folder to the time limit.
const SECONDS: [f64; 10] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    operation: &'static str,
}

/// Histograms and counters. Clones share them.
#[derive(Clone)]
pub struct JobObjectMetrics {
    seconds: Family<OperationLabels, Histogram, fn() -> Histogram>,
    failures: Family<OperationLabels, Counter>,
}

impl JobObjectMetrics {
    pub(super) fn register(registry: &mut Registry) -> JobObjectMetrics {
        let metrics = JobObjectMetrics {
            seconds: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            failures: Family::default(),
        };
        registry.register_with_unit(
            "job_object_operation",
            "Time until an operation on the object store for jobs answered or failed",
            Unit::Seconds,
            metrics.seconds.clone(),
        );
        registry.register(
            "job_object_operation_failures",
            "Operations on the object store for jobs that failed or were given up",
            metrics.failures.clone(),
        );
        metrics
    }

    /// Begins an operation, which has failed unless [`ObjectOperation::succeed`] says otherwise.
    pub(crate) fn begin(&self, operation: &'static str) -> ObjectOperation<'_> {
        ObjectOperation {
            metrics: self,
            labels: OperationLabels { operation },
            began: Instant::now(),
            succeeded: false,
        }
    }
}

/// An operation under way. It is recorded when it is dropped, so that one that its caller gave up
/// is recorded too.
pub(crate) struct ObjectOperation<'m> {
    metrics: &'m JobObjectMetrics,
    labels: OperationLabels,
    began: Instant,
    succeeded: bool,
}

impl ObjectOperation<'_> {
    /// Notes that the operation succeeded.
    pub(crate) fn succeed(&mut self) {
        self.succeeded = true;
    }
}

impl Drop for ObjectOperation<'_> {
    fn drop(&mut self) {
        let seconds = self.metrics.seconds.get_or_create(&self.labels);
        seconds.observe(self.began.elapsed().as_secs_f64());
        if !self.succeeded {
            self.metrics.failures.get_or_create(&self.labels).inc();
        }
    }
}
