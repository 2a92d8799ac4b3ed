//! The name under which registries see this program.

/// The User-Agent of every request.
pub const USER_AGENT: &str = concat!("domesday/", env!("CARGO_PKG_VERSION"));
