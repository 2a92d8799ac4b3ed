//! Structured log lines on standard error: JSON, one an event.

use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;

/// Starts logging. What is still queued is written when the guard is dropped. `RUST_LOG` chooses
/// what is logged; the default is `info`.
pub fn start() -> WorkerGuard {
    // Better a late answer's log line lost than the answer late, but only after this many.
    let (lines, guard) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(65_536)
        .finish(std::io::stderr());
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_target(false)
        .with_env_filter(filter)
        .with_writer(lines)
        .init();
    guard
}
