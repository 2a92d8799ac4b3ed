//! Postcodes as numbers that order as their sectors nest.

use domesday_registers::Postcode;
use std::ops::Range;

/// Values of a character of an outward code: none, ten digits and 26 letters.
const CHARACTERS: u64 = 37;
/// The value of the letter A in an outward code. The values of digits are lower.
const LETTER_A: u64 = 11;
/// Largest packed postcode, exclusive: outward codes of up to four characters. It fits in five
/// bytes.
#[cfg(test)]
const END: u64 = CHARACTERS.pow(4) * UNITS_OF_DISTRICT;
/// The number of GIR 0AA, whose outward code has another form.
const GIR_0AA: u64 = outward_number([17, 19, 28, 0]) * UNITS_OF_DISTRICT;
/// Units that a district can have: ten sectors.
pub(crate) const UNITS_OF_DISTRICT: u64 = 10 * UNITS_OF_SECTOR;
/// Units that a sector can have: two letters.
pub(crate) const UNITS_OF_SECTOR: u64 = 26 * 26;

/// A postcode as a number, which tells what two postcodes share without their texts.
///
/// There is one number for each postcode, so that equal numbers are equal postcodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedPostcode(u64);

impl PackedPostcode {
    /// Returns the number of a postcode.
    pub fn new(postcode: &Postcode) -> PackedPostcode {
        PackedPostcode(pack(postcode))
    }

    /// Reads a number of the file; `None` for one of no postcode.
    #[inline]
    pub(crate) fn read(number: u64) -> Option<PackedPostcode> {
        is_valid(number).then_some(PackedPostcode(number))
    }

    /// Returns whether another postcode is of the same sector.
    #[inline]
    pub fn shares_sector(self, other: PackedPostcode) -> bool {
        self.0 / UNITS_OF_SECTOR == other.0 / UNITS_OF_SECTOR
    }

    /// Returns whether another postcode is of the same district.
    #[inline]
    pub fn shares_district(self, other: PackedPostcode) -> bool {
        self.0 / UNITS_OF_DISTRICT == other.0 / UNITS_OF_DISTRICT
    }

    /// Returns whether another postcode is of the same area.
    #[inline]
    pub fn shares_area(self, other: PackedPostcode) -> bool {
        self.area() == other.area()
    }

    /// Returns the number of the letters that the postcode begins with.
    fn area(self) -> u64 {
        let first_three = self.0 / UNITS_OF_DISTRICT / CHARACTERS;
        let first_two = first_three / CHARACTERS;
        if self.0 == GIR_0AA {
            first_three
        } else if first_two % CHARACTERS >= LETTER_A {
            first_two
        } else {
            first_two / CHARACTERS
        }
    }
}

/// Returns the number of an outward code, whose characters are given by their values.
const fn outward_number(characters: [u64; 4]) -> u64 {
    let [a, b, c, d] = characters;
    ((a * CHARACTERS + b) * CHARACTERS + c) * CHARACTERS + d
}

/// Returns whether a number is that of a postcode.
#[inline]
pub(crate) fn is_valid(packed: u64) -> bool {
    let outward = packed / UNITS_OF_DISTRICT;
    let first_two = outward / (CHARACTERS * CHARACTERS);
    let (a, b) = (first_two / CHARACTERS, first_two % CHARACTERS);
    let (c, d) = (outward / CHARACTERS % CHARACTERS, outward % CHARACTERS);
    let is_digit = |value: u64| (1..LETTER_A).contains(&value);
    // A9, A9A and A99, or else AA9, AA9A and AA99. Every inward code is one.
    let is_outward = (LETTER_A..CHARACTERS).contains(&a)
        && (is_digit(b) && d == 0 || b >= LETTER_A && is_digit(c));
    is_outward || packed == GIR_0AA
}

/// Returns the number of a postcode.
pub(crate) fn pack(postcode: &Postcode) -> u64 {
    let text = postcode.as_str().as_bytes();
    let inward = text.len() - 3;
    let mut outward = 0;
    for place in 0..4 {
        let digit = match text.get(place).filter(|_| place < inward - 1) {
            Some(&c @ b'0'..=b'9') => u64::from(c - b'0') + 1,
            Some(&c) => u64::from(c.wrapping_sub(b'A') % 26) + LETTER_A,
            None => 0,
        };
        outward = outward * CHARACTERS + digit;
    }
    let letter = |at: usize| u64::from(text[at].wrapping_sub(b'A') % 26);
    let digit = u64::from(text[inward].wrapping_sub(b'0') % 10);
    (outward * 10 + digit) * UNITS_OF_SECTOR + letter(inward + 1) * 26 + letter(inward + 2)
}

/// Reads back [`pack`], or returns `None` for a number of no postcode.
pub(crate) fn unpack(packed: u64) -> Option<Postcode> {
    if !is_valid(packed) {
        return None;
    }
    let mut outward = packed / UNITS_OF_DISTRICT;
    let mut outward_text = [b' '; 4];
    let mut length = 4;
    for place in (0..4).rev() {
        outward_text[place] = match (outward % CHARACTERS) as u8 {
            0 => {
                length = place;
                b' '
            }
            digit @ 1..=10 => b'0' + digit - 1,
            letter => b'A' + letter - 11,
        };
        outward /= CHARACTERS;
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
    use proptest::prelude::*;

    /// Returns a strategy of postcodes of every form. Few characters are drawn, so that two of them
    /// often share something.
    fn postcode() -> impl Strategy<Value = Postcode> {
        let outward =
            "[A-C][01]|[A-C][01][0A]|[A-C][AG][01]|[A-C][AG][01][01A]|[A-Z]{1,2}[0-9][0-9A-Z]?";
        let near = (outward, "[01][AZ][AZ]").prop_map(|(outward, inward)| outward + &inward);
        let gir = prop::sample::select(vec!["GIR0AA", "GI10AA", "GI1R0AA", "G10AA"]);
        prop_oneof![9 => near, 1 => gir.prop_map(str::to_owned)]
            .prop_filter_map("no postcode", |text| Postcode::parse(&text))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn numbers_share_what_their_texts_share(a in postcode(), b in postcode()) {
            let (x, y) = (PackedPostcode::new(&a), PackedPostcode::new(&b));
            prop_assert_eq!(x == y, a == b);
            prop_assert_eq!(x.shares_sector(y), a.sector() == b.sector());
            prop_assert_eq!(x.shares_district(y), a.district() == b.district());
            prop_assert_eq!(x.shares_area(y), a.area() == b.area());
        }

        #[test]
        fn a_postcode_has_one_valid_number(postcode in postcode()) {
            let packed = pack(&postcode);
            prop_assert_eq!(PackedPostcode::read(packed), Some(PackedPostcode(packed)));
            prop_assert_eq!(unpack(packed), Some(postcode));
        }

        #[test]
        fn a_valid_number_is_the_one_that_is_unpacked(
            outward in prop::array::uniform4(0..CHARACTERS + 2),
            inward in 0..UNITS_OF_DISTRICT,
            any in any::<u64>(),
        ) {
            let shaped = outward_number(outward) * UNITS_OF_DISTRICT + inward;
            for number in [shaped, any % END, any >> 24, any, GIR_0AA + any % 3] {
                let unpacked = unpack(number);
                prop_assert_eq!(is_valid(number), unpacked.is_some());
                prop_assert!(unpacked.is_none_or(|postcode| pack(&postcode) == number));
            }
        }
    }

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
