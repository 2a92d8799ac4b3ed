//! The routes of both interfaces.

use super::route::Route;
use super::{series, valuations};

/// Returns every route of both interfaces.
pub fn routes() -> impl Iterator<Item = &'static Route> {
    valuations::ROUTES.iter().chain(&series::ROUTES)
}
