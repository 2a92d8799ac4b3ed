//! Structured log lines on standard error: JSON, one an event.

use anyhow::Context;
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;

/// The lines that are waiting to be written; what is still queued is written when this is dropped.
pub struct Logging {
    /// What was lost.
    pub lines: LogLines,
    _guard: WorkerGuard,
}

/// Counts the lines that were lost because nobody read them in time.
#[derive(Clone)]
pub struct LogLines(ErrorCounter);

impl LogLines {
    /// How many since the start.
    pub fn dropped(&self) -> usize {
        self.0.dropped_lines()
    }
}

/// Starts logging what `filter` lets through: a level, or a list of targets with levels.
///
/// # Errors
/// Where the filter is not written as one.
pub fn start(filter: &str) -> anyhow::Result<Logging> {
    let filter = EnvFilter::builder()
        .parse(filter)
        .with_context(|| format!("the log filter {filter:?}"))?;
    // Better a late answer's log line lost than the answer late, but only after this many.
    let (lines, guard) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(65_536)
        .finish(std::io::stderr());
    let counter = lines.error_counter();
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_target(false)
        .with_env_filter(filter)
        .with_writer(lines)
        .init();
    Ok(Logging {
        lines: LogLines(counter),
        _guard: guard,
    })
}
