//! One load: connections that each send their next request once the last is answered.

use crate::report::{Latency, LoadFigures};
use hdrhistogram::Histogram;
use reqwest::{Client, StatusCode};
use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// The longest time that a histogram tells, in microseconds: ten minutes.
const LONGEST: u64 = 600_000_000;
/// The pause after a refusal, so that a limited plan is not asked in a tight loop.
const PAUSE: Duration = Duration::from_millis(20);

/// A load to put on a host.
#[derive(Clone)]
pub struct Load {
    /// The client.
    pub client: Client,
    /// The address of the route.
    pub url: String,
    /// The key.
    pub key: String,
    /// The bodies, sent one after another.
    pub bodies: Arc<Vec<Vec<u8>>>,
    /// Homes in each body.
    pub rows: usize,
    /// Connections at once.
    pub connections: usize,
    /// Duration.
    pub duration: Duration,
}

/// The counts of one connection, or the sums of several.
struct Counts {
    micros: Histogram<u64>,
    /// Answered requests a second, until its last response.
    requests_per_second: f64,
    limited: u64,
    failed: u64,
    first_failure: Option<String>,
}

/// The result of one request.
enum RequestOutcome {
    /// All rows are valued.
    Valued,
    Limited,
    Failed(String),
}

/// Loads a host, and returns the figures without those of its metrics.
pub async fn run(load: &Load) -> LoadFigures {
    let (started, cpu) = (Instant::now(), cpu_seconds());
    let mut connections = JoinSet::new();
    for number in 0..load.connections {
        connections.spawn(send(load.clone(), number, started));
    }
    let mut total = Counts::new();
    while let Some(counts) = connections.join_next().await {
        match counts {
            Ok(counts) => total.add(counts),
            Err(error) => total.fail(format!("the load generator failed: {error}")),
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    let requests = total.micros.len();
    let values = requests as f64 * load.rows as f64;
    LoadFigures {
        rows: load.rows,
        connections: load.connections,
        seconds,
        requests,
        limited: total.limited,
        failed: total.failed,
        first_failure: total.first_failure,
        values_per_second: total.requests_per_second * load.rows as f64,
        latency: Latency::of(&total.micros),
        host_micros_per_value: None,
        client_micros_per_value: (cpu_seconds() - cpu) * 1e6 / values.max(1.0),
    }
}

async fn send(load: Load, number: usize, started: Instant) -> Counts {
    let mut counts = Counts::new();
    // Each begins elsewhere, so that they do not ask for the same home at once.
    let mut bodies = load.bodies.iter().cycle().skip(number);
    while started.elapsed() < load.duration {
        let Some(body) = bodies.next() else { break };
        let began = Instant::now();
        match ask(&load, body.clone()).await {
            RequestOutcome::Valued => {
                let micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(LONGEST);
                counts.micros.saturating_record(micros);
            }
            RequestOutcome::Limited => {
                counts.limited += 1;
                tokio::time::sleep(PAUSE).await;
            }
            RequestOutcome::Failed(reason) => {
                counts.fail(reason);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    // By its own time: the others have stopped while it waits for a slow last response.
    counts.requests_per_second = counts.micros.len() as f64 / started.elapsed().as_secs_f64();
    counts
}

/// The members of a response that tell whether its rows are valued.
#[derive(Deserialize)]
struct Outcome {
    status: String,
    #[serde(default)]
    results: Vec<RowOutcome>,
}

#[derive(Deserialize)]
struct RowOutcome {
    status: String,
}

impl Outcome {
    /// Returns the answer. A row that is not valued costs less, so it must not count.
    fn judge(&self) -> RequestOutcome {
        let status = &self.status;
        if self.results.is_empty() && status != "valued" {
            return RequestOutcome::Failed(format!("the home is not valued, but {status}"));
        }
        let others = self.results.iter().filter(|row| row.status != "valued");
        match others.count() {
            0 => RequestOutcome::Valued,
            count => RequestOutcome::Failed(format!(
                "{count} of {} rows are not valued; name requests of homes that the release values",
                self.results.len()
            )),
        }
    }
}

async fn ask(load: &Load, body: Vec<u8>) -> RequestOutcome {
    let request = load
        .client
        .post(&load.url)
        .bearer_auth(&load.key)
        .header("Content-Type", "application/json")
        .body(body);
    let response = match request.send().await {
        Ok(response) => response,
        Err(error) => return RequestOutcome::Failed(causes(&error)),
    };
    let status = response.status();
    let bytes = match response.bytes().await {
        Ok(bytes) => bytes,
        Err(error) => return RequestOutcome::Failed(causes(&error)),
    };
    match status {
        StatusCode::OK => match serde_json::from_slice::<Outcome>(&bytes) {
            Ok(outcome) => outcome.judge(),
            Err(error) => {
                RequestOutcome::Failed(format!("the response is not as the API has it: {error}"))
            }
        },
        StatusCode::TOO_MANY_REQUESTS => RequestOutcome::Limited,
        other => RequestOutcome::Failed(describe(other, &bytes)),
    }
}

/// Returns the status and the message of an error's body.
pub fn describe(status: StatusCode, body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    let error = &body["error"];
    match (error["code"].as_str(), error["message"].as_str()) {
        (Some(code), Some(message)) => format!("{status}, {code}: {message}"),
        _ => status.to_string(),
    }
}

/// Returns an error with its causes.
pub fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

impl Counts {
    fn new() -> Counts {
        Counts {
            micros: new_histogram(),
            requests_per_second: 0.0,
            limited: 0,
            failed: 0,
            first_failure: None,
        }
    }

    fn add(&mut self, other: Counts) {
        // Both have the same bounds.
        let _ = self.micros.add(&other.micros);
        self.requests_per_second += other.requests_per_second;
        self.limited += other.limited;
        self.failed += other.failed;
        self.first_failure = self.first_failure.take().or(other.first_failure);
    }

    fn fail(&mut self, reason: String) {
        self.failed += 1;
        self.first_failure.get_or_insert(reason);
    }
}

/// Returns an empty histogram of microseconds, with three digits.
fn new_histogram() -> Histogram<u64> {
    match Histogram::new_with_bounds(1, LONGEST, 3) {
        Ok(histogram) => histogram,
        Err(error) => unreachable!("the bounds are constants: {error}"),
    }
}

/// Returns the processor time of this process.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
