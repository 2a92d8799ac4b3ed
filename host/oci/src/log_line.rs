//! The callback for messages of a transfer.

use std::sync::Arc;

/// A callback for messages to the person who waits.
pub type LogLine = Arc<dyn Fn(&str) + Send + Sync>;
