//! The report of a build.

use crate::package::DatasetSummary;
use domesday_registers::sources::{Counts, FileReport};
use serde::Serialize;
use std::collections::BTreeMap;

/// Counts of sales by outcome.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SalesReport {
    /// Transactions after additions, changes and deletions.
    pub transactions: u64,
    /// Rows that repeat a transaction.
    pub repeated: u64,
    /// Standing transactions that are counted: category A, a dwelling, in an authority, in a
    /// month that its coverage holds.
    pub counted: u64,
    /// Standing transactions that are not, by reason.
    pub not_counted: Counts,
    /// The way in which a counted sale's authority was found.
    pub area_from: Counts,
    /// Counted sales with a floor area, whenever it came on record.
    pub with_floor_area: u64,
    /// `with_floor_area` of `counted`, per cent; absent where nothing was counted.
    pub floor_area_match_pct: Option<f64>,
    /// Counted sales with a known number of bedrooms.
    pub with_bedrooms: u64,
    /// Authorities that the files are taken to be complete for and that have no counted sale at
    /// all: their counts are 0.
    pub areas_without_sales: u64,
    /// Unknown districts with their sales, the most frequent 50.
    pub districts_unknown: BTreeMap<String, u64>,
}

/// The whole build.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Every source file, by register and SHA-256.
    pub files: Vec<FileReport>,
    /// Counts of sales by outcome.
    pub sales: SalesReport,
    /// The code of each authority's price index. Authorities without one are absent.
    pub index_of: BTreeMap<String, String>,
    /// First month of price paid data, `YYYY-MM`.
    pub first_month: String,
    /// Last month of price paid data that the release states, `YYYY-MM`.
    pub core_month: String,
    /// Latest month of rents, `YYYY-MM`.
    pub rental_month: Option<String>,
    /// Series written.
    pub series: u64,
    /// Observations written.
    pub observations: u64,
    /// Windows with too few sales to publish.
    pub suppressed: u64,
    /// Every dataset with its extent, and the reason where it is empty or lacks metrics.
    pub datasets: Vec<DatasetSummary>,
}
