//! What operators watch a service by: metrics, and traces. Log lines are in `logging.rs`.

mod identity;
pub mod metrics;
pub mod page;
pub mod shadow;
pub mod traces;
