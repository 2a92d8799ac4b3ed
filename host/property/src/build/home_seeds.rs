//! The seeds of properties: rows of the address file, of OS Open UPRN and of the certificates.

use super::external_sort::{Seed, SortedSeeds};
use super::keys::Keys;
use super::report::HomesReport;
use crate::model::GssCode;
use crate::store::dwelling::PackedCertificate;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

/// Everything that properties are put together from, and the addresses that mean them.
pub(crate) struct Homes {
    pub(crate) addresses: SortedSeeds<AddressSeed>,
    pub(crate) certificates: SortedSeeds<CertificateSeed>,
    /// The locations of UPRNs, also of those that no home has.
    pub(crate) points: SortedSeeds<PointSeed>,
    pub(crate) keys: Keys,
    /// UPRNs of premises, in which nobody lives.
    pub(crate) premises: FxHashSet<u64>,
    pub(crate) report: HomesReport,
}

/// A row of the address file. Of several for one UPRN, the last in this order counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct AddressSeed {
    pub(crate) uprn: u64,
    pub(crate) residential: bool,
    pub(crate) postcode: u64,
    pub(crate) easting: i32,
    pub(crate) northing: i32,
    pub(crate) wales: bool,
    /// True if the row is a sold address under an invented UPRN.
    pub(crate) invented: bool,
}

impl Seed for AddressSeed {
    type Key = AddressSeed;
    fn key(&self) -> AddressSeed {
        *self
    }
}

/// A row of OS Open UPRN. Of several for one UPRN, the last in this order counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct PointSeed {
    pub(crate) uprn: u64,
    pub(crate) easting: i32,
    pub(crate) northing: i32,
}

impl Seed for PointSeed {
    type Key = PointSeed;
    fn key(&self) -> PointSeed {
        *self
    }
}

/// A certificate, ordered by property and lodgement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct CertificateSeed {
    pub(crate) uprn: u64,
    pub(crate) certificate: PackedCertificate,
    pub(crate) postcode: u64,
    pub(crate) authority: OrderedCode,
}

impl Seed for CertificateSeed {
    type Key = CertificateSeed;
    fn key(&self) -> CertificateSeed {
        *self
    }
}

/// A code or none, in four bytes that order as the option does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct OrderedCode(u32);

impl OrderedCode {
    pub(crate) fn new(code: Option<GssCode>) -> OrderedCode {
        OrderedCode(code.map_or(0, |code| code.pack() + 1))
    }

    pub(crate) fn code(self) -> Option<GssCode> {
        self.0.checked_sub(1).and_then(GssCode::unpack)
    }
}
