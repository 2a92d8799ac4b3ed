//! Removes entries of used units that are past their time.

use crate::service::Service;
use domesday_state::{Month, first_month_kept};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Interval between two removals.
const INTERVAL: Duration = Duration::from_secs(3_600);
/// The pause after each part of a removal, in times of the part. Charges wait for its commit.
const PAUSE: u32 = 4;

/// Removes the entries of the months before the last `months`, now and every hour. The counts of
/// units stay, and so do the entries of the latest months that hold any.
pub async fn run(service: Arc<Service>, months: u32) {
    let mut hours = tokio::time::interval(INTERVAL);
    loop {
        hours.tick().await;
        let now = service.state.job_time(service.clock.now());
        let kept = usize::try_from(months)
            .unwrap_or(usize::MAX)
            .saturating_add(1);
        let before = match service.state.usage_months(kept).await {
            Ok(latest) => first_month_kept(Month::of(now), months, &latest),
            Err(error) => {
                tracing::error!(%error, "entries of used units were not removed");
                continue;
            }
        };
        let Some(before) = before else {
            continue;
        };
        let mut rows = 0;
        let removed = loop {
            let began = Instant::now();
            match service.state.remove_usage_entries(before).await {
                Ok(removed) => {
                    rows += removed.rows;
                    if !removed.more {
                        break Ok(());
                    }
                }
                Err(error) => break Err(error),
            }
            tokio::time::sleep(began.elapsed() * PAUSE).await;
        };
        if rows > 0 {
            tracing::info!(rows, %before, "entries of used units removed");
        }
        if let Err(error) = removed {
            tracing::error!(%error, "entries of used units were not removed");
        }
    }
}
