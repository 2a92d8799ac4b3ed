//! The probes while something stalls.

use crate::common::client::Client;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The time between two requests of a probe.
const PERIOD: Duration = Duration::from_millis(20);
/// The length of a round of `/healthz`.
const ROUND: Duration = Duration::from_secs(1);

/// The changes of readiness, from the first look on.
pub struct Readiness(Vec<(Instant, bool)>);

impl Readiness {
    /// Watches `/readyz` until it is over.
    pub fn watch(client: &Client, over: &AtomicBool) -> Readiness {
        let mut changes: Vec<(Instant, bool)> = Vec::new();
        while !over.load(Ordering::Relaxed) {
            let ready = client.get("/readyz").status == 200;
            if changes.last().is_none_or(|(_, before)| *before != ready) {
                changes.push((Instant::now(), ready));
            }
            std::thread::sleep(PERIOD);
        }
        Readiness(changes)
    }

    /// Returns the time from `since` to the first change after it to this state.
    pub fn turned(&self, to: bool, since: Instant) -> Option<Duration> {
        let later = self
            .0
            .iter()
            .find(|(at, ready)| *ready == to && *at >= since);
        later.map(|(at, _)| at.duration_since(since))
    }

    /// Reports whether it never changed.
    pub fn is_steady(&self) -> bool {
        self.0.len() == 1
    }

    /// Returns the state at the end.
    pub fn is_ready(&self) -> bool {
        self.0.last().is_some_and(|(_, ready)| *ready)
    }
}

/// The latencies of `/healthz`, in rounds of a second.
pub struct Health(Vec<Vec<Duration>>);

impl Health {
    /// Watches `/healthz` until it is over.
    pub fn watch(client: &Client, over: &AtomicBool) -> Health {
        let mut rounds = Vec::new();
        while !over.load(Ordering::Relaxed) {
            let (began, mut round) = (Instant::now(), Vec::new());
            while began.elapsed() < ROUND {
                let sent = Instant::now();
                assert_eq!(client.get("/healthz").status, 200);
                round.push(sent.elapsed());
                std::thread::sleep(PERIOD);
            }
            round.sort();
            rounds.push(round);
        }
        Health(rounds)
    }

    /// Returns the p99 of the quieter half of the rounds, and the longest response of all.
    pub fn p99_and_longest(&self) -> (Duration, Duration) {
        let p99 = |round: &Vec<Duration>| round[round.len() * 99 / 100];
        let mut rounds: Vec<Duration> = self.0.iter().map(p99).collect();
        rounds.sort();
        let longest = self.0.iter().filter_map(|round| round.last()).max();
        (rounds[rounds.len() / 2], *longest.unwrap())
    }
}
