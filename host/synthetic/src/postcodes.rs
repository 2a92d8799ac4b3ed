//! Postcodes in areas that do not exist.
//!
//! Royal Mail uses none of Q, V and X as the first letter of a postcode (programmers' guide). So
//! every area here begins with one of them. Areas of England and Wales begin with Q or V, and those
//! of the sliver of Scotland with XS. No area is XX (used for returns) or XM (used for letters to
//! Father Christmas).

use crate::SyntheticError;

/// Letters of the last two characters.
const UNIT_LETTERS: &[u8; 20] = b"ABDEFGHJLNPQRSTUWXYZ";

/// Postcode areas of England and Wales together.
const AREAS: u32 = 52;

/// Sectors to a district.
const SECTORS: u32 = 9;

/// Districts to an area.
const DISTRICTS: u32 = 99;

/// The area of the Scottish postcodes.
pub(crate) const SCOTTISH_AREA: &str = "XS";

/// Returns the letters of the area that an authority lies in. Neighbours in the list share one.
pub(crate) fn area(authority: u32, authorities: u32) -> String {
    let areas = authorities.min(AREAS);
    // The stride spreads a small world over the alphabet and keeps the areas in its order.
    let n = authority * areas / authorities * AREAS / areas;
    let letter = |n: u32| char::from(b'A' + (n % 26) as u8);
    format!("{}{}", if n < 26 { 'Q' } else { 'V' }, letter(n))
}

/// Hands out sectors of one area after another.
#[derive(Default)]
pub(crate) struct PostcodeAllocator {
    area: String,
    next: u32,
}

/// One postcode sector, as `QA1 2`, which hands out its units.
pub(crate) struct Sector {
    pub(crate) text: String,
    units: u32,
}

impl PostcodeAllocator {
    /// Returns the next free sector of an area; `new_town` begins a district.
    pub(crate) fn sector(
        &mut self,
        area: &str,
        new_town: bool,
        authorities: u32,
    ) -> Result<Sector, SyntheticError> {
        if self.area != area {
            self.area = area.to_owned();
            self.next = 0;
        } else if new_town && self.roomy() {
            self.next = self.next.next_multiple_of(SECTORS);
        }
        let n = self.next;
        if n >= SECTORS * DISTRICTS {
            return Err(SyntheticError::AreaFull {
                area: area.to_owned(),
                authorities,
            });
        }
        self.next += 1;
        Ok(Sector {
            text: format!("{area}{} {}", n / SECTORS + 1, n % SECTORS + 1),
            units: 0,
        })
    }

    /// Returns whether districts are still plentiful; a crowded area lets towns share one.
    fn roomy(&self) -> bool {
        self.next < SECTORS * DISTRICTS / 2
    }
}

impl Sector {
    /// Returns whether this many more units are left.
    pub(crate) fn has(&self, units: u32) -> bool {
        self.units + units <= 400
    }

    /// Returns the next postcode of the sector, as `QA1 2AB`.
    pub(crate) fn unit(&mut self) -> String {
        let n = (self.units % 400) as usize;
        self.units += 1;
        format!(
            "{}{}{}",
            self.text,
            char::from(UNIT_LETTERS[n / 20]),
            char::from(UNIT_LETTERS[n % 20])
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_area_begins_with_a_letter_that_no_postcode_begins_with() {
        let areas: std::collections::BTreeSet<String> = (0..318).map(|a| area(a, 318)).collect();
        assert_eq!(areas.len(), 52);
        assert!(areas.iter().all(|a| a.starts_with(['Q', 'V'])));
        assert_eq!((area(0, 6).as_str(), area(5, 6).as_str()), ("QA", "VR"));
    }

    #[test]
    fn towns_begin_districts_and_a_full_area_fails() {
        let mut book = PostcodeAllocator::default();
        let mut first = book.sector("QA", true, 1).unwrap();
        assert_eq!(
            (first.unit(), first.unit()),
            ("QA1 1AA".into(), "QA1 1AB".into())
        );
        assert_eq!(book.sector("QA", false, 1).unwrap().text, "QA1 2");
        assert_eq!(book.sector("QA", true, 1).unwrap().text, "QA2 1");
        assert_eq!(book.sector("QB", false, 1).unwrap().text, "QB1 1");
        assert!((0..900).any(|_| book.sector("QB", false, 1).is_err()));
    }
}
