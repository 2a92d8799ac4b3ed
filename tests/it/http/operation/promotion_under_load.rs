//! Releases change back and forth under mixed load: nothing fails, and a job stays on its own.

use super::promotion::{OTHER, promote, serving_two};
use crate::common::client::Client;
use crate::common::demo::{RELEASE, house};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const PROMOTIONS: u64 = 40;
const JOBS: &str = "/v3/valuation-jobs";
const TIMEOUT: Duration = Duration::from_secs(60);

/// The state that the customers and the operator share.
#[derive(Default)]
struct Load {
    over: AtomicBool,
    /// Steps of the operator: one before each promotion and one after it, so that it is odd during
    /// one.
    step: AtomicU64,
    requests: AtomicU64,
    jobs: AtomicU64,
    /// Jobs that another release was promoted during.
    passed: AtomicU64,
}

/// Returns the release that is current after this many promotions.
fn current(promotions: u64) -> &'static str {
    [RELEASE, OTHER][(promotions % 2) as usize]
}

impl Load {
    /// Returns the step, and the release that a request sent now must get. During a promotion there
    /// is none.
    fn expected_release(&self) -> (u64, Option<&'static str>) {
        let step = self.step.load(Ordering::SeqCst);
        (step, step.is_multiple_of(2).then(|| current(step / 2)))
    }

    fn going(&self) -> bool {
        !self.over.load(Ordering::Relaxed)
    }

    /// Sends one request, and asserts that its release is right.
    fn on(&self, send: impl FnOnce() -> Value) -> Value {
        let (before, expected) = self.expected_release();
        let answer = send();
        self.requests.fetch_add(1, Ordering::Relaxed);
        if let (true, Some(expected)) = (self.expected_release().0 == before, expected) {
            assert_eq!(answer["release_id"], expected, "{answer}");
        }
        answer
    }

    fn values(&self, client: &Client) {
        while self.going() {
            let result = self.on(|| client.post("/v3/value", &house()).ok());
            assert_eq!(result["status"], "valued");
        }
    }

    fn batches(&self, client: &Client) {
        let body = json!({"requests": vec![house(); 20]});
        while self.going() {
            let envelope = self.on(|| client.post("/v3/batch-value", &body).ok());
            assert_eq!(envelope["status"], "completed");
            for row in envelope["results"].as_array().unwrap() {
                assert_eq!(row["release_id"], envelope["release_id"]);
            }
        }
    }

    /// Submits jobs of several chunks, so that promotions come in the midst of them.
    fn jobs(&self, client: &Client) {
        let body = json!({"requests": vec![house(); 300]});
        while self.going() {
            let job = self.on(|| {
                let answer = client.post(JOBS, &body);
                assert_eq!(answer.status, 202, "{answer:?}");
                answer.json()
            });
            let submitted = self.step.load(Ordering::SeqCst);
            let release = &job["release_id"];
            let (status, results) = (job["status_url"].as_str(), job["results_url"].as_str());
            let started = Instant::now();
            let results = loop {
                let document = client.get(status.unwrap()).ok();
                assert_eq!(&document["release_id"], release);
                let answer = client.get(results.unwrap());
                self.requests.fetch_add(2, Ordering::Relaxed);
                if answer.status == 200 {
                    break answer.json();
                }
                assert_eq!(answer.status, 202, "{answer:?}");
                assert!(started.elapsed() < TIMEOUT);
                std::thread::sleep(Duration::from_millis(2));
            };
            assert_eq!(results["status"], "completed");
            assert_eq!(&results["release_id"], release);
            assert_eq!(&results["result"]["release_id"], release);
            for row in results["result"]["results"].as_array().unwrap() {
                assert_eq!(
                    (&row["release_id"], &row["status"]),
                    (release, &"valued".into())
                );
            }
            self.jobs.fetch_add(1, Ordering::Relaxed);
            let passed = self.step.load(Ordering::SeqCst) > submitted + 1;
            self.passed.fetch_add(passed.into(), Ordering::Relaxed);
        }
    }
}

/// Ends the load, whatever happens to the operator.
struct StopGuard<'l>(&'l Load);

impl Drop for StopGuard<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Relaxed);
    }
}

#[test]
fn every_job_stays_on_its_release_and_no_request_fails() {
    let (_releases, server) = serving_two();
    let (client, load) = (&server.demo(), &Load::default());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| load.values(client));
            scope.spawn(|| load.jobs(client));
        }
        scope.spawn(|| load.batches(client));
        let _guard = StopGuard(load);
        for number in 1..=PROMOTIONS {
            load.step.fetch_add(1, Ordering::SeqCst);
            promote(&server.data, current(number)).ok();
            load.step.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let (requests, jobs) = (count(&load.requests), count(&load.jobs));
    let passed = count(&load.passed);
    assert!(jobs > 0 && passed > 0, "{jobs} jobs, {passed} passed");
    println!(
        "counts: promotion under load: promotions {PROMOTIONS}, requests {requests}, failed 0, jobs {jobs}, \
         of which {passed} saw a promotion"
    );
}
