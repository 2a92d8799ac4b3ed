//! The files that a markets package is built from.

use super::coverage::Coverage;
use super::month::Month;
use std::path::PathBuf;

/// Paths of the publishers' downloads. Every list may be in any order.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// HM Land Registry price paid data, in any of its formats: complete, yearly, monthly.
    pub price_paid: Vec<PathBuf>,
    /// Energy certificates; without any there are no prices per square metre and no values by
    /// bedrooms.
    pub certificates: Vec<PathBuf>,
    /// ONS Standard Area Measurements of local authorities: the authorities of the release.
    pub areas: Vec<PathBuf>,
    /// ONS past and current codes of local authorities.
    pub code_map: PathBuf,
    /// OS Code-Point Open; without it, and for postcodes that it has no more, a sale belongs to the
    /// district that its own row names.
    pub code_point: Vec<PathBuf>,
    /// ONS rents: the Price Index of Private Rents, or the older private rental market statistics.
    pub rents: Vec<PathBuf>,
    /// UK House Price Index; without any there are no property values.
    pub price_index: Vec<PathBuf>,
    /// For which authorities and months the price paid files are complete; empty where they are so
    /// for all of them.
    pub coverage: Vec<Coverage>,
    /// The month of the release; without it the one after the newest sale.
    pub release_month: Option<Month>,
    /// Where to write what certificates say of each sale, if that is wanted: the one step that
    /// cannot be re-derived from the package and the registers without their address matching.
    pub matches: Option<PathBuf>,
}
