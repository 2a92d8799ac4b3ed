//! Idempotent forms: one that is sent twice does its work once.

use super::Console;
use super::api::ApiResponse;
use super::blocking::blocking;
use super::error::ConsoleError;
use super::market_part::market_part;
use crate::console_sessions::{ConsoleSessions, Session};
use crate::console_values::SavedValue;
use domesday_state::TenantId;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use uuid::Uuid;

/// The outcome of a form that values a home.
pub(super) enum FormValue {
    /// The id of its valuation, which this or an earlier submission made.
    Made(String),
    /// The API refused it.
    Refused(ApiResponse),
}

/// Returns a key for a form and its content. A form that was changed after it was sent is another.
pub(super) fn key_of(form_id: &str, content: &Value) -> String {
    let digest = Sha256::digest(content.to_string().as_bytes());
    format!("{form_id}-{}", hex::encode(&digest[..16]))
}

/// Values the home of a form that was not valued before. A second submission waits for the first,
/// for no longer than the service takes for each. The work goes on where the browser went away,
/// since a second click ends the first request.
///
/// # Errors
/// The service cannot be asked, or its response cannot be read.
pub(super) async fn value_once(
    console: &Console,
    session: &Arc<Session>,
    form_id: String,
    request: Value,
) -> Result<FormValue, ConsoleError> {
    let (console, session) = (console.clone(), session.clone());
    let valuing = tokio::spawn(async move {
        let sessions = console.service.console.as_ref();
        let sessions = sessions.ok_or(ConsoleError::NoPage)?;
        let tenant = &session.user.tenant;
        let outcome = sessions.work().outcome(tenant, key_of(&form_id, &request));
        let mut made = outcome.lock().await;
        if let Some(id) = &*made {
            return Ok(FormValue::Made(id.clone()));
        }
        let answered = console.post(&session, "/v3/value", &request).await?;
        if !answered.status.is_success() {
            return Ok(FormValue::Refused(answered));
        }
        let id = answered.body["valuation_id"].as_str();
        let id = id.ok_or(ConsoleError::Response)?.to_owned();
        // It was charged, whether it can be kept or not.
        *made = Some(id.clone());
        let value = SavedValue {
            market_gbp: market_part(&console, &request, &answered.body).await,
            request,
            response: answered.body,
        };
        save(sessions, tenant, &id, value).await?;
        Ok(FormValue::Made(id))
    });
    valuing.await.map_err(|_| ConsoleError::Response)?
}

/// Keeps a value in the data folder.
async fn save(
    sessions: &ConsoleSessions,
    tenant: &TenantId,
    id: &str,
    value: SavedValue,
) -> Result<(), ConsoleError> {
    let values = sessions.values().ok_or(ConsoleError::NoPage)?.clone();
    let key: Uuid = id.parse().map_err(|_| ConsoleError::Response)?;
    let tenant = tenant.clone();
    let saved = blocking(move || values.save(&tenant, key, &value)).await?;
    saved.map_err(|error| {
        ConsoleError::State(format!(
            "the value {id} was made and charged, and cannot be kept: {error}"
        ))
    })
}
