//! Object storage for jobs whose operations are measured.

use super::objects::{JobObjects, ObjectsError};
use crate::telemetry::job_objects::{JobObjectMetrics, Operation};
use futures_util::future::BoxFuture;
use std::sync::Arc;

/// Object storage that records each operation in the metrics.
pub struct MeasuredObjects {
    objects: Arc<dyn JobObjects>,
    metrics: JobObjectMetrics,
}

impl MeasuredObjects {
    /// Records the operations on `objects`, whose counters begin at 0 now.
    pub fn new(objects: Arc<dyn JobObjects>, metrics: JobObjectMetrics) -> MeasuredObjects {
        metrics.show_counters();
        MeasuredObjects { objects, metrics }
    }

    /// Waits for the answer of an operation and records it.
    fn measure<'a, T: 'a>(
        &'a self,
        operation: Operation,
        answer: BoxFuture<'a, Result<T, ObjectsError>>,
    ) -> BoxFuture<'a, Result<T, ObjectsError>> {
        Box::pin(async move {
            let mut operation = self.metrics.begin(operation);
            let answer = answer.await;
            operation.end(answer.is_ok());
            answer
        })
    }
}

impl JobObjects for MeasuredObjects {
    fn put<'a>(&'a self, name: &'a str, bytes: Vec<u8>) -> BoxFuture<'a, Result<(), ObjectsError>> {
        self.measure(Operation::Put, self.objects.put(name, bytes))
    }

    fn get<'a>(
        &'a self,
        name: &'a str,
        largest: u64,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, ObjectsError>> {
        self.measure(Operation::Get, self.objects.get(name, largest))
    }

    fn delete<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), ObjectsError>> {
        self.measure(Operation::Delete, self.objects.delete(name))
    }

    fn list<'a>(
        &'a self,
        folder: &'a str,
        end: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, ObjectsError>> {
        self.measure(Operation::List, self.objects.list(folder, end, limit))
    }
}
