//! The manifest of a world: its files, and the faults in each.

use serde::Serialize;
use std::collections::BTreeMap;

/// Counts of one finished world.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Manifest {
    /// Homes.
    pub properties: u64,
    /// Shops, offices and other premises.
    pub premises: u64,
    /// Postcodes with an address.
    pub postcodes: u64,
    /// Sales that really happened, each once, those of premises included.
    pub sales: u64,
    /// Well-formed certificates.
    pub certificates: u64,
    /// Rows (headers not counted) and bytes of each file.
    pub files: BTreeMap<String, FileSize>,
    /// Faults planted, by register.
    pub planted: PlantedFaults,
}

/// Size of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileSize {
    /// Rows, without the header.
    pub rows: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Faults planted in each register.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlantedFaults {
    /// price-paid.csv
    pub price_paid: PricePaidFaults,
    /// price-paid-monthly-change.csv
    pub monthly: MonthlyChanges,
    /// certificates.csv
    pub certificates: CertificateFaults,
    /// addresses.csv
    pub addresses: AddressFaults,
}

/// Faults of price-paid.csv. The first four are extra rows; the others are in rows of true sales.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PricePaidFaults {
    /// Rows whose date is on no calendar: to be rejected.
    pub bad_date: u64,
    /// Rows with a price below zero: to be rejected.
    pub negative_price: u64,
    /// Rows with 15 columns: to be rejected.
    pub wrong_columns: u64,
    /// Rows that repeat the one before.
    pub duplicate: u64,
    /// Sales without a postcode.
    pub postcode_missing: u64,
    /// Sales with duration `U`.
    pub tenure_unknown: u64,
    /// Semi-detached houses registered as terraced, or the reverse.
    pub type_differs: u64,
    /// Rows of category B.
    pub category_b: u64,
    /// Rows of type `O`.
    pub type_other: u64,
}

/// Rows of price-paid-monthly-change.csv.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MonthlyChanges {
    /// `A`: recent sales that price-paid.csv does not have yet.
    pub additions: u64,
    /// `C`: the right price of a sale whose price is wrong in price-paid.csv.
    pub changes: u64,
    /// `D`: sales of price-paid.csv that never happened.
    pub deletions: u64,
}

/// Faults of certificates.csv. The first two are extra rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CertificateFaults {
    /// Rows lodged on no day of any calendar: to be rejected.
    pub bad_date: u64,
    /// Rows with four columns too few: to be rejected.
    pub wrong_columns: u64,
    /// Certificates without a UPRN.
    pub uprn_missing: u64,
    /// Certificates whose floor area is ten times the true one.
    pub area_tenfold: u64,
    /// Certificates without a floor area.
    pub area_missing: u64,
    /// Homes sold since October 2008 whose certificate was lodged just after a sale.
    pub lodged_after_sale: u64,
    /// Homes without any certificate.
    pub homes_without: u64,
    /// Certificates that cut the street's last word short.
    pub abbreviated: u64,
    /// Certificates that put the unit behind the building.
    pub reordered: u64,
    /// Certificates with two letters of the street exchanged.
    pub misspelt: u64,
}

/// Faults of addresses.csv. The first two are extra rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AddressFaults {
    /// Rows whose UPRN holds a letter: to be rejected.
    pub bad_uprn: u64,
    /// Rows with ten columns: to be rejected.
    pub wrong_columns: u64,
    /// Homes that the file leaves out.
    pub homes_left_out: u64,
}
