//! The files that a markets package is built from.

use super::coverage::Coverage;
use super::month::Month;
use domesday_registers::MaxRejected;
use std::path::PathBuf;

/// Paths of the publishers' downloads. Every list may be in any order.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// HM Land Registry price paid data, in any of its formats: complete, yearly, monthly.
    pub price_paid: Vec<PathBuf>,
    /// Energy certificates. Without them there are no prices per square metre and no values by
    /// bedrooms.
    pub certificates: Vec<PathBuf>,
    /// ONS Standard Area Measurements of local authorities: the authorities of the release.
    pub areas: Vec<PathBuf>,
    /// ONS past and current codes of local authorities.
    pub code_map: PathBuf,
    /// OS Code-Point Open. Without it, or for a postcode that it lacks, a sale belongs to the
    /// district that its row names.
    pub code_point: Vec<PathBuf>,
    /// ONS rents: the Price Index of Private Rents, or the older private rental market statistics.
    pub rents: Vec<PathBuf>,
    /// UK House Price Index. Without it there are no property values.
    pub price_index: Vec<PathBuf>,
    /// The authorities and months for which the price paid files are complete. Empty: they are
    /// complete for all.
    pub coverage: Vec<Coverage>,
    /// True if the files hold every sale of every authority, even where some have none.
    pub whole_country: bool,
    /// The largest share of a file's rows that may be rejected.
    pub max_rejected: MaxRejected,
    /// The month of the release (default: the month after the newest sale).
    pub release_month: Option<Month>,
    /// Output file of the certificate facts of each sale. This step alone cannot be re-derived from
    /// the package and the registers without the address matching.
    pub matches: Option<PathBuf>,
}
