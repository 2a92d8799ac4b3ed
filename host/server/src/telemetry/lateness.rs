//! How late the asynchronous threads run what is due: a call that blocks one of them shows here.

use prometheus_client::metrics::histogram::Histogram;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// How often it is measured.
const EVERY: Duration = Duration::from_millis(100);

/// Measures it again and again, in seconds.
pub async fn watch(late: Histogram) {
    loop {
        let due = Instant::now() + EVERY;
        sleep(EVERY).await;
        late.observe(due.elapsed().as_secs_f64());
    }
}
