//! Asynchronous jobs: the submission, the document and the results.

mod digest;
mod document;
mod request;
mod results;

pub(super) use request::{KEY_PATTERN, SHAPE};

pub use document::{JobDocument, JobFailure, JobStatus, Mode};
pub use request::{IDEMPOTENCY_KEY_LONGEST, IdempotencyKey, JobRequest};
pub use results::{RESULTS_END, failed_results, results_start};

/// The route of submissions; a job's own routes lie below it.
pub const PATH: &str = "/v3/valuation-jobs";
/// Seconds that a client should wait before it asks for results again.
pub const POLL_SECONDS: u32 = 5;
