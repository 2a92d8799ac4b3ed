//! The figures of a measurement.

use hdrhistogram::Histogram;
use serde::Serialize;
use std::fmt::Write as _;

/// The version of the report's form.
pub const FORMAT: u32 = 1;

/// The report of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchReport {
    /// [`FORMAT`].
    pub format: u32,
    /// The host's address.
    pub url: String,
    /// The release that valued.
    pub release_id: String,
    /// Processors that this machine offers to the load generator.
    pub processors: usize,
    /// The loads, in their order.
    pub loads: Vec<LoadFigures>,
    /// Resident memory of the host at the end, in bytes, where its metrics state it.
    pub resident_bytes: Option<f64>,
}

/// The figures of one load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadFigures {
    /// Homes in each request; 1 is a single value.
    pub rows: usize,
    /// Connections at once.
    pub connections: usize,
    /// Duration by the clock, until the last response.
    pub seconds: f64,
    /// Requests that were answered with values.
    pub requests: u64,
    /// Requests that were refused for the plan's rate or capacity (429).
    pub limited: u64,
    /// Requests that failed in any other way.
    pub failed: u64,
    /// The first failure.
    pub first_failure: Option<String>,
    /// Values a second: the sum of the connections' rates, each until its own last response.
    pub values_per_second: f64,
    /// Times of the answered requests.
    pub latency: Latency,
    /// Processor time of the host a value, in microseconds, where its metrics state it.
    pub host_micros_per_value: Option<f64>,
    /// Processor time of the load generator a value, in microseconds.
    pub client_micros_per_value: f64,
}

/// Times of requests, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    /// Half of the requests took no longer.
    pub p50: f64,
    /// Nine tenths took no longer.
    pub p90: f64,
    /// 99 of 100 took no longer.
    pub p99: f64,
    /// The longest.
    pub max: f64,
    /// Time by share of requests, for a plot: the share below 1, and the time.
    pub quantiles: Vec<(f64, f64)>,
}

/// Shares of requests that a plot shows.
const SHARES: [f64; 12] = [
    0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999,
];

impl Latency {
    /// Returns the times of a histogram of microseconds.
    pub fn of(micros: &Histogram<u64>) -> Latency {
        if micros.is_empty() {
            return Latency::default();
        }
        let at = |share: f64| milliseconds(micros.value_at_quantile(share));
        Latency {
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            max: milliseconds(micros.max()),
            quantiles: SHARES.iter().map(|share| (*share, at(*share))).collect(),
        }
    }
}

fn milliseconds(micros: u64) -> f64 {
    micros as f64 / 1_000.0
}

impl BenchReport {
    /// Returns the report for a person.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{} with {}, {} processors here\n",
            self.url, self.release_id, self.processors
        );
        let _ = writeln!(
            text,
            "{:>5} {:>11} {:>9} {:>9} {:>9} {:>9} {:>9} {:>11} {:>11}",
            "rows",
            "connections",
            "values/s",
            "p50 ms",
            "p90 ms",
            "p99 ms",
            "max ms",
            "host us/val",
            "here us/val"
        );
        for load in &self.loads {
            let host = load.host_micros_per_value;
            let host = host.map_or_else(|| "-".to_owned(), |micros| format!("{micros:.1}"));
            let _ = writeln!(
                text,
                "{:>5} {:>11} {:>9.0} {:>9.2} {:>9.2} {:>9.2} {:>9.2} {host:>11} {:>11.1}",
                load.rows,
                load.connections,
                load.values_per_second,
                load.latency.p50,
                load.latency.p90,
                load.latency.p99,
                load.latency.max,
                load.client_micros_per_value,
            );
        }
        for load in &self.loads {
            for line in load.troubles() {
                let _ = writeln!(text, "{line}");
            }
        }
        if let Some(bytes) = self.resident_bytes {
            let _ = writeln!(
                text,
                "The host keeps {:.0} MiB in memory.",
                bytes / 1_048_576.0
            );
        }
        text
    }

    /// Reports whether any request failed or was refused.
    pub fn has_troubles(&self) -> bool {
        self.loads.iter().any(|load| load.failed + load.limited > 0)
    }
}

impl LoadFigures {
    /// Returns what kept the figures down, as sentences.
    pub fn troubles(&self) -> Vec<String> {
        let subject = format!("{} rows, {} connections", self.rows, self.connections);
        let mut lines = Vec::new();
        if self.limited > 0 {
            lines.push(format!(
                "{subject}: {} of {} requests were refused by the plan's limits; measure with a key \
                 of a larger plan",
                self.limited,
                self.limited + self.requests + self.failed
            ));
        }
        if self.failed > 0 {
            let first = self.first_failure.as_deref().unwrap_or("unknown");
            lines.push(format!(
                "{subject}: {} requests failed; the first: {first}",
                self.failed
            ));
        }
        lines
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a report of two loads.
    pub(crate) fn sample() -> BenchReport {
        let mut micros = Histogram::new(3).unwrap();
        for value in 1..=1_000 {
            micros.record(value * 10).unwrap();
        }
        let load = LoadFigures {
            rows: 1,
            connections: 8,
            seconds: 2.0,
            requests: 1_000,
            limited: 0,
            failed: 0,
            first_failure: None,
            values_per_second: 500.0,
            latency: Latency::of(&micros),
            host_micros_per_value: Some(201.25),
            client_micros_per_value: 40.0,
        };
        BenchReport {
            format: FORMAT,
            url: "http://127.0.0.1:8080".to_owned(),
            release_id: "hedonic-1".to_owned(),
            processors: 2,
            loads: vec![
                load.clone(),
                LoadFigures {
                    rows: 2_500,
                    connections: 1,
                    limited: 3,
                    failed: 1,
                    first_failure: Some("503 unavailable".to_owned()),
                    host_micros_per_value: None,
                    ..load
                },
            ],
            resident_bytes: Some(64.0 * 1_048_576.0),
        }
    }

    #[test]
    fn quantiles_are_in_milliseconds() {
        let latency = &sample().loads[0].latency;
        assert!((latency.p50 - 5.0).abs() < 0.05, "{latency:?}");
        assert!((latency.p99 - 9.9).abs() < 0.05, "{latency:?}");
        assert_eq!(Latency::of(&Histogram::new(3).unwrap()), Latency::default());
    }

    #[test]
    fn what_kept_the_figures_down_is_said() {
        let text = sample().text();
        assert!(text.contains("3 of 1004 requests were refused"), "{text}");
        assert!(
            text.contains("1 requests failed; the first: 503 unavailable"),
            "{text}"
        );
        assert!(text.contains("201.2") && text.contains("64 MiB"), "{text}");
        assert!(sample().has_troubles());
    }
}
