//! The pieces of a batch: their rows, and how many of them take a place in the pool.

use super::{context, demo, run_batch};
use domesday_contract::v3::request::Kind;
use domesday_contract::v3::result::Referral;
use domesday_engine::evidence::Exchange;
use domesday_engine::outcome::Row;
use domesday_valuation::observer::{ObservedRow, RowObserver, WantedEvidence};
use domesday_valuation::pipeline::row::parse;
use domesday_valuation::worker_pool::{Occupancy, WorkerPool};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// A counter of the tasks that the pool holds while a row runs. It waits for the expected count.
struct TaskCounter {
    occupancy: Occupancy,
    expected: usize,
    found: Mutex<Vec<usize>>,
}

impl RowObserver for TaskCounter {
    fn wanted_evidence(&self, _: Uuid) -> Option<WantedEvidence> {
        None
    }

    fn observe_referral(&self, _: &ObservedRow<'_>, _: &Referral) {}

    fn observe_run(&self, _: &ObservedRow<'_>, _: &Row, _: Duration) {
        let began = Instant::now();
        let is_expected = || self.occupancy.in_use() == self.expected;
        while !is_expected() && began.elapsed() < Duration::from_secs(10) {
            std::thread::yield_now();
        }
        self.found.lock().unwrap().push(self.occupancy.in_use());
    }

    fn record_result(&self, _: &ObservedRow<'_>, _: &Row, _: Option<Vec<Exchange>>) {}
}

#[test]
fn a_batch_keeps_one_piece_of_32_rows_waiting_beside_those_that_run() {
    for (count, expected) in [(1, 1), (32, 1), (33, 2), (97, 2)] {
        let workers = WorkerPool::new(1, 64).unwrap();
        let counter = Arc::new(TaskCounter {
            occupancy: workers.occupancy(),
            expected,
            found: Mutex::default(),
        });
        let mut context = context(Kind::Existing);
        context.observer = Some(counter.clone());
        let context = Arc::new(context);
        // The others have errors, so they take no time.
        let mut rows = vec!["7".to_owned(); count];
        rows[0] = demo::house().to_string();
        let rows = rows.iter().map(|row| parse(row, &context)).collect();
        let time = Duration::from_secs(60);
        let (done, results) = run_batch(&workers, None, &context, rows, time);
        assert_eq!(results.len(), count);
        assert_eq!(done.summary.valued, 1);
        assert_eq!(*counter.found.lock().unwrap(), [expected], "{count} rows");
    }
}

#[test]
fn a_batch_of_one_row_with_errors_has_one_result() {
    let workers = WorkerPool::new(1, 64).unwrap();
    let context = Arc::new(context(Kind::Existing));
    let rows = vec![parse("7", &context)];
    let time = Duration::from_secs(60);
    let (done, results) = run_batch(&workers, None, &context, rows, time);
    assert_eq!(results.len(), 1);
    assert_eq!(results[0]["status"], "rejected");
    assert_eq!(done.refundable, 0);
}
