//! Customers at work while something stalls. Each notes how its requests ended.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::raw::HttpResponse;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The deadline of a request, and a second for the machine.
const DEADLINE: Duration = Duration::from_secs(26);
/// The time after which a client leaves that does not wait for the deadline, as most are set.
pub const LEAVES_AFTER: Duration = Duration::from_secs(5);
/// The time between the requests of all connections together.
const THINK: Duration = Duration::from_millis(25);
/// The wait before a refused job is submitted again.
const AGAIN: Duration = Duration::from_millis(200);

/// How the requests of one tenant ended.
#[derive(Default)]
pub struct Outcomes {
    /// Responses of 200 and 202.
    pub answered: u64,
    /// Refusals by their code.
    pub refused: BTreeMap<String, u64>,
    /// Requests whose client left before a response.
    pub left: u64,
    /// The longest request.
    pub longest: Duration,
}

/// The customers, and what they send.
pub struct Load<'a> {
    /// The client of the tenant that pays.
    pub client: Client,
    /// True if the client leaves after [`LEAVES_AFTER`].
    pub leaves: bool,
    /// How many send requests at once.
    pub connections: usize,
    /// The path and the bodies that they take turns with.
    pub requests: (&'a str, &'a [Value]),
    /// The code of the documented refusals.
    pub refusal: &'a str,
    /// How the requests ended.
    pub outcomes: Mutex<Outcomes>,
}

impl Load<'_> {
    /// Sends requests on one connection until it is over.
    pub fn send(&self, number: usize, over: &AtomicBool) {
        let think = THINK * u32::try_from(self.connections).unwrap();
        let (path, bodies) = self.requests;
        for body in bodies.iter().cycle().skip(number).step_by(self.connections) {
            if over.load(Ordering::Relaxed) {
                return;
            }
            self.note(|client| client.try_post(path, &body.to_string()));
            std::thread::sleep(think);
        }
    }

    /// Submits jobs of a row and reads them until it is over, each until it is accepted. The first
    /// has this number, and every second has an idempotency key. Returns how many there are.
    pub fn submit(&self, first: u64, over: &AtomicBool) -> u64 {
        let mut jobs = 0;
        while !over.load(Ordering::Relaxed) {
            let number = first + jobs;
            let body = match number % 2 {
                0 => json!({"idempotency_key": format!("job-{number}"), "requests": [house()]}),
                _ => json!({"requests": [house()]}),
            };
            let accepted = loop {
                let answer =
                    self.note(|client| client.try_post("/v3/valuation-jobs", &body.to_string()));
                match answer {
                    Some(answer) if answer.status == 202 => break answer.json(),
                    _ => {}
                }
                std::thread::sleep(AGAIN);
            };
            jobs += 1;
            let job = format!(
                "/v3/valuation-jobs/{}",
                accepted["job_id"].as_str().unwrap()
            );
            self.note(|client| client.try_get(&job));
            std::thread::sleep(AGAIN);
        }
        jobs
    }

    /// Sends a request, and asserts that it ended in time, well or with the documented error.
    /// Returns nothing where the client left.
    fn note(
        &self,
        send: impl FnOnce(&Client) -> Result<HttpResponse, reqwest::Error>,
    ) -> Option<HttpResponse> {
        let began = Instant::now();
        let answer = send(&self.client);
        let took = began.elapsed();
        assert!(took < DEADLINE, "{took:?}: {answer:?}");
        let mut outcomes = self.outcomes.lock().unwrap();
        outcomes.longest = outcomes.longest.max(took);
        let answer = match answer {
            Err(error) if self.leaves && error.is_timeout() => {
                outcomes.left += 1;
                return None;
            }
            answer => answer.unwrap(),
        };
        if matches!(answer.status, 200 | 202) {
            outcomes.answered += 1;
            return Some(answer);
        }
        let (status, code, _) = answer.refusal();
        assert_eq!((status, &*code), (503, self.refusal), "{answer:?}");
        assert_eq!(answer.json()["error"]["retryable"], true, "{answer:?}");
        assert!(answer.header("retry-after").is_some(), "{answer:?}");
        *outcomes.refused.entry(code).or_default() += 1;
        Some(answer)
    }
}
