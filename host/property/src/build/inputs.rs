//! The files that a snapshot is built from.

use domesday_registers::MaxRejected;
use std::path::PathBuf;

/// Paths of the publishers' downloads. Every list may be in any order.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// HM Land Registry price paid data, in any of its formats: complete, yearly, monthly.
    pub price_paid: Vec<PathBuf>,
    /// Energy certificates (`certificates.csv` of each authority).
    pub certificates: Vec<PathBuf>,
    /// OS Code-Point Open, the zip.
    pub code_point: PathBuf,
    /// ONS Standard Area Measurements of local authorities.
    pub areas: Vec<PathBuf>,
    /// ONS past and current codes of local authorities.
    pub code_map: PathBuf,
    /// UK House Price Index, full columns.
    pub price_index: Vec<PathBuf>,
    /// Licensed address files (docs/reference/address-file.md). Without them, UPRNs come from
    /// certificates.
    pub addresses: Vec<PathBuf>,
    /// Price paid files whose addresses become homes with invented UPRNs. Real ones beside them
    /// would make addresses ambiguous, so neither certificates nor address files go with them.
    pub sold_addresses: Vec<PathBuf>,
    /// OS Open UPRN: where homes lie that no address file has.
    pub open_uprn: Vec<PathBuf>,
    /// True if addresses that no home has exactly are tried by the rules of
    /// [`domesday_registers::matching`].
    pub by_rules: bool,
    /// The largest share of a file's rows that may be rejected.
    pub max_rejected: MaxRejected,
}
