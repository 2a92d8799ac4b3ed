//! The market's part of a value: the estimate of its release without the home's own sales.

use super::Console;
use super::blocking::blocking;
use super::error::ConsoleError;
use domesday_valuation::pipeline::without_own_sales::estimate_without_own_sales;
use domesday_valuation::release_store::OpenRelease;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The longest wait for a worker and its run. A page is whole without the part.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Opens the release of a value, or returns none where the host does not serve it any more.
pub(super) async fn open_release(
    console: &Console,
    id: &str,
) -> Result<Option<Arc<OpenRelease>>, ConsoleError> {
    let (service, id) = (console.service.clone(), id.to_owned());
    if !service.releases.holds(&id) {
        return Ok(None);
    }
    blocking(move || service.releases.get(&id).ok()).await
}

/// Returns the estimate without the home's own sales, where it has any that count. There is none
/// where no slot of the workers is free or none of them begins in time, and where the release
/// cannot be opened.
///
/// A value that was just charged asks once. The run has a slot, as the row of a request has. So
/// the pool bounds such runs, its metrics count them, and jobs and shadows yield to them.
pub(super) async fn market_part(
    console: &Console,
    request: &Value,
    response: &Value,
) -> Option<f64> {
    if !response["context"]["own_sale"].is_object() {
        return None;
    }
    let id = response["release_id"].as_str()?;
    let release = open_release(console, id).await.ok()??;
    let request = request.to_string();
    let run = move || estimate_without_own_sales(release, &request);
    let run = timeout(TIMEOUT, console.service.workers.run(run)).await;
    run.ok()?.ok().flatten()
}
