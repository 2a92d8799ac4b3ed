//! Structured log lines on standard error: JSON, one an event.

use crate::telemetry::traces::Traces;
use std::io::{BufWriter, Write};
use std::time::Duration;
use tracing::Dispatch;
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::{FilterExt, LevelFilter, ParseError, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

/// The queue of log lines. Dropping it writes the rest.
pub struct Logging {
    /// The count of lost lines.
    pub lines: LogLines,
    _guard: WorkerGuard,
}

/// Counts the lines that were lost because nobody read them in time.
#[derive(Clone)]
pub struct LogLines(ErrorCounter);

impl LogLines {
    /// Returns the number of lines lost since the start.
    pub fn dropped_lines(&self) -> usize {
        self.0.dropped_lines()
    }
}

/// Time for which lines are gathered after some were written.
const GATHERED: Duration = Duration::from_millis(5);

/// Batches lines and flushes them every 5 ms. A system call and a wake-up for each line would cost
/// a twentieth of a request.
struct BatchWriter<W: Write>(BufWriter<W>);

impl<W: Write> BatchWriter<W> {
    /// Wraps a writer in a buffer of 4 KiB. A pipe takes that much in one piece, so processes that
    /// share one do not tear each other's lines.
    fn new(inner: W) -> BatchWriter<W> {
        BatchWriter(BufWriter::with_capacity(4_096, inner))
    }
}

impl<W: Write> Write for BatchWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    /// Writes the buffer out, then pauses. The logging thread calls this when no line is waiting.
    fn flush(&mut self) -> std::io::Result<()> {
        // Nobody reads the log after its reader has gone, and an error would keep the thread from
        // its end.
        let _ = self.0.flush();
        std::thread::sleep(GATHERED);
        Ok(())
    }
}

/// The log filter cannot be parsed.
#[derive(Debug, thiserror::Error)]
#[error("invalid --log filter {filter:?}")]
pub struct FilterError {
    /// The filter.
    filter: String,
    /// The reason.
    source: ParseError,
}

/// Starts the log, and sends spans to the collector of `traces`. `filter` is a level, or a list of
/// targets with levels. Spans have no part in log lines.
///
/// # Errors
/// [`FilterError`] if the filter is malformed.
pub fn start(filter: &str, traces: Option<&Traces>) -> Result<Logging, FilterError> {
    let filter = EnvFilter::builder()
        .parse(filter)
        .map_err(|source| FilterError {
            filter: filter.to_owned(),
            source,
        })?;
    // Better a late answer's log line lost than the answer late, but only after this many.
    let (lines, guard) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(65_536)
        .finish(BatchWriter::new(std::io::stderr()));
    let counter = lines.error_counter();
    let events = filter_fn(|metadata| metadata.is_event()).with_max_level_hint(LevelFilter::TRACE);
    let log = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_target(false)
        .with_writer(lines)
        .with_filter(filter.and(events));
    dispatch(log, traces).init();
    Ok(Logging {
        lines: LogLines(counter),
        _guard: guard,
    })
}

/// Joins the log with the layer of traces, where there is one. An absent layer would refuse no
/// span, and each row would make half a dozen that nobody reads.
fn dispatch(log: impl Layer<Registry> + Send + Sync, traces: Option<&Traces>) -> Dispatch {
    let registry = tracing_subscriber::registry().with(log);
    match traces {
        Some(traces) => registry.with(traces.layer()).into(),
        None => registry.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_valuation::spans::SPANS;
    use std::sync::{Arc, Mutex};

    /// Notes each write. Refuses it after the close.
    #[derive(Clone, Default)]
    struct Notes(Arc<Mutex<Vec<Vec<u8>>>>, bool);

    impl Write for Notes {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if self.1 {
                return Err(std::io::ErrorKind::BrokenPipe.into());
            }
            self.0.lock().unwrap().push(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn without_a_collector_a_span_is_disabled() {
        let events = filter_fn(|metadata| metadata.is_event());
        let log = tracing_subscriber::fmt::layer().with_writer(std::io::sink);
        let dispatch = dispatch(log.with_filter(events), None);
        tracing::dispatcher::with_default(&dispatch, || {
            assert!(tracing::info_span!(target: SPANS, "guest").is_disabled());
            assert!(tracing::event_enabled!(tracing::Level::INFO));
        });
    }

    #[test]
    fn lines_that_came_together_leave_together() {
        let notes = Notes::default();
        let mut lines = BatchWriter::new(notes.clone());
        for line in ["one\n", "two\n", "three\n"] {
            lines.write_all(line.as_bytes()).unwrap();
        }
        assert!(notes.0.lock().unwrap().is_empty());
        lines.flush().unwrap();
        assert_eq!(*notes.0.lock().unwrap(), [b"one\ntwo\nthree\n".to_vec()]);
        lines.write_all(&[b'x'; 10_000]).unwrap();
        assert!(
            notes.0.lock().unwrap().len() >= 2,
            "a long line does not wait"
        );
    }

    #[test]
    fn a_reader_that_is_gone_does_not_stop_the_thread() {
        let mut lines = BatchWriter::new(Notes(Arc::default(), true));
        lines.write_all(b"one\n").unwrap();
        lines.flush().unwrap();
    }
}
