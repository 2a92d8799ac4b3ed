//! Customers at work, on hosts that come and go.

use crate::common::client::Client;
use crate::common::demo::{at, flat, house};
use crate::common::raw::HttpResponse;
use crate::common::seed::SeededRandom;
use crate::crash::expected::{AcceptedJob, JobProgress, Ledger, add};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

pub const JOBS: &str = "/v3/valuation-jobs";
/// Jobs that may wait; a customer with more of them waits too.
const QUEUE: usize = 40;
/// The longest that a customer thinks between two requests.
const MAX_THINK_MS: u64 = 10;

/// The hosts that are up, and whether the customers are to go on.
pub struct Hosts {
    up: RwLock<Vec<Option<SocketAddr>>>,
    over: AtomicBool,
    given_up: AtomicBool,
}

/// The outcome of a request.
enum SendOutcome {
    Answered(HttpResponse),
    /// A host could keep nothing at that moment.
    NotKept,
    /// It may have reached a host.
    Unanswered,
    /// It reached none.
    Unsent,
}

impl Hosts {
    pub fn new(count: usize) -> Hosts {
        Hosts {
            up: RwLock::new(vec![None; count]),
            over: AtomicBool::new(false),
            given_up: AtomicBool::new(false),
        }
    }

    /// Returns the number of hosts, up or not.
    pub fn count(&self) -> usize {
        self.up.read().unwrap().len()
    }

    /// Sets the address of a host, or none where it is down.
    pub fn set(&self, host: usize, address: Option<SocketAddr>) {
        self.up.write().unwrap()[host] = address;
    }

    /// Stops new work from here on.
    fn finish(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    fn over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Reports whether a failure makes the rest pointless.
    pub fn given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    fn any(&self, random: &mut SeededRandom) -> SocketAddr {
        loop {
            assert!(!self.given_up(), "given up, for another's failure");
            let up: Vec<_> = self.up.read().unwrap().iter().flatten().copied().collect();
            if let Some(&address) = random.choice(&up) {
                return address;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A guard: if its thread panics, all other threads give up.
struct PanicGuard<'h>(&'h Hosts);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.given_up.store(true, Ordering::Relaxed);
        }
    }
}

/// Runs two tenants' customers while `meanwhile` acts on the hosts. They end when it returns, every
/// submission is accepted and every job has results.
pub fn customers<T>(
    hosts: &Hosts,
    ledger: &Ledger,
    values: &str,
    jobs: &str,
    faults: bool,
    random: &mut SeededRandom,
    meanwhile: impl FnOnce() -> T,
) -> T {
    let numbers = AtomicU32::new(0);
    let nowhere = SocketAddr::from(([127, 0, 0, 1], 1));
    let mut customer = |key: &str| Customer {
        hosts,
        ledger,
        client: Client::new(nowhere, key),
        random: random.fork(),
        faults,
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let customer = customer(values);
            scope.spawn(move || customer.values());
        }
        for _ in 0..2 {
            let (submitter, poller) = (customer(jobs), customer(jobs));
            let numbers = &numbers;
            scope.spawn(move || submitter.submit(numbers));
            scope.spawn(move || poller.poll());
        }
        let _guard = PanicGuard(hosts);
        let result = meanwhile();
        hosts.finish();
        result
    })
}

/// One customer.
struct Customer<'w> {
    hosts: &'w Hosts,
    ledger: &'w Ledger,
    client: Client,
    random: SeededRandom,
    /// True if the disk may fail.
    faults: bool,
}

impl Customer<'_> {
    fn send(&mut self, path: &str, body: Option<&Value>) -> SendOutcome {
        self.client.address = self.hosts.any(&mut self.random);
        let sent = match body {
            Some(body) => self.client.try_post(path, &body.to_string()),
            None => self.client.try_get(path),
        };
        add(&self.ledger.requests, 1);
        match sent {
            Ok(answer) => {
                let refused = answer.status >= 300;
                add(&self.ledger.answered, u64::from(!refused));
                add(&self.ledger.refused, u64::from(refused));
                if self.faults && answer.status == 503 {
                    assert_eq!(answer.refusal().1, "overloaded", "{path}: {answer:?}");
                    assert!(answer.header("retry-after").is_some(), "{answer:?}");
                    return SendOutcome::NotKept;
                }
                // Whatever happens to hosts, those that are up are not degraded.
                assert!(!refused, "{path}: {answer:?}");
                SendOutcome::Answered(answer)
            }
            Err(error) if error.is_connect() => SendOutcome::Unsent,
            Err(_) => SendOutcome::Unanswered,
        }
    }

    fn think(&mut self) {
        let thought = self.random.within(0..=MAX_THINK_MS);
        std::thread::sleep(Duration::from_millis(thought));
    }

    /// Asks for values, singly and in batches.
    fn values(mut self) {
        let _guard = PanicGuard(self.hosts);
        while !self.hosts.over() {
            let (path, body, units) = match self.random.within(0..=2) {
                0 => {
                    let sound: Vec<bool> = (0..self.random.count(40))
                        .map(|_| !self.random.once_in(8))
                        .collect();
                    let rows: Vec<Value> = sound.iter().map(|&sound| row("b", sound)).collect();
                    let units = sound.iter().filter(|&&sound| sound).count() as u64;
                    ("/v3/batch-value", json!({ "requests": rows }), units)
                }
                1 => ("/v3/simple-value", flat(), 1),
                _ => ("/v3/value", house(), 1),
            };
            match self.send(path, Some(&body)) {
                SendOutcome::Answered(answer) => {
                    add(&self.ledger.units, units);
                    let answer = answer.json();
                    let one = std::slice::from_ref(&answer);
                    let rows = answer["results"].as_array().map_or(one, Vec::as_slice);
                    let ids = rows.iter().map(|row| row["valuation_id"].as_str().unwrap());
                    let mut all = self.ledger.valuation_ids.lock().unwrap();
                    all.extend(ids.map(str::to_owned));
                }
                SendOutcome::Unanswered => add(&self.ledger.unanswered, units),
                SendOutcome::NotKept => add(&self.ledger.not_kept, units),
                SendOutcome::Unsent => {}
            }
            self.think();
        }
    }

    /// Submits jobs, each until it is accepted.
    fn submit(mut self, numbers: &AtomicU32) {
        let _guard = PanicGuard(self.hosts);
        while !self.hosts.over() {
            let key = format!("job-{}", numbers.fetch_add(1, Ordering::Relaxed));
            // Some of one chunk, some of several.
            let most = if self.random.once_in(4) { 200 } else { 40 };
            let sound: Vec<bool> = (0..self.random.count(most))
                .map(|_| !self.random.once_in(8))
                .collect();
            let references = sound.iter().enumerate();
            let rows: Vec<Value> = references
                .map(|(index, &sound)| row(&format!("{key}/{index}"), sound))
                .collect();
            let body = json!({"idempotency_key": key, "requests": rows});
            // Some customers ask twice although they were answered.
            let again = self.random.once_in(4);
            let mut document = self.accepted(&body);
            self.ledger.jobs.lock().unwrap().insert(
                key.clone(),
                AcceptedJob {
                    id: document["job_id"].as_str().unwrap().to_owned(),
                    release: document["release_id"].take(),
                    body: body.clone(),
                    sound,
                    last_seen: JobProgress::default(),
                    results: None,
                },
            );
            if again {
                let before = self.ledger.last_seen(&key);
                let document = self.accepted(&body);
                self.ledger.progress(&key, &before, &document);
            }
            while self.ledger.open_jobs() > QUEUE && !self.hosts.over() && !self.hosts.given_up() {
                std::thread::sleep(Duration::from_millis(2));
            }
            self.think();
        }
    }

    fn accepted(&mut self, body: &Value) -> Value {
        loop {
            if let SendOutcome::Answered(answer) = self.send(JOBS, Some(body)) {
                assert_eq!(answer.status, 202, "{answer:?}");
                return answer.json();
            }
            self.think();
        }
    }

    /// Looks after jobs: their documents, and their results more than once.
    fn poll(mut self) {
        let _guard = PanicGuard(self.hosts);
        while !self.hosts.over() || self.ledger.open_jobs() > 0 {
            let chosen = self.ledger.choose_job(&mut self.random);
            let Some((key, id)) = chosen else {
                self.think();
                continue;
            };
            let status = format!("{JOBS}/{id}");
            let before = self.ledger.last_seen(&key);
            let SendOutcome::Answered(answer) = self.send(&status, None) else {
                continue;
            };
            self.ledger.progress(&key, &before, &answer.ok());
            if answer.json()["status"] == "completed" {
                let results = format!("{status}/results");
                if let SendOutcome::Answered(answer) = self.send(&results, None) {
                    assert_eq!(answer.status, 200, "{answer:?}");
                    self.ledger.results(&key, &answer.text);
                }
            }
            self.think();
        }
    }
}

/// Returns a row with a reference. A row that is not sound is rejected before it runs, and costs
/// nothing.
pub fn row(reference: &str, sound: bool) -> Value {
    let mut row = match reference.bytes().last() {
        Some(b'1') => flat(),
        // Nobody's address: found out when it is looked up, so that it costs its unit.
        Some(b'2') => at("1", "Nowhere Lane", "QA1 1AF"),
        _ => house(),
    };
    row["request_reference"] = reference.into();
    if !sound {
        row["size"] = json!({});
    }
    row
}
