//! What a well-formed request may still not ask: an option without its scope, or a date that the
//! release does not take.

use chrono::NaiveDate;
use domesday_breaks::broken;
use domesday_contract::error::{Code, Fault};
use domesday_contract::v3::release::DateWindow;

/// Stored data is open only to keys with the scope for it, whatever else the request says.
///
/// # Errors
/// `scope_required`, 403.
pub fn stored_data(asked: bool, allowed: bool) -> Result<(), Fault> {
    if asked && !allowed && !broken("options-9") {
        return Err(Fault::new(
            Code::ScopeRequired,
            "use_stored_data needs a key with the scope avm:stored-data. Leave the option out, or ask for such a key.",
        )
        .at("/options/use_stored_data"));
    }
    Ok(())
}

/// The valuation date must lie in the release's window.
///
/// # Errors
/// `valuation_date_outside_window`.
pub fn valuation_date(date: NaiveDate, window: DateWindow) -> Result<(), Fault> {
    if window.contains(date) {
        return Ok(());
    }
    let message = format!(
        "This release values as at {} to {}, both included; GET /v3/releases/current states the window.",
        window.from, window.to
    );
    Err(Fault::new(Code::ValuationDateOutsideWindow, message).at("/property/valuation_date"))
}
