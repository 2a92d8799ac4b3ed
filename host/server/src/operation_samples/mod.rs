//! Samples of the load and the limits of the service, for the console's page of operation.
//!
//! A task takes one every ten seconds while the console is on. Those of the last six hours are in
//! memory. A restart forgets them.

mod degradation;

pub use degradation::{Degradation, DegradationKind};

use crate::service::Service;
use crate::telemetry::load::{CLASSES, LoadCounts};
use domesday_state::UnixMillis;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::{MissedTickBehavior, interval, timeout};

/// The time between two samples.
pub const PERIOD: Duration = Duration::from_secs(10);
/// Samples in memory: those of six hours.
pub const MOST: usize = 6 * 360;
/// Time limit of the state, which counts the jobs.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The service at one time.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The time.
    pub at: UnixMillis,
    /// The responses since the sample before. The first sample has none.
    pub responses: Option<Responses>,
    /// Workers that run a task: the most since the sample before.
    pub workers_busy: usize,
    /// Tasks that wait for a worker: the most since the sample before.
    pub queue: usize,
    /// The jobs; `None` where the state did not answer.
    pub jobs: Option<WaitingJobs>,
    /// Bytes reserved for bodies and responses: the most since the sample before.
    pub memory_reserved: usize,
    /// Requests refused for want of that memory since the sample before.
    pub memory_refusals: u64,
    /// The kinds of degradation.
    pub degraded: BTreeSet<DegradationKind>,
}

/// The responses between two samples.
#[derive(Clone, Debug)]
pub struct Responses {
    /// Responses a second by class of status, 2xx to 5xx.
    pub rates: [f64; CLASSES],
    /// The median latency in seconds, where there was a response.
    pub p50: Option<f64>,
    /// The latency in seconds that one in a hundred responses exceeded.
    pub p99: Option<f64>,
    /// Responses of the class 5xx.
    pub failed: u64,
}

/// The jobs that are queued or running, over all hosts.
#[derive(Clone, Copy, Debug)]
pub struct WaitingJobs {
    /// Their number.
    pub count: u64,
    /// The age of the oldest in seconds; 0 without any.
    pub oldest_seconds: f64,
}

/// The samples in memory.
#[derive(Default)]
pub struct OperationSamples {
    history: Mutex<History>,
}

/// The load of the service, at a time or the highest of a period.
struct Load {
    /// Tasks that wait for a worker or run.
    tasks: usize,
    /// Bytes reserved for bodies and responses.
    memory: usize,
}

/// The counts of the service at one time.
struct TimedCounts {
    responses: LoadCounts,
    /// Requests refused since the start for want of memory.
    memory_refusals: u64,
    at: Instant,
}

#[derive(Default)]
struct History {
    samples: VecDeque<Sample>,
    /// The counts at the last sample.
    counted: Option<TimedCounts>,
    /// The time at which each present degradation was first seen.
    since: BTreeMap<DegradationKind, UnixMillis>,
}

impl OperationSamples {
    /// Takes a sample every ten seconds, until the task is dropped.
    pub async fn watch(self: Arc<Self>, service: Arc<Service>) {
        let mut ticks = interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let counted = TimedCounts::of(&service);
            // Peaks between two samples are what an operator looks for.
            let load = Load {
                tasks: service.workers.take_peak(),
                memory: service.memory.take_peak_bytes(),
            };
            let (sample, _) = self.take(&service, &counted, load).await;
            self.history().keep(sample, counted);
        }
    }

    /// Returns a sample of the service now, and its degraded parts. Keeps nothing.
    pub async fn observe(&self, service: &Service) -> (Sample, Vec<Degradation>) {
        let counted = TimedCounts::of(service);
        let load = Load {
            tasks: service.workers.in_use(),
            memory: service.memory.reserved_bytes(),
        };
        self.take(service, &counted, load).await
    }

    async fn take(
        &self,
        service: &Service,
        counted: &TimedCounts,
        load: Load,
    ) -> (Sample, Vec<Degradation>) {
        let state = &service.state;
        let jobs = timeout(TIMEOUT, async {
            Some((
                state.waiting().await.ok()?,
                state.oldest_waiting().await.ok()?,
            ))
        });
        let jobs = jobs.await.ok().flatten();
        let at = service.clock.now();
        let responses = self.history().responses(counted);
        let memory_refusals = self.history().memory_refusals(counted);
        let workers_busy = load.tasks.min(service.workers.threads());
        let mut sample = Sample {
            at,
            responses,
            workers_busy,
            queue: load.tasks - workers_busy,
            jobs: jobs.map(|(count, oldest)| WaitingJobs {
                count,
                oldest_seconds: oldest.map_or(0.0, |since| seconds_between(since, at)),
            }),
            memory_reserved: load.memory,
            memory_refusals,
            degraded: BTreeSet::new(),
        };
        let degradations = degradation::find(service, &sample);
        sample.degraded = degradations.iter().map(|found| found.kind).collect();
        (sample, degradations)
    }

    /// Returns the samples from a time on, the oldest first.
    pub fn since(&self, from: UnixMillis) -> Vec<Sample> {
        let history = self.history();
        let samples = history.samples.iter();
        samples
            .filter(|sample| sample.at >= from)
            .cloned()
            .collect()
    }

    /// Returns the time of the oldest sample.
    pub fn oldest(&self) -> Option<UnixMillis> {
        self.history().samples.front().map(|sample| sample.at)
    }

    /// Returns the time at which a present degradation was first seen by a sample.
    pub fn degraded_since(&self, kind: DegradationKind) -> Option<UnixMillis> {
        self.history().since.get(&kind).copied()
    }

    fn history(&self) -> MutexGuard<'_, History> {
        // Every change is whole before anything can panic.
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TimedCounts {
    /// Reads the counts now.
    fn of(service: &Service) -> TimedCounts {
        TimedCounts {
            responses: service.metrics.load.counts(),
            memory_refusals: service.memory.refusals(),
            at: Instant::now(),
        }
    }
}

impl History {
    /// Adds a sample, and forgets those of more than six hours ago.
    fn keep(&mut self, sample: Sample, counted: TimedCounts) {
        self.since.retain(|kind, _| sample.degraded.contains(kind));
        for kind in &sample.degraded {
            self.since.entry(*kind).or_insert(sample.at);
        }
        self.counted = Some(counted);
        while self.samples.len() >= MOST {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
    }

    /// Returns the responses since the last sample.
    fn responses(&self, counted: &TimedCounts) -> Option<Responses> {
        let earlier = self.counted.as_ref()?;
        let since = counted.responses.since(&earlier.responses);
        // A page may look right after a sample. Over less time its rate would exceed that of the
        // sample to come.
        let time = counted.at.duration_since(earlier.at);
        let seconds = time.max(PERIOD).as_secs_f64();
        Some(Responses {
            // Counts of ten seconds are far below 2^52.
            #[allow(clippy::cast_precision_loss)]
            rates: since.classes.map(|count| count as f64 / seconds),
            p50: since.quantile(0.5),
            p99: since.quantile(0.99),
            failed: since.classes[CLASSES - 1],
        })
    }

    /// Returns the requests refused for want of memory since the last sample, or since the start.
    fn memory_refusals(&self, counted: &TimedCounts) -> u64 {
        let earlier = self.counted.as_ref();
        let earlier = earlier.map_or(0, |earlier| earlier.memory_refusals);
        counted.memory_refusals.saturating_sub(earlier)
    }
}

#[allow(clippy::cast_precision_loss)]
fn seconds_between(earlier: UnixMillis, later: UnixMillis) -> f64 {
    (later.0.saturating_sub(earlier.0)).max(0) as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::load::LoadCounters;

    fn sample(at: i64, degraded: &[DegradationKind]) -> Sample {
        Sample {
            at: UnixMillis(at),
            responses: None,
            workers_busy: 0,
            queue: 0,
            jobs: None,
            memory_reserved: 0,
            memory_refusals: 0,
            degraded: degraded.iter().copied().collect(),
        }
    }

    fn counts(memory_refusals: u64) -> TimedCounts {
        TimedCounts {
            responses: LoadCounters::default().counts(),
            memory_refusals,
            at: Instant::now(),
        }
    }

    fn keep(samples: &OperationSamples, sample: Sample) {
        samples.history().keep(sample, counts(0));
    }

    #[test]
    fn six_hours_of_samples_are_kept() {
        let samples = OperationSamples::default();
        for at in 0..3_000 {
            keep(&samples, sample(at, &[]));
        }
        assert_eq!(samples.oldest(), Some(UnixMillis(3_000 - 2_160)));
        assert_eq!(samples.since(UnixMillis(2_990)).len(), 10);
    }

    #[test]
    fn a_refusal_for_want_of_memory_is_of_one_sample() {
        let samples = OperationSamples::default();
        for (total, since) in [(2, 2), (2, 0), (5, 3), (5, 0)] {
            let counted = counts(total);
            assert_eq!(samples.history().memory_refusals(&counted), since);
            samples.history().keep(sample(0, &[]), counted);
        }
    }

    #[test]
    fn a_degradation_lasts_from_its_first_sample_to_its_end() {
        let samples = OperationSamples::default();
        let (state, memory) = (DegradationKind::State, DegradationKind::Memory);
        for (at, degraded, since) in [
            (1, &[][..], None),
            (2, &[state], Some(2)),
            (3, &[state, memory], Some(2)),
            (4, &[memory], None),
            (5, &[state], Some(5)),
        ] {
            keep(&samples, sample(at, degraded));
            assert_eq!(samples.degraded_since(state), since.map(UnixMillis), "{at}");
        }
    }
}
