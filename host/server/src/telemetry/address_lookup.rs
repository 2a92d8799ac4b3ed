//! Metrics of the address provider.

use domesday_address_lookup::{LookupObserver, State};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::time::Duration;

/// Upper bounds of a request's duration in seconds, from a fast local answer to the timeout.
const SECONDS: [f64; 10] = [0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 3.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BreakerLabels {
    state: &'static str,
}

/// The outcome of a lookup without an answer.
const UNAVAILABLE: &str = "unavailable";

/// Counters. Clones share them.
#[derive(Clone)]
pub struct AddressLookupMetrics {
    requests: Family<Outcome, Counter>,
    seconds: Histogram,
    retries: Counter,
    postcodes: Family<Outcome, Counter>,
    breaker: Family<BreakerLabels, Gauge>,
}

impl AddressLookupMetrics {
    pub(super) fn register(registry: &mut Registry) -> AddressLookupMetrics {
        let metrics = AddressLookupMetrics {
            requests: Family::default(),
            seconds: Histogram::new(SECONDS),
            retries: Counter::default(),
            postcodes: Family::default(),
            breaker: Family::default(),
        };
        registry.register(
            "address_lookup_requests",
            "Requests to the address provider by outcome",
            metrics.requests.clone(),
        );
        registry.register_with_unit(
            "address_lookup_request",
            "Duration of requests to the address provider",
            Unit::Seconds,
            metrics.seconds.clone(),
        );
        registry.register(
            "address_lookup_retries",
            "Retried requests to the address provider",
            metrics.retries.clone(),
        );
        registry.register(
            "address_lookup_postcodes",
            "Postcode lookups by outcome",
            metrics.postcodes.clone(),
        );
        registry.register(
            "address_lookup_breaker",
            "1 for the current state of the address provider's circuit breaker",
            metrics.breaker.clone(),
        );
        // An alert asks for its increase, and a series that begins with the first failures has
        // none.
        let unavailable = Outcome {
            outcome: UNAVAILABLE,
        };
        drop(metrics.postcodes.get_or_create(&unavailable));
        metrics
    }
}

impl LookupObserver for AddressLookupMetrics {
    fn request_finished(&self, outcome: &'static str, took: Duration) {
        self.requests.get_or_create(&Outcome { outcome }).inc();
        self.seconds.observe(took.as_secs_f64());
    }

    fn request_retried(&self) {
        self.retries.inc();
    }

    fn lookup_finished(&self, result: &'static str) {
        self.postcodes
            .get_or_create(&Outcome { outcome: result })
            .inc();
    }

    fn breaker_changed(&self, now: State) {
        for (of, state) in [
            (State::Closed, "closed"),
            (State::Open, "open"),
            (State::HalfOpen, "half_open"),
        ] {
            let gauge = self.breaker.get_or_create(&BreakerLabels { state });
            gauge.set((of == now).into());
        }
    }
}
