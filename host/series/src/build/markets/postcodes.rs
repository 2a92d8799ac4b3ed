//! Postcodes and the authorities that they lie in.

use super::MarketsError;
use super::areas::{AreaNumber, Grid};
use super::exclusions;
use super::sources::{Kind, Sources};
use domesday_registers::Postcode;
use domesday_registers::code_point::CodePointFile;
use domesday_registers::sources::Verdict;

/// Returns a postcode as a number in the order of its text.
pub(crate) fn pack(postcode: &Postcode) -> u64 {
    let mut bytes = [0; 8];
    for (byte, from) in bytes.iter_mut().zip(postcode.as_str().bytes()) {
        *byte = from;
    }
    u64::from_be_bytes(bytes)
}

/// Every live postcode of the grid, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Postcodes(Vec<(u64, AreaNumber)>);

impl Postcodes {
    /// Returns the authority that a live postcode lies in.
    pub(crate) fn area(&self, packed: u64) -> Option<AreaNumber> {
        let at = self.0.binary_search_by_key(&packed, |(known, _)| *known);
        at.ok().map(|at| self.0[at].1)
    }
}

/// Reads Code-Point Open, if given.
pub(crate) fn read(sources: &mut Sources<'_>, grid: &Grid) -> Result<Postcodes, MarketsError> {
    let mut postcodes = Vec::new();
    sources.read::<CodePointFile>(Kind::CodePoint, |_, row| {
        if let Some(reason) = exclusions::postcode(&row) {
            return Verdict::LeftOut(reason, ());
        }
        match grid.of_code(&row.authority) {
            Some(area) => {
                postcodes.push((pack(&row.postcode), area));
                Verdict::Kept
            }
            None => Verdict::LeftOut("outside_the_areas", ()),
        }
    })?;
    postcodes.sort_unstable();
    postcodes.dedup_by_key(|(packed, _)| *packed);
    Ok(Postcodes(postcodes))
}
