//! Promotions that came from elsewhere: another host, or a command before the last start.

use crate::service::Service;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::MissedTickBehavior;

/// How often it is looked whether another release was promoted.
const PERIOD: Duration = Duration::from_secs(1);

/// Makes each release that is promoted from now on the current one. `known` is what was promoted when
/// this host chose its first, which a flag may have overruled.
pub async fn follow(service: Arc<Service>, mut known: Option<String>) {
    let mut ticks = tokio::time::interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut refused = None;
    loop {
        ticks.tick().await;
        let promoted = service.state.promoted();
        let Some(id) = promoted.clone().filter(|_| promoted != known) else {
            continue;
        };
        let opening = service.clone();
        let wanted = id.clone();
        let done = tokio::task::spawn_blocking(move || opening.releases.promote(&wanted)).await;
        match done {
            Ok(Ok(())) => {
                tracing::info!(release_id = id, "release promoted");
                known = promoted;
            }
            // Its package may still be on its way here, so that it is tried again; said once.
            Ok(Err(error)) if refused != promoted => {
                tracing::error!(%error, release_id = id, "the promoted release cannot be served");
                refused = promoted;
            }
            Ok(Err(_)) | Err(_) => {}
        }
    }
}
