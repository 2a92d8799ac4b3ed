//! Sales that a search found, as they are in the file.

use crate::SnapshotError;
use crate::model::Sale;
use crate::store::cell::Cell;
use crate::store::postcode;
use crate::store::sale::{PackedSale, WIDTH};
use domesday_registers::{Day, Postcode};

/// The sales that a search found, in its order and still packed.
///
/// Each is unpacked when it is read, so that whoever needs a few sales again pays for a few.
#[derive(Clone, Debug)]
pub struct FoundSales {
    before: Day,
    sales: Vec<Candidate>,
}

/// A sale that meets the query, still packed.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) distance_squared: u64,
    pub(super) day: Day,
    pub(super) id: u64,
    pub(super) cell: Cell,
    pub(super) bytes: [u8; WIDTH],
}

impl FoundSales {
    pub(super) fn new(before: Day, sales: Vec<Candidate>) -> FoundSales {
        FoundSales { before, sales }
    }

    /// Returns the number of sales.
    pub fn len(&self) -> usize {
        self.sales.len()
    }

    /// Returns whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.sales.is_empty()
    }

    /// Leaves out the sales of a property.
    pub fn without(mut self, uprn: u64) -> FoundSales {
        (self.sales).retain(|found| PackedSale::new(&found.bytes).uprn() != uprn);
        self
    }

    /// Unpacks the sales one after the other. An error says that a row is damaged.
    pub fn iter(&self) -> impl Iterator<Item = Result<Sale, SnapshotError>> {
        // Neighbours follow each other, so the last postcode is often the next one's.
        let mut last: Option<(u64, Postcode)> = None;
        self.sales.iter().map(move |found| {
            let packed = PackedSale::new(&found.bytes);
            let number = packed.postcode();
            let known = last.take().filter(|(of, _)| *of == number);
            let postcode = match known {
                Some((_, postcode)) => Some(postcode),
                None => postcode::unpack(number),
            };
            last = postcode.clone().map(|postcode| (number, postcode));
            self.unpack(found, postcode)
        })
    }

    /// Returns whether a sale of this id was found.
    pub fn contains(&self, id: u64) -> bool {
        self.sales.iter().any(|found| found.id == id)
    }

    /// Returns the first sale of an id.
    ///
    /// # Errors
    /// The row is damaged.
    pub fn find(&self, id: u64) -> Result<Option<Sale>, SnapshotError> {
        let found = self.sales.iter().find(|found| found.id == id);
        let sale = found.map(|found| {
            let number = PackedSale::new(&found.bytes).postcode();
            self.unpack(found, postcode::unpack(number))
        });
        sale.transpose()
    }

    fn unpack(&self, found: &Candidate, postcode: Option<Postcode>) -> Result<Sale, SnapshotError> {
        let distance = (found.distance_squared as f64).sqrt();
        let packed = PackedSale::new(&found.bytes);
        postcode
            .and_then(|postcode| packed.unpack_at(postcode, found.cell, self.before, distance))
            .ok_or(SnapshotError::Damaged { table: "sales" })
    }
}
