//! The resolution of addresses, and the facts of a snapshot.

use domesday_registers::Day;
use serde::{Deserialize, Serialize};

/// The meaning of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// One residential property has exactly this address.
    Exact(u64),
    /// No register has the address with a UPRN.
    NotFound,
    /// Several properties could be meant.
    Ambiguous {
        /// The number of candidates.
        candidates: u32,
        /// The address names a building that is divided into units, and no unit was given.
        needs_unit: bool,
    },
    /// The address is known to be premises.
    NotResidential,
}

/// Rows of a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowCounts {
    /// Postcodes of Great Britain.
    pub postcodes: u64,
    /// Distinct pairs of postcode and address key.
    pub address_keys: u64,
    /// Properties with a UPRN.
    pub properties: u64,
    /// Certificates held with the properties.
    pub certificates: u64,
    /// Sales with coordinates, which can be evidence.
    pub placed_sales: u64,
    /// Sales whose postcode has no coordinates.
    pub unplaced_sales: u64,
    /// Sales joined to a UPRN.
    pub matched_sales: u64,
}

/// A file that a snapshot was built from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// The register.
    pub register: String,
    /// Name without its folder.
    pub file: String,
    /// SHA-256 in lower-case hexadecimal.
    pub sha256: String,
    /// Rows read.
    pub rows: u64,
}

/// The identity of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Name given at build.
    pub snapshot_id: String,
    /// SHA-256 over the rows in key order, lower-case hexadecimal, as noted at build;
    /// [`crate::store::content_digest`] computes it afresh.
    pub content_digest: String,
    /// The latest sale, or `None` without any sale.
    pub latest_sale: Option<Day>,
    /// Last month (months since January 1970) that the register covers whole: the latest that
    /// ended on or before the latest sale's day.
    pub last_whole_month: Option<i32>,
    /// Rows held.
    pub rows: RowCounts,
}
