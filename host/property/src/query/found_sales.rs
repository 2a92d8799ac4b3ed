//! Sales that a search found, as they are in the file.

use crate::SnapshotError;
use crate::model::Sale;
use crate::store::cell::Cell;
use crate::store::postcode;
use crate::store::postcode::PackedPostcode;
use crate::store::sale::{CertificateFacts, PackedSale, WIDTH};
use domesday_registers::codes::{PropertyType, Tenure};
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

    /// Unpacks the sales one after the other. An error says that a row is damaged.
    pub fn iter(&self) -> impl Iterator<Item = Result<Sale, SnapshotError>> {
        let read = self.sales.iter().zip(self.postcodes());
        read.map(|(found, postcode)| self.unpack(found, postcode))
    }

    /// Returns the sales one after the other, each still packed. An error says that a row is
    /// damaged.
    pub fn iter_packed(&self) -> impl Iterator<Item = Result<FoundSale<'_>, SnapshotError>> {
        self.sales.iter().map(|found| {
            let packed = PackedSale::new(&found.bytes);
            let postcode = PackedPostcode::read(packed.postcode());
            let known = postcode.zip(packed.property_type());
            let (postcode, property_type) =
                known.ok_or(SnapshotError::Damaged { table: "sales" })?;
            Ok(FoundSale {
                found,
                packed,
                before: self.before,
                postcode,
                property_type,
            })
        })
    }

    /// Reads the postcode of each sale. `None`: damaged.
    fn postcodes(&self) -> impl Iterator<Item = Option<Postcode>> {
        // Neighbours follow each other, so the last postcode is often the next one's.
        let mut last: Option<(u64, Postcode)> = None;
        self.sales.iter().map(move |found| {
            let number = PackedSale::new(&found.bytes).postcode();
            let known = last.take().filter(|(of, _)| *of == number);
            let postcode = match known {
                Some((_, postcode)) => Some(postcode),
                None => postcode::unpack(number),
            };
            last = postcode.clone().map(|postcode| (number, postcode));
            postcode
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

/// A sale that a search found, read field by field. Its facts are those of the [`Sale`] that it
/// unpacks to.
pub struct FoundSale<'a> {
    found: &'a Candidate,
    packed: PackedSale<'a>,
    before: Day,
    postcode: PackedPostcode,
    property_type: PropertyType,
}

impl FoundSale<'_> {
    /// Returns the identifier.
    #[inline]
    pub fn id(&self) -> u64 {
        self.found.id
    }

    /// Returns the UPRN of the home, where it is known.
    #[inline]
    pub fn uprn(&self) -> Option<u64> {
        Some(self.packed.uprn()).filter(|&uprn| uprn != 0)
    }

    /// Returns the day of the sale.
    #[inline]
    pub fn day(&self) -> Day {
        self.found.day
    }

    /// Returns the price in pounds.
    #[inline]
    pub fn price_gbp(&self) -> u64 {
        self.packed.price_gbp()
    }

    /// Returns easting and northing in metres.
    #[inline]
    pub fn place(&self) -> (i32, i32) {
        let (corner_east, corner_north) = self.found.cell.corner();
        let (east, north) = self.packed.offset();
        (corner_east + east, corner_north + north)
    }

    /// Returns the distance from the middle of the search in metres.
    #[inline]
    pub fn distance_m(&self) -> f64 {
        (self.found.distance_squared as f64).sqrt()
    }

    /// Returns the postcode.
    #[inline]
    pub fn postcode(&self) -> PackedPostcode {
        self.postcode
    }

    /// Returns the type of dwelling.
    #[inline]
    pub fn property_type(&self) -> PropertyType {
        self.property_type
    }

    /// Returns the tenure, where the register states one.
    #[inline]
    pub fn tenure(&self) -> Option<Tenure> {
        self.packed.tenure()
    }

    /// Returns whether it was the first sale of a new home.
    #[inline]
    pub fn new_build(&self) -> bool {
        self.packed.new_build()
    }

    /// Returns whether it is of category A.
    #[inline]
    pub fn standard(&self) -> bool {
        self.packed.standard()
    }

    /// Returns whether the place is the home's own rather than its postcode's.
    #[inline]
    pub fn own_place(&self) -> bool {
        self.packed.own_place()
    }

    /// Returns the facts of the certificate that was known on the day of the search.
    #[inline]
    pub fn certificate(&self) -> Option<CertificateFacts> {
        self.packed.certificate(self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the bytes, damaged ones among them.
        #[test]
        fn a_found_sale_has_the_facts_that_it_unpacks_to(
            bytes in proptest::collection::vec(any::<u8>(), WIDTH),
            known_postcode in any::<bool>(),
            before in 0..70_000,
            distance_squared in 0_u64..5_000_000_000,
        ) {
            let mut bytes: [u8; WIDTH] = bytes.try_into().unwrap();
            if known_postcode {
                let number = postcode::pack(&Postcode::parse("LE10 0ZZ").unwrap());
                bytes[25..30].copy_from_slice(&number.to_le_bytes()[..5]);
            }
            let (packed, cell) = (PackedSale::new(&bytes), Cell::Grid(900, 600));
            let expected = packed.unpack(cell, Day(before), (distance_squared as f64).sqrt());
            let found = Candidate {
                distance_squared, day: packed.day(), id: packed.id(), cell, bytes,
            };
            let found = FoundSales::new(Day(before), vec![found.clone(), found]);
            let read: Vec<_> = found.iter_packed().map(Result::ok).collect();
            prop_assert_eq!(read.len(), 2);
            for sale in read {
                let facts = sale.map(|sale| {
                    let certificate = sale.certificate();
                    assert_eq!(PackedPostcode::read(packed.postcode()), Some(sale.postcode()));
                    Sale {
                        id: sale.id(),
                        uprn: sale.uprn(),
                        day: sale.day(),
                        price_gbp: sale.price_gbp(),
                        easting: sale.place().0,
                        northing: sale.place().1,
                        postcode: postcode::unpack(packed.postcode()).unwrap(),
                        property_type: sale.property_type(),
                        subtype: certificate.and_then(|known| known.subtype),
                        tenure: sale.tenure(),
                        new_build: sale.new_build(),
                        standard: sale.standard(),
                        own_place: sale.own_place(),
                        floor_area_m2: certificate.and_then(|known| known.floor_area_m2),
                        habitable_rooms: certificate.and_then(|known| known.habitable_rooms),
                        age_band: certificate.and_then(|known| known.age_band),
                        rating: certificate.and_then(|known| known.rating),
                        attributes_day: certificate.map(|known| known.lodged),
                        distance_m: sale.distance_m(),
                    }
                });
                prop_assert_eq!(&facts, &expected);
            }
            let unpacked: Vec<_> = found.iter().map(Result::ok).collect();
            prop_assert_eq!(unpacked, vec![expected.clone(), expected]);
        }
    }
}
