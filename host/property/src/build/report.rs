//! The report of a build. It depends on the inputs alone.

use crate::model::Identity;
use domesday_registers::sources::FileReport;
pub(crate) use domesday_registers::sources::count;
use serde::Serialize;
use std::collections::BTreeMap;

/// The build report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The snapshot that came of it.
    pub identity: Identity,
    /// Every source file. The rejects file lists each rejected or excluded row.
    pub files: Vec<FileReport>,
    /// Postcodes and authorities.
    pub places: PlacesReport,
    /// Properties.
    pub homes: HomesReport,
    /// Sales.
    pub sales: SalesReport,
}

/// Postcodes and authorities.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PlacesReport {
    /// Postcodes held, of all Great Britain.
    pub postcodes: u64,
    /// Postcodes with several rows. The last in order of content counts.
    pub postcodes_repeated: u64,
    /// Postcodes of England and Wales without a local authority.
    pub postcodes_without_authority: u64,
    /// Local authorities in force that a postcode lies in.
    pub authorities: u64,
    /// Authority codes that the code map does not know, held under themselves.
    pub authority_codes_unmapped: Vec<String>,
    /// Authorities of England and Wales whose area is known only under an older code.
    pub areas_by_older_code: Vec<String>,
    /// Authorities of England and Wales whose area is not known.
    pub areas_unknown: Vec<String>,
}

/// Properties.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HomesReport {
    /// Properties held.
    pub properties: u64,
    /// Of them, those that the address file has.
    pub from_address_file: u64,
    /// Of them, those with an invented UPRN, one for each sold address.
    #[serde(skip_serializing_if = "is_zero")]
    pub from_sold_addresses: u64,
    /// Of them, those with a certificate.
    pub with_certificate: u64,
    /// Of them, those that OS Open UPRN places.
    #[serde(skip_serializing_if = "is_zero")]
    pub placed_by_open_uprn: u64,
    /// Of them, those that are not residential.
    pub not_residential: u64,
    /// Of them, those without coordinates: postcode not in Code-Point, and in neither the address
    /// file nor OS Open UPRN.
    pub unplaced: u64,
    /// Certificates held.
    pub certificates: u64,
    /// Certificates without UPRN that took the address file's, by exact address.
    pub certificates_matched_by_address: u64,
    /// Of the other certificates without UPRN, those that took the address file's by a rule for
    /// addresses, rule by rule.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub certificates_matched_by_rule: BTreeMap<&'static str, u64>,
    /// Certificates lodged twice under one key.
    pub certificates_repeated: u64,
    /// Pairs of postcode and address that mean exactly one home.
    pub addresses_of_one_home: u64,
    /// Pairs of postcode and address that mean several properties.
    pub addresses_ambiguous: u64,
}

/// Sales. `transactions` is the sum of `placed` and `unplaced`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SalesReport {
    /// Sales held, after changes, deletions and repetitions.
    pub transactions: u64,
    /// Rows that repeat a transaction word for word.
    pub repeated: u64,
    /// Additions that contradict an earlier one. The later file won.
    pub contradicted: u64,
    /// Changes applied to a transaction that was read.
    pub changes_applied: u64,
    /// Changes of a transaction that was not read, taken as additions.
    pub changes_of_unknown: u64,
    /// Changes to a sale that a snapshot cannot hold. They withdraw their transaction.
    #[serde(skip_serializing_if = "is_zero")]
    pub changes_withdrawn: u64,
    /// Transactions withdrawn by a deletion.
    pub deletions_applied: u64,
    /// Deletions of a transaction that was not read.
    pub deletions_of_unknown: u64,
    /// Sales with coordinates, which can be evidence near a point.
    pub placed: u64,
    /// Sales whose postcode Code-Point does not have, mostly because it was terminated. They
    /// count in figures of postcode district and sector and in a property's own sales.
    pub unplaced: u64,
    /// Category A.
    pub standard: u64,
    /// Type `O`.
    pub other_type: u64,
    /// Sales by the outcome of matching.
    pub matching: BTreeMap<&'static str, u64>,
    /// Sales that matched by a rule for addresses, by rule.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub matched_by_rule: BTreeMap<&'static str, u64>,
    /// Matched sales by the outcome of their certificates.
    pub certificates: BTreeMap<&'static str, u64>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
