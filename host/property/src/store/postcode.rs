//! Postcodes as numbers that order as their sectors nest.

use domesday_registers::Postcode;
use std::ops::Range;

/// Largest packed postcode, exclusive: 37⁴ outward codes of up to four characters, times
/// ten digits and two letters inward. It fits in five bytes.
#[cfg(test)]
const END: u64 = 37 * 37 * 37 * 37 * UNITS_OF_DISTRICT;
/// Units that a district can have: ten sectors.
pub(crate) const UNITS_OF_DISTRICT: u64 = 10 * UNITS_OF_SECTOR;
/// Units that a sector can have: two letters.
pub(crate) const UNITS_OF_SECTOR: u64 = 26 * 26;

/// Returns the number of a postcode.
pub(crate) fn pack(postcode: &Postcode) -> u64 {
    let text = postcode.as_str().as_bytes();
    let inward = text.len() - 3;
    let mut outward = 0;
    for place in 0..4 {
        let digit = match text.get(place).filter(|_| place < inward - 1) {
            Some(&c @ b'0'..=b'9') => u64::from(c - b'0') + 1,
            Some(&c) => u64::from(c.wrapping_sub(b'A') % 26) + 11,
            None => 0,
        };
        outward = outward * 37 + digit;
    }
    let letter = |at: usize| u64::from(text[at].wrapping_sub(b'A') % 26);
    let digit = u64::from(text[inward].wrapping_sub(b'0') % 10);
    (outward * 10 + digit) * UNITS_OF_SECTOR + letter(inward + 1) * 26 + letter(inward + 2)
}

/// Reads back [`pack`], or returns `None` for a number of no postcode.
pub(crate) fn unpack(packed: u64) -> Option<Postcode> {
    let mut outward = packed / UNITS_OF_DISTRICT;
    let mut outward_text = [b' '; 4];
    let mut length = 4;
    for place in (0..4).rev() {
        outward_text[place] = match (outward % 37) as u8 {
            0 => {
                length = place;
                b' '
            }
            digit @ 1..=10 => b'0' + digit - 1,
            letter => b'A' + letter - 11,
        };
        outward /= 37;
    }
    let mut text = [0; 7];
    text[..length].copy_from_slice(&outward_text[..length]);
    text[length] = b'0' + (packed / UNITS_OF_SECTOR % 10) as u8;
    text[length + 1] = b'A' + (packed / 26 % 26) as u8;
    text[length + 2] = b'A' + (packed % 26) as u8;
    Postcode::of_compact(&text[..length + 3])
}

/// Units that a row of table `postcodes` can have: half a sector, so that rows fill pages.
const UNITS_OF_ROW: u64 = UNITS_OF_SECTOR / 2;

/// Returns the key of a postcode's row in table `postcodes`, and its unit within the row.
pub(crate) fn row(packed: u64) -> (u64, u64) {
    (packed / UNITS_OF_ROW, packed % UNITS_OF_ROW)
}

/// Returns the keys of a sector's rows in table `postcodes`.
pub(crate) fn rows_of_sector(packed: u64) -> Range<u64> {
    let rows = UNITS_OF_SECTOR / UNITS_OF_ROW;
    let sector = packed / UNITS_OF_SECTOR;
    sector * rows..(sector + 1) * rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_comes_back() {
        for text in [
            "M1 1AE", "W1A 1AA", "B33 8TH", "CR2 6XH", "EC1A 1BB", "DN55 1PT", "GIR 0AA",
            "ZZ99 9ZZ",
        ] {
            let postcode = Postcode::parse(text).unwrap();
            let packed = pack(&postcode);
            assert!(packed < END && END < 1 << 40, "{text}");
            assert_eq!(unpack(packed), Some(postcode), "{text}");
        }
        assert_eq!(unpack(0), None);
        assert_eq!(unpack((1 << 40) - 1), None);
    }

    #[test]
    fn a_sector_is_two_rows() {
        let packed = |text| pack(&Postcode::parse(text).unwrap());
        let row = |text| row(packed(text)).0;
        assert_eq!(row("LE10 0AA"), row("LE10 0MZ"));
        assert_eq!(row("LE10 0NA"), row("LE10 0ZZ"));
        assert_eq!(row("LE10 0AA") + 1, row("LE10 0NA"));
        assert_eq!(row("LE10 0ZZ") + 1, row("LE10 1AA"));
        assert_ne!(row("LE1 0AA"), row("LE10 0AA"));
    }
}
