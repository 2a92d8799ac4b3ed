//! The names of the files in a snapshot directory.

/// The snapshot.
pub const SNAPSHOT_FILE: &str = "snapshot.redb";
/// The build report, as JSON.
pub const REPORT_FILE: &str = "report.json";
/// Rows that were not taken: file, line, reason, value.
pub const REJECTS_FILE: &str = "rejects.csv";
