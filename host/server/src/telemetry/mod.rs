//! Metrics and traces for operators. Log lines are in `logging.rs`.

mod address_lookup;
pub mod connections;
pub mod job_objects;
pub mod jobs;
pub mod lateness;
pub mod load;
pub mod metrics;
pub mod process;
pub mod promotions;
pub mod releases;
pub mod request_log;
pub mod request_span;
pub mod sampled;
pub mod shadow;
pub mod state;
pub mod tenants;
#[cfg(feature = "otlp")]
pub mod traces;
#[cfg(not(feature = "otlp"))]
#[path = "without_traces.rs"]
pub mod traces;
