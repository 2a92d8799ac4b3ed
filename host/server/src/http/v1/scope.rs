//! The scope that a family of series wants.

use domesday_series::catalogue::Family;
use domesday_state::Scope;

/// Returns the scope of a family.
pub fn scope_of(family: Family) -> Scope {
    match family {
        Family::Markets => Scope::MarketsRead,
        Family::Rates => Scope::RatesRead,
    }
}
