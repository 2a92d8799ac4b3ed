//! The context of one request.

use crate::observer::RowObserver;
use crate::release_store::OpenRelease;
use domesday_contract::v3::options::{Depth, Settings};
use domesday_contract::v3::request::Kind;
use std::sync::Arc;
use uuid::Uuid;

/// The context that all rows of a request share.
pub struct RequestContext {
    /// The release that the request is pinned to.
    pub release: Arc<OpenRelease>,
    /// The schema of the rows.
    pub kind: Kind,
    /// The depth of the results.
    pub depth: Depth,
    /// The defaults for the options of each row.
    pub settings: Settings,
    /// True if the key may use stored data.
    pub stored_data: bool,
    /// The API execution.
    pub execution_id: Uuid,
    /// The observer of the rows, where there is one.
    pub observer: Option<Arc<dyn RowObserver>>,
}

impl RequestContext {
    /// Returns the context of a tool that values existing properties. It may use stored data, and
    /// no observer sees it.
    pub(super) fn of_tool(release: Arc<OpenRelease>, settings: Settings) -> RequestContext {
        RequestContext {
            release,
            kind: Kind::Existing,
            depth: Depth::Standard,
            settings,
            stored_data: true,
            execution_id: Uuid::nil(),
            observer: None,
        }
    }
}
