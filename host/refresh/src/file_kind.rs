//! The kinds of files that arrive.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of a file that a build takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// HM Land Registry's price paid data.
    PricePaid,
    /// Energy certificates.
    Certificates,
    /// OS Code-Point Open.
    CodePoint,
    /// ONS areas of local authorities.
    Areas,
    /// Codes of local authorities, past and current.
    AuthorityCodes,
    /// UK House Price Index.
    HousePriceIndex,
    /// A licensed address file.
    Addresses,
    /// OS Open UPRN.
    OpenUprn,
    /// ONS rents.
    Rents,
    /// The Bank of England's database.
    BankCsv,
    /// Yield curves.
    Curves,
}

impl FileKind {
    /// Returns the name of the flag that takes the kind, without its dashes.
    pub fn flag(self) -> &'static str {
        match self {
            FileKind::PricePaid => "price-paid",
            FileKind::Certificates => "certificates",
            FileKind::CodePoint => "code-point",
            FileKind::Areas => "areas",
            FileKind::AuthorityCodes => "authority-codes",
            FileKind::HousePriceIndex => "house-price-index",
            FileKind::Addresses => "addresses",
            FileKind::OpenUprn => "open-uprn",
            FileKind::Rents => "rents",
            FileKind::BankCsv => "bank-csv",
            FileKind::Curves => "curves",
        }
    }

    /// Reports whether a build takes one file of the kind. Of several the latest is taken.
    pub fn is_single(self) -> bool {
        matches!(self, FileKind::CodePoint | FileKind::AuthorityCodes)
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--{}", self.flag())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_written_as_its_flag() {
        for kind in [FileKind::PricePaid, FileKind::OpenUprn, FileKind::BankCsv] {
            let written = serde_json::to_value(kind).unwrap();
            assert_eq!(written, kind.flag());
        }
    }
}
