//! The names of the rows in the table of switches.

use crate::ReleaseKind;

/// The switch that pauses jobs; it is there while they are paused.
pub(super) const PAUSED: &str = "jobs_paused";
/// The secret of cursors.
pub(super) const CURSOR_SECRET: &str = "cursor_secret";
/// The one before it.
pub(super) const CURSOR_SECRET_BEFORE: &str = "cursor_secret_before";

/// Returns the name of the switch that holds the promoted release. The first has its name from when
/// it was the only one.
pub(super) fn promoted_switch(what: ReleaseKind) -> &'static str {
    match what {
        ReleaseKind::Valuation => "promoted",
        ReleaseKind::Markets => "promoted_markets",
        ReleaseKind::Rates => "promoted_rates",
    }
}
