//! Work of a page that blocks its thread: the disk, the state and drawings.

use super::error::ConsoleError;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// Time limit of the disk, of the state and of a drawing.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Runs work on the disk or the state, or a drawing, for ten seconds at most.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ConsoleError> {
    blocking_within(TIMEOUT, "the disk or the state", work).await
}

/// Runs work that blocks for a bounded time. The error names its source. Late work goes on, but
/// its result is dropped.
pub(super) async fn blocking_within<T: Send + 'static>(
    limit: Duration,
    source: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ConsoleError> {
    let done = timeout(limit, spawn_blocking(work)).await;
    let seconds = limit.as_secs();
    let late = |_| ConsoleError::State(format!("{source} did not answer within {seconds} seconds"));
    done.map_err(late)?.map_err(|_| ConsoleError::Response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn late_work_is_an_error_that_names_its_source() {
        let (release, wait) = std::sync::mpsc::channel::<()>();
        let work = move || wait.recv().is_err();
        let late = blocking_within(Duration::from_millis(10), "the map", work).await;
        let error = late.unwrap_err().to_string();
        assert!(
            error.ends_with("the map did not answer within 0 seconds"),
            "{error}"
        );
        // Ends the work, which the runtime waits for.
        drop(release);
        let done = blocking_within(TIMEOUT, "the map", || 7).await;
        assert_eq!(done.unwrap(), 7);
    }
}
