//! The stage that authorizes the options and the valuation date of a parsed request.

use chrono::NaiveDate;
use domesday_contract::error::{Code, ValidationError};
use domesday_contract::v3::release::DateWindow;

/// Checks that a key with `use_stored_data` has the scope for it.
///
/// # Errors
/// `scope_required`, 403.
pub fn stored_data(requested: bool, allowed: bool) -> Result<(), ValidationError> {
    if requested && !allowed {
        return Err(ValidationError::new(
            Code::ScopeRequired,
            "use_stored_data needs a key with the scope avm:stored-data. Leave the option out, or ask for such a key.",
        )
        .at("/options/use_stored_data"));
    }
    Ok(())
}

/// Checks that the valuation date lies in the window of the release.
///
/// # Errors
/// `valuation_date_outside_window`.
pub fn valuation_date(date: NaiveDate, window: DateWindow) -> Result<(), ValidationError> {
    if window.contains(date) {
        return Ok(());
    }
    let message = format!(
        "This release values as at {} to {}, both included; GET /v3/releases/current states the window.",
        window.from, window.to
    );
    Err(
        ValidationError::new(Code::ValuationDateOutsideWindow, message)
            .at("/property/valuation_date"),
    )
}
