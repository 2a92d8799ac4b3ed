//! The report of an update.

use crate::model::{Identity, SourceFile};
use domesday_registers::sources::FileReport;
use serde::Serialize;
use std::collections::BTreeMap;

/// The report of an update.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UpdateReport {
    /// The snapshot that came of it.
    pub identity: Identity,
    /// The snapshot that it was made from.
    pub updated_from: Identity,
    /// The files that were read, with counts of their rows. The rejects file lists each rejected or
    /// excluded row.
    pub files: Vec<FileReport>,
    /// Every file that the new snapshot rests on, the old one's among them.
    pub sources: Vec<SourceFile>,
    /// Transactions by outcome.
    pub sales: UpdateCounts,
}

/// Transactions by their state before and after, each counted once, and rows without effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UpdateCounts {
    /// Transactions that the old snapshot did not have.
    pub added: u64,
    /// Transactions that were changed.
    pub changed: u64,
    /// Transactions that were removed.
    pub deleted: u64,
    /// Transactions that the files name without a change.
    pub unchanged: u64,
    /// Transactions that the files do not name, whose home by a rule for addresses is contested by
    /// another address now, or no longer.
    #[serde(skip_serializing_if = "is_zero")]
    pub rejoined: u64,
    /// Rows that delete a transaction that was not there.
    pub deletions_of_unknown: u64,
    /// Rows that change a transaction that was not there, taken as additions.
    pub changes_of_unknown: u64,
    /// Rows that change a sale to one that a snapshot cannot hold. They withdraw their transaction.
    #[serde(skip_serializing_if = "is_zero")]
    pub changes_withdrawn: u64,
    /// Rows that add a known transaction. The later row counts.
    pub additions_of_known: u64,
    /// Added and changed transactions by the outcome of matching.
    pub matching: BTreeMap<&'static str, u64>,
    /// Of them, those that did so by a rule for addresses, rule by rule.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub matched_by_rule: BTreeMap<&'static str, u64>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
