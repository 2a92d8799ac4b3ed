//! Looks up the addresses of a chunk's rows, and waits before a retry.

use super::chunk::Chunk;
use crate::service::Service;
use domesday_valuation::pipeline::address_lookup::AddressLookups;
use domesday_valuation::pipeline::row::RequestContext;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The wait before refundable rows run again.
const RETRY_WAIT: Duration = Duration::from_millis(200);
/// The longest wait that a provider can ask for. The job may wait, but its lease and the
/// jobs behind it may not.
const RETRY_WAIT_MAX: Duration = Duration::from_secs(10);

/// Looks up the postcodes of the round's rows that the snapshot does not resolve. Returns none
/// where the service stops meanwhile.
pub async fn look_up(
    service: &Service,
    mut stop: watch::Receiver<bool>,
    chunk: Chunk,
    context: &Arc<RequestContext>,
) -> Option<(Chunk, Arc<AddressLookups>)> {
    let Some(provider) = &service.address_provider else {
        return Some((chunk, Arc::new(AddressLookups::none())));
    };
    let (rows, context) = (chunk.rows(), context.clone());
    let outcome = service.workers.run_low_priority(move || {
        let postcodes = chunk.postcodes_to_look_up(&context);
        (chunk, postcodes)
    });
    let (chunk, postcodes) = match outcome.await {
        Ok(outcome) => outcome,
        Err(error) => {
            tracing::error!(%error, "a chunk: addresses were not looked up");
            (Chunk::new(rows), BTreeSet::new())
        }
    };
    let answers = Arc::new(AddressLookups::new(Some(provider.clone()), postcodes));
    tokio::select! {
        () = answers.clone().look_up_all() => {}
        _ = stop.wait_for(|&stop| stop) => return None,
    }
    Some((chunk, answers))
}

/// Waits until refundable rows may run again, or the service stops.
pub async fn pause(answers: &AddressLookups, mut stop: watch::Receiver<bool>) {
    let wait = answers.retry_after().unwrap_or_default();
    let stopped = stop.wait_for(|&stop| stop);
    // The caller checks whether the service stops.
    let _ = tokio::time::timeout(wait.clamp(RETRY_WAIT, RETRY_WAIT_MAX), stopped).await;
}
