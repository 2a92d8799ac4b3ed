//! The callbacks of a transfer.

use std::sync::Arc;

/// A callback for progress: the name of the file, bytes transferred and bytes in all.
pub type SharedProgress = Arc<dyn Fn(&str, u64, u64) + Send + Sync>;

/// A callback for messages to the person who waits.
pub type LogLine = Arc<dyn Fn(&str) + Send + Sync>;
