//! What the identity provider says of a chunk's rows, and how long a job waits for one that is silent.

use super::chunk::Chunk;
use crate::service::Service;
use crate::valuation::look_up::Answers;
use crate::valuation::row::Shared;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How long rows that could not be run are left alone before they are tried again.
const PAUSE: Duration = Duration::from_millis(200);
/// The same at most, where the provider wishes to be left alone for longer: a job is in no hurry, but
/// its lease and those behind it are.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// Asks for the postcodes of the round's rows that the snapshot leaves open; `None` where the service
/// stops meanwhile.
pub async fn ask(
    service: &Service,
    mut stop: watch::Receiver<bool>,
    chunk: Chunk,
    shared: &Arc<Shared>,
) -> Option<(Chunk, Arc<Answers>)> {
    let Some(provider) = &service.identity else {
        return Some((chunk, Arc::new(Answers::none())));
    };
    let (rows, shared) = (chunk.rows(), shared.clone());
    let looked = service.workers.run_behind(move || {
        let open = chunk.open(&shared);
        (chunk, open)
    });
    let (chunk, open) = match looked.await {
        Ok(looked) => looked,
        Err(error) => {
            tracing::error!(%error, "a chunk");
            (Chunk::new(rows), BTreeSet::new())
        }
    };
    let answers = Arc::new(Answers::wanted(Some(provider.clone()), open));
    tokio::select! {
        () = answers.clone().ask_all() => {}
        _ = stop.wait_for(|&stop| stop) => return None,
    }
    Some((chunk, answers))
}

/// Leaves rows alone that could not be run, until it is worth trying them again or the service stops.
pub async fn pause(answers: &Answers, mut stop: watch::Receiver<bool>) {
    let wait = answers.retry_after().unwrap_or_default();
    let stopped = stop.wait_for(|&stop| stop);
    // Either way the caller looks which it was.
    let _ = tokio::time::timeout(wait.clamp(PAUSE, PAUSE_MAX), stopped).await;
}
