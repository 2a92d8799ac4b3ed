//! Customers of a service behind one address, who take no answer for granted.

use crate::chaos::rig::TENANTS;
use crate::common::client::Client;
use crate::common::demo::{flat, house};
use crate::common::raw::HttpResponse;
use crate::common::seed::SeededRandom;
use crate::crash::clients::{JOBS, row};
use crate::crash::expected::{AcceptedJob, JobProgress, Ledger, add};
use serde_json::{Value, json};
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Jobs that may wait; a customer with more of them waits too.
const QUEUE: usize = 12;
/// The longest that a customer thinks between two requests.
const MAX_THINK_MS: u64 = 40;
/// The longest that a customer waits for an answer.
const TIMEOUT: Duration = Duration::from_secs(15);
/// What a service may answer that has a fault.
const TROUBLE: [u16; 3] = [502, 503, 504];

/// The load, and what was answered.
#[derive(Default)]
pub struct Load {
    pub ledger: Ledger,
    /// Held while a customer asks for something that costs units.
    work: RwLock<()>,
    over: AtomicBool,
    given_up: AtomicBool,
}

/// Gives up for all where one panics.
struct Guard<'l>(&'l Load);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.given_up.store(true, Ordering::Relaxed);
        }
        // Whoever leaves is the last to act, or has failed.
        self.0.over.store(true, Ordering::Relaxed);
    }
}

impl Load {
    /// Runs customers while `meanwhile` acts on the service. They end when it returns.
    pub fn during<T>(
        &self,
        client: &Client,
        keys: &[String; TENANTS.len()],
        random: &mut SeededRandom,
        meanwhile: impl FnOnce() -> T,
    ) -> T {
        let mut customer = |key: &str| Customer {
            load: self,
            client: client.with_key(key).with_timeout(TIMEOUT),
            random: random.fork(),
        };
        std::thread::scope(|scope| {
            for _ in 0..2 {
                let customer = customer(&keys[0]);
                scope.spawn(move || customer.values());
            }
            for (number, mut poller) in [customer(&keys[1]), customer(&keys[1])]
                .into_iter()
                .enumerate()
            {
                let mut submitter = customer(&keys[1]);
                scope.spawn(move || submitter.submit(number));
                scope.spawn(move || poller.poll());
            }
            let _guard = Guard(self);
            meanwhile()
        })
    }

    /// Runs something while no customer works and every job that was accepted has results.
    pub fn still<T>(&self, timeout: Duration, action: impl FnOnce() -> T) -> T {
        let _work = self
            .work
            .write()
            .unwrap_or_else(|broken| broken.into_inner());
        let begun = Instant::now();
        while self.ledger.open_jobs() > 0 {
            self.assert_going();
            assert!(
                begun.elapsed() < timeout,
                "jobs that never end: {:?}",
                self.open()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        action()
    }

    /// Ends the load once every job that was accepted has results.
    pub fn finish(&self, timeout: Duration) {
        self.still(timeout, || self.over.store(true, Ordering::Relaxed));
    }

    /// Asserts that no customer has found a fault of the service.
    pub fn assert_going(&self) {
        let given_up = self.given_up.load(Ordering::Relaxed);
        assert!(!given_up, "given up, for another's failure");
    }

    fn open(&self) -> Vec<String> {
        let jobs = self.ledger.jobs.lock().unwrap();
        let open = jobs.iter().filter(|(_, job)| job.results.is_none());
        open.map(|(key, job)| format!("{key} is {}", job.id))
            .collect()
    }

    fn over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

/// The outcome of a request.
enum Outcome {
    Answered(HttpResponse),
    /// Refused by a host, which says so in the contract's words.
    Refused,
    /// Nobody knows whether a host had it.
    Unknown,
}

struct Customer<'l> {
    load: &'l Load,
    client: Client,
    random: SeededRandom,
}

impl Customer<'_> {
    fn send(&self, path: &str, body: Option<&Value>) -> Outcome {
        let ledger = &self.load.ledger;
        add(&ledger.requests, 1);
        let sent = match body {
            Some(body) => self.client.try_post(path, &body.to_string()),
            None => self.client.try_get(path),
        };
        let Ok(answer) = sent else {
            return Outcome::Unknown;
        };
        if answer.status < 300 {
            add(&ledger.answered, 1);
            return Outcome::Answered(answer);
        }
        add(&ledger.refused, 1);
        assert!(TROUBLE.contains(&answer.status), "{path}: {answer:?}");
        let document: Option<Value> = serde_json::from_str(&answer.text).ok();
        match document {
            Some(document) if document["error"]["code"].is_string() => Outcome::Refused,
            _ => Outcome::Unknown,
        }
    }

    fn think(&mut self) {
        let thought = self.random.within(0..=MAX_THINK_MS);
        std::thread::sleep(Duration::from_millis(thought));
    }

    /// Returns rows, some of them unsound, and which are sound.
    fn rows(
        &mut self,
        most: usize,
        reference: impl Fn(usize) -> String,
    ) -> (Vec<Value>, Vec<bool>) {
        let count = self.random.count(most);
        let sound: Vec<bool> = (0..count).map(|_| !self.random.once_in(8)).collect();
        let rows = sound.iter().enumerate();
        let rows = rows.map(|(index, &sound)| row(&reference(index), sound));
        (rows.collect(), sound)
    }

    /// Asks for values, singly and in batches.
    fn values(mut self) {
        let _guard = Guard(self.load);
        while !self.load.over() {
            let (path, body, units) = match self.random.within(0..=2) {
                0 => {
                    let (rows, sound) = self.rows(20, |_| "b".to_owned());
                    let units = sound.iter().filter(|&&sound| sound).count() as u64;
                    ("/v3/batch-value", json!({ "requests": rows }), units)
                }
                1 => ("/v3/simple-value", flat(), 1),
                _ => ("/v3/value", house(), 1),
            };
            {
                let _work = self.load.work.read().unwrap();
                let ledger = &self.load.ledger;
                match self.send(path, Some(&body)) {
                    Outcome::Answered(answer) => {
                        add(&ledger.units, units);
                        let answer = answer.json();
                        let one = std::slice::from_ref(&answer);
                        let rows = answer["results"].as_array().map_or(one, Vec::as_slice);
                        let execution = rows[0]["execution_id"].as_str().unwrap().to_owned();
                        let before = ledger.executions.lock().unwrap().insert(execution, units);
                        assert_eq!(before, None, "an execution was answered twice");
                        let ids = rows.iter().map(|row| row["valuation_id"].as_str().unwrap());
                        ledger
                            .valuation_ids
                            .lock()
                            .unwrap()
                            .extend(ids.map(str::to_owned));
                    }
                    Outcome::Refused => add(&ledger.not_kept, units),
                    Outcome::Unknown => add(&ledger.unanswered, units),
                }
            }
            self.think();
        }
    }

    /// Submits jobs, each until it is accepted.
    fn submit(&mut self, submitter: usize) {
        let _guard = Guard(self.load);
        for number in 0.. {
            while self.load.ledger.open_jobs() > QUEUE && !self.load.over() {
                std::thread::sleep(Duration::from_millis(5));
            }
            let thought = self.random.within(0..=10 * MAX_THINK_MS);
            std::thread::sleep(Duration::from_millis(thought));
            let _work = self.load.work.read().unwrap();
            if self.load.over() {
                return;
            }
            let key = format!("job-{submitter}-{number}");
            // Some of one chunk, some of several.
            let most = if self.random.once_in(4) { 200 } else { 40 };
            let (rows, sound) = self.rows(most, |index| format!("{key}/{index}"));
            let body = json!({"idempotency_key": key, "requests": rows});
            let mut document = self.accepted(&body);
            let id = document["job_id"].as_str().unwrap().to_owned();
            // Some customers ask twice although they were answered.
            if self.random.once_in(4) {
                assert_eq!(self.accepted(&body)["job_id"], *id, "{key}");
            }
            let job = AcceptedJob {
                id,
                release: document["release_id"].take(),
                body,
                sound,
                last_seen: JobProgress::default(),
                results: None,
            };
            self.load.ledger.jobs.lock().unwrap().insert(key, job);
        }
    }

    fn accepted(&mut self, body: &Value) -> Value {
        loop {
            if let Outcome::Answered(answer) = self.send(JOBS, Some(body)) {
                assert_eq!(answer.status, 202, "{answer:?}");
                return answer.json();
            }
            self.load.assert_going();
            self.think();
        }
    }

    /// Looks after jobs: their documents, and their results now and then once more.
    fn poll(&mut self) {
        let _guard = Guard(self.load);
        while !self.load.over() {
            let chosen = self.load.ledger.choose_job(&mut self.random);
            if let Some((key, id)) = chosen {
                self.look_at(&key, &id);
            }
            self.think();
        }
    }

    fn look_at(&self, key: &str, id: &str) {
        let (status, ledger) = (format!("{JOBS}/{id}"), &self.load.ledger);
        let before = ledger.last_seen(key);
        let Outcome::Answered(answer) = self.send(&status, None) else {
            return;
        };
        ledger.progress(key, &before, &answer.json());
        if answer.json()["status"] == "completed"
            && let Outcome::Answered(answer) = self.send(&format!("{status}/results"), None)
        {
            assert_eq!(answer.status, 200, "{answer:?}");
            ledger.results(key, &answer.text);
        }
    }
}
