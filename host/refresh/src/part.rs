//! The parts of a round.

use crate::file_kind::FileKind;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A part of a round: one kind of package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The release of rates.
    Rates,
    /// The release of market statistics.
    Markets,
    /// The property snapshot.
    Snapshot,
    /// The valuation release.
    Valuation,
}

impl Part {
    /// All parts, in the order of a round.
    pub const ALL: [Part; 4] = [Part::Rates, Part::Markets, Part::Snapshot, Part::Valuation];

    /// Returns the part's name.
    pub fn name(self) -> &'static str {
        match self {
            Part::Rates => "rates",
            Part::Markets => "markets",
            Part::Snapshot => "snapshot",
            Part::Valuation => "valuation",
        }
    }

    /// Returns the folder of the part's packages within the folder of releases.
    pub fn packages_dir(self) -> &'static str {
        match self {
            Part::Snapshot => "property",
            other => other.name(),
        }
    }

    /// Returns the kinds that the part cannot do without.
    pub(crate) fn required_kinds(self) -> &'static [FileKind] {
        match self {
            Part::Rates => &[FileKind::BankCsv],
            Part::Markets => &[
                FileKind::PricePaid,
                FileKind::Areas,
                FileKind::AuthorityCodes,
            ],
            Part::Snapshot => &[
                FileKind::PricePaid,
                FileKind::CodePoint,
                FileKind::AuthorityCodes,
            ],
            Part::Valuation => &[],
        }
    }

    /// Returns the kinds that the part takes where they are there.
    pub(crate) fn optional_kinds(self) -> &'static [FileKind] {
        match self {
            Part::Rates => &[FileKind::Curves],
            Part::Markets => &[
                FileKind::Certificates,
                FileKind::CodePoint,
                FileKind::Rents,
                FileKind::HousePriceIndex,
            ],
            Part::Snapshot => &[
                FileKind::Certificates,
                FileKind::Areas,
                FileKind::HousePriceIndex,
                FileKind::Addresses,
                FileKind::OpenUprn,
            ],
            Part::Valuation => &[],
        }
    }

    /// Returns the kinds that the part takes.
    pub fn kinds(self) -> impl Iterator<Item = FileKind> {
        self.required_kinds()
            .iter()
            .chain(self.optional_kinds())
            .copied()
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
