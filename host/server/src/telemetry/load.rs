//! Counts of responses by class of status and by latency, which can be read back.
//!
//! Buckets of latency grow by a tenth, so that a quantile is at most a tenth too high.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The classes of status: 2xx, 3xx, 4xx and 5xx.
pub const CLASSES: usize = 4;
/// The upper bound of the first bucket, seconds.
const FIRST: f64 = 0.000_1;
/// The upper bound of a bucket over that of the one before it.
const GROWTH: f64 = 1.1;
/// Number of buckets: the last one begins at 60 seconds.
const BUCKETS: usize = 142;

/// Counters since the start. Recording takes no lock.
pub struct LoadCounters {
    classes: [AtomicU64; CLASSES],
    latencies: [AtomicU64; BUCKETS],
}

impl Default for LoadCounters {
    fn default() -> Self {
        LoadCounters {
            classes: [const { AtomicU64::new(0) }; CLASSES],
            latencies: [const { AtomicU64::new(0) }; BUCKETS],
        }
    }
}

/// The counts at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadCounts {
    /// Responses by class of status.
    pub classes: [u64; CLASSES],
    latencies: Vec<u64>,
}

impl LoadCounters {
    /// Counts a response.
    pub fn record(&self, status: u16, took: Duration) {
        let class = usize::from(status / 100).clamp(2, 5) - 2;
        self.classes[class].fetch_add(1, Ordering::Relaxed);
        self.latencies[bucket(took.as_secs_f64())].fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> LoadCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LoadCounts {
            classes: std::array::from_fn(|class| read(&self.classes[class])),
            latencies: self.latencies.iter().map(read).collect(),
        }
    }
}

impl LoadCounts {
    /// Returns the counts since an earlier time.
    pub fn since(&self, earlier: &LoadCounts) -> LoadCounts {
        let pairs = self.latencies.iter().zip(&earlier.latencies);
        LoadCounts {
            classes: std::array::from_fn(|class| {
                self.classes[class].saturating_sub(earlier.classes[class])
            }),
            latencies: pairs.map(|(now, then)| now.saturating_sub(*then)).collect(),
        }
    }

    /// Returns the latency in seconds that this share of the responses, above 0, does not exceed.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let all: u64 = self.latencies.iter().sum();
        if all == 0 {
            return None;
        }
        // Counts of ten seconds are far below 2^52.
        #[allow(clippy::cast_precision_loss)]
        let least = share * all as f64;
        let mut seen = 0;
        let found = self.latencies.iter().position(|count| {
            seen += count;
            #[allow(clippy::cast_precision_loss)]
            let reached = seen as f64 >= least && seen > 0;
            reached
        });
        found.map(upper_bound)
    }
}

/// Returns the bucket of a latency.
fn bucket(seconds: f64) -> usize {
    if seconds <= FIRST {
        return 0;
    }
    let place = ((seconds / FIRST).ln() / GROWTH.ln()).ceil();
    // A place is small and positive here.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let place = place as usize;
    place.min(BUCKETS - 1)
}

/// Returns the upper bound of a bucket.
fn upper_bound(bucket: usize) -> f64 {
    let power = i32::try_from(bucket).unwrap_or(i32::MAX);
    FIRST * GROWTH.powi(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_time_are_those_of_its_responses() {
        let counters = LoadCounters::default();
        let millis = Duration::from_millis;
        counters.record(500, millis(30_000));
        let before = counters.counts();
        assert_eq!(before.since(&before).quantile(0.5), None);
        for _ in 0..98 {
            counters.record(200, millis(2));
        }
        counters.record(404, millis(50));
        counters.record(503, millis(400));
        let since = counters.counts().since(&before);
        assert_eq!(since.classes, [98, 0, 1, 1]);
        for (share, expected) in [(0.5, 0.002), (0.99, 0.05), (1.0, 0.4)] {
            let found = since.quantile(share).unwrap();
            assert!(
                (expected..=1.1 * expected).contains(&found),
                "{share}: {found}"
            );
        }
    }

    #[test]
    fn any_latency_has_a_bucket() {
        for seconds in [0.0, 1e-9, 0.000_1, 0.5, 60.0, 1e9] {
            assert!(bucket(seconds) < BUCKETS, "{seconds}");
        }
        assert!(upper_bound(BUCKETS - 2) > 60.0);
    }
}
