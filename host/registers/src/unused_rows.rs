//! The rows of a file that a build does not use, and how many they may be.

use crate::file_report::{Counts, FileReport};
use crate::rejected_row::{RejectReason, RejectedRow};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The largest share of a file's rows that may be rejected, in per cent.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct MaxRejected(f64);

impl Default for MaxRejected {
    fn default() -> MaxRejected {
        MaxRejected(5.0)
    }
}

impl MaxRejected {
    /// Returns the share in per cent.
    pub(crate) fn percent(self) -> f64 {
        self.0
    }

    /// No limit: any share may be rejected, but not every row.
    pub const ANY: MaxRejected = MaxRejected(100.0);
}

impl fmt::Display for MaxRejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl FromStr for MaxRejected {
    type Err = String;

    fn from_str(text: &str) -> Result<MaxRejected, String> {
        match text.parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(MaxRejected(percent)),
            _ => Err("a share in per cent, from 0 to 100".to_owned()),
        }
    }
}

/// The first rejected row of each reason.
#[derive(Debug, Default)]
pub(crate) struct FirstRejects(BTreeMap<RejectReason, RejectedRow>);

impl FirstRejects {
    /// Returns whether a row was rejected for this reason.
    pub(crate) fn has(&self, reason: RejectReason) -> bool {
        self.0.contains_key(&reason)
    }

    pub(crate) fn take(&mut self, reject: &RejectedRow) {
        self.0
            .entry(reject.reason)
            .or_insert_with(|| reject.clone());
    }
}

/// The rows of a file that a build does not use.
#[derive(Debug)]
pub struct UnusedRows {
    rejected: Vec<(u64, RejectedRow)>,
    left_out: Counts,
}

impl UnusedRows {
    /// Returns them from a report, the most frequent reason first.
    pub(crate) fn new(report: &FileReport, first: &FirstRejects) -> UnusedRows {
        let number = |reject: &RejectedRow| report.rejected.get(reject.reason.code()).copied();
        let mut rejected: Vec<(u64, RejectedRow)> = first
            .0
            .values()
            .map(|reject| (number(reject).unwrap_or(0), reject.clone()))
            .collect();
        rejected.sort_by_key(|(rows, _)| std::cmp::Reverse(*rows));
        UnusedRows {
            rejected,
            left_out: report.left_out.clone(),
        }
    }
}

impl fmt::Display for UnusedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut between = "";
        for (rows, first) in &self.rejected {
            write!(
                f,
                "{between}{} {rows} (the first: {first}",
                first.reason.code()
            )?;
            if let Some(repair) = first.repair() {
                write!(f, "; {repair}")?;
            }
            f.write_str(")")?;
            between = ", ";
        }
        for (reason, rows) in &self.left_out {
            write!(f, "{between}{reason} {rows}")?;
            between = ", ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_share_in_per_cent() {
        assert_eq!("0.5".parse(), Ok(MaxRejected(0.5)));
        assert_eq!("100".parse(), Ok(MaxRejected::ANY));
        for bad in ["", "-1", "101", "NaN", "5%"] {
            assert!(bad.parse::<MaxRejected>().is_err(), "{bad}");
        }
    }
}
