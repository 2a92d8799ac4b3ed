//! Counts of rows that were sampled for a candidate and are in no figure, by reason.

use domesday_evaluation::compare::header::Exclusions;
use domesday_package::replace_private;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The file of the counts, in a folder of pairs.
pub const COUNTS: &str = "counts.json";

/// The reason why a sampled row is in no figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExclusionReason {
    /// The candidate is not made for its valuation date.
    OutsideDates,
    /// The queue was full.
    Dropped,
    /// It was waiting when the shadow ended.
    ShadowEnded,
    /// The host failed on it.
    HostFailure,
    /// The outcomes could not be written.
    WriteFailed,
}

impl ExclusionReason {
    /// Returns the label of the reason in metrics.
    pub fn word(self) -> &'static str {
        match self {
            ExclusionReason::OutsideDates => "outside_dates",
            ExclusionReason::Dropped => "dropped",
            ExclusionReason::ShadowEnded => "shadow_ended",
            ExclusionReason::HostFailure => "host_failure",
            ExclusionReason::WriteFailed => "write_failed",
        }
    }
}

/// The counts of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Time of the folder's first row, to the minute: seconds since 1970-01-01 UTC.
    pub since: Option<i64>,
    /// Rows that were stored and removed to make room for later ones.
    pub replaced: u64,
    /// Rows that were sampled and not stored.
    pub left_out: Exclusions,
}

impl Counts {
    /// Adds rows to the count of a reason.
    pub fn add_rows(&mut self, reason: ExclusionReason, rows: u64) {
        let counts = &mut self.left_out;
        *match reason {
            ExclusionReason::OutsideDates => &mut counts.outside_dates,
            ExclusionReason::Dropped => &mut counts.dropped,
            ExclusionReason::ShadowEnded => &mut counts.shadow_ended,
            ExclusionReason::HostFailure => &mut counts.host_failure,
            ExclusionReason::WriteFailed => &mut counts.write_failed,
        } += rows;
    }

    /// Adds the counts of another folder.
    pub fn add(&mut self, other: &Counts) {
        self.since = self.since.or(other.since);
        self.replaced += other.replaced;
        let more = &other.left_out;
        for (reason, rows) in [
            (ExclusionReason::OutsideDates, more.outside_dates),
            (ExclusionReason::Dropped, more.dropped),
            (ExclusionReason::ShadowEnded, more.shadow_ended),
            (ExclusionReason::HostFailure, more.host_failure),
            (ExclusionReason::WriteFailed, more.write_failed),
        ] {
            self.add_rows(reason, rows);
        }
    }

    /// Reads the counts of a folder, which are zero where it has no file of counts.
    ///
    /// # Errors
    /// The file exists and cannot be read.
    pub fn read(folder: &Path) -> std::io::Result<Counts> {
        match fs::read(folder.join(COUNTS)) {
            Ok(text) => Ok(serde_json::from_slice(&text)?),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Counts::default()),
            Err(error) => Err(error),
        }
    }

    /// Adds these counts to those of a folder.
    ///
    /// # Errors
    /// They cannot be written. The folder's counts are then unchanged.
    pub fn add_to(&self, folder: &Path) -> std::io::Result<()> {
        let mut all = Counts::read(folder)?;
        all.add(self);
        replace_private(&folder.join(COUNTS), &serde_json::to_vec(&all)?)
    }
}
