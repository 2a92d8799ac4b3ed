//! What the rows of one request are valued by.

use crate::receipts::Keeping;
use crate::releases::OpenRelease;
use crate::shadow::Shadow;
use domesday_contract::v3::options::{Depth, Settings};
use domesday_contract::v3::request::Kind;
use std::sync::Arc;
use uuid::Uuid;

/// What all rows of a request have in common.
pub struct Shared {
    /// The release that the request is pinned to.
    pub release: Arc<OpenRelease>,
    /// Which of the two schemas its rows follow.
    pub kind: Kind,
    /// How much its results may show.
    pub depth: Depth,
    /// The options that stand behind each row's own.
    pub settings: Settings,
    /// Whether the key may use stored data.
    pub stored_data: bool,
    /// The API execution.
    pub execution_id: Uuid,
    /// What keeps receipts, where they are on.
    pub receipts: Option<Arc<Keeping>>,
    /// The release that runs beside it, if any does.
    pub shadow: Option<Arc<Shadow>>,
}
