//! Metrics of the object store for jobs: the duration of its operations, those that failed, and
//! those that were given up.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::time::Instant;

/// Upper bounds of an operation's duration in seconds, from a folder to the time limit.
const SECONDS: [f64; 10] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];

/// An operation on an object store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Put,
    Get,
    Delete,
    List,
}

impl Operation {
    pub(crate) const ALL: [Operation; 4] = [
        Operation::Put,
        Operation::Get,
        Operation::Delete,
        Operation::List,
    ];

    /// Returns the name of the operation, as the label has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Operation::Put => "put",
            Operation::Get => "get",
            Operation::Delete => "delete",
            Operation::List => "list",
        }
    }

    fn labels(self) -> OperationLabels {
        OperationLabels {
            operation: self.name(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    operation: &'static str,
}

/// Histograms and counters. Clones share them.
#[derive(Clone)]
pub struct JobObjectMetrics {
    seconds: Family<OperationLabels, Histogram, fn() -> Histogram>,
    failures: Family<OperationLabels, Counter>,
    given_up: Family<OperationLabels, Counter>,
}

impl JobObjectMetrics {
    pub(super) fn register(registry: &mut Registry) -> JobObjectMetrics {
        let metrics = JobObjectMetrics {
            seconds: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            failures: Family::default(),
            given_up: Family::default(),
        };
        registry.register_with_unit(
            "job_object_operation",
            "Time until an operation on the object store for jobs answered, failed or was given up",
            Unit::Seconds,
            metrics.seconds.clone(),
        );
        registry.register(
            "job_object_operation_failures",
            "Operations on the object store for jobs that ended with an error",
            metrics.failures.clone(),
        );
        registry.register(
            "job_object_operation_given_up",
            "Operations on the object store for jobs that were given up before they were answered",
            metrics.given_up.clone(),
        );
        metrics
    }

    /// Shows the counters of each operation from 0 on. A rule that looks for an increase does not
    /// see the first count of a counter that appears with it.
    pub(crate) fn show_counters(&self) {
        for operation in Operation::ALL {
            for counters in [&self.failures, &self.given_up] {
                drop(counters.get_or_create(&operation.labels()));
            }
        }
    }

    /// Begins an operation, which is given up unless [`ObjectOperation::end`] says otherwise.
    pub(crate) fn begin(&self, operation: Operation) -> ObjectOperation<'_> {
        ObjectOperation {
            metrics: self,
            labels: operation.labels(),
            began: Instant::now(),
            outcome: Outcome::GivenUp,
        }
    }
}

#[derive(Clone, Copy)]
enum Outcome {
    Succeeded,
    Failed,
    GivenUp,
}

/// An operation under way. It is recorded when it is dropped, so that one that its caller gave up
/// is recorded too.
pub(crate) struct ObjectOperation<'m> {
    metrics: &'m JobObjectMetrics,
    labels: OperationLabels,
    began: Instant,
    outcome: Outcome,
}

impl ObjectOperation<'_> {
    /// Notes that the operation was answered, or failed.
    pub(crate) fn end(&mut self, succeeded: bool) {
        self.outcome = match succeeded {
            true => Outcome::Succeeded,
            false => Outcome::Failed,
        };
    }
}

impl Drop for ObjectOperation<'_> {
    fn drop(&mut self) {
        let seconds = self.metrics.seconds.get_or_create(&self.labels);
        seconds.observe(self.began.elapsed().as_secs_f64());
        let counters = match self.outcome {
            Outcome::Succeeded => return,
            Outcome::Failed => &self.metrics.failures,
            Outcome::GivenUp => &self.metrics.given_up,
        };
        counters.get_or_create(&self.labels).inc();
    }
}
