//! The report on one source file.

use serde::Serialize;
use std::collections::BTreeMap;

/// Rows by a stable snake_case reason.
pub type Counts = BTreeMap<&'static str, u64>;

/// The report on one source file. If it was read row by row, `rows_read` is the sum of `rows_kept`,
/// all `rejected` and all `left_out`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FileReport {
    /// The register that it belongs to.
    pub register: &'static str,
    /// Its name without its folder.
    pub file: String,
    /// SHA-256 in lower-case hexadecimal.
    pub sha256: String,
    /// Its length.
    pub bytes: u64,
    /// Rows after the header.
    pub rows_read: u64,
    /// Rows for later passes.
    pub rows_kept: u64,
    /// Damaged rows, by reason.
    pub rejected: Counts,
    /// Valid rows that the build excludes, by reason.
    pub left_out: Counts,
    /// Cells that were dropped from kept rows or may be cut, by reason.
    pub field_warnings: Counts,
    /// The first kept row without a line end, where earlier lines have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unended: Option<String>,
}
