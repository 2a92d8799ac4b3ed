//! Nothing: this crate's manifest is its content.
