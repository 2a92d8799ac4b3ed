//! The scheduling delay of the asynchronous threads. A blocking call on one of them shows here.

use prometheus_client::metrics::histogram::Histogram;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The interval of measurements.
const EVERY: Duration = Duration::from_millis(100);

/// Measures the delay, in seconds, until the task is dropped.
pub async fn watch(late: Histogram) {
    loop {
        let due = Instant::now() + EVERY;
        sleep(EVERY).await;
        late.observe(due.elapsed().as_secs_f64());
    }
}
