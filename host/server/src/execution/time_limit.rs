//! The end of the steps of a request that run outside its rows: its parse and its receipts.

use domesday_valuation::pipeline::deadline::Deadline;
use std::future::Future;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Time after the deadline for such a step. Rows that are done at the deadline still need their
/// receipts.
const GRACE: Duration = Duration::from_millis(500);

/// The deadline of a request passed before a step of it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the deadline passed")]
pub struct DeadlinePassed(pub Deadline);

/// Runs a step until shortly after the deadline of its request, and then drops it.
///
/// # Errors
/// [`DeadlinePassed`] if the step has not ended by then.
pub async fn in_time<T>(
    deadline: Deadline,
    step: impl Future<Output = T>,
) -> Result<T, DeadlinePassed> {
    let end = Instant::from_std(deadline.end()) + GRACE;
    let ended = timeout_at(end, step).await;
    ended.map_err(|_| DeadlinePassed(deadline))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;

    #[tokio::test]
    async fn a_step_ends_half_a_second_after_the_deadline() {
        let begun = Instant::now();
        let deadline = Deadline::after(Duration::from_millis(200));
        let late = in_time(deadline, pending::<()>()).await;
        assert_eq!(late, Err(DeadlinePassed(deadline)));
        let took = begun.elapsed().as_millis();
        assert!((700..1_500).contains(&took), "{took} ms");
    }

    #[tokio::test]
    async fn a_step_that_is_done_soon_after_the_deadline_counts() {
        let step = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            7
        };
        assert_eq!(in_time(Deadline::after(Duration::ZERO), step).await, Ok(7));
    }
}
