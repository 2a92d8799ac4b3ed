//! Little-endian numbers of any width up to eight bytes.

/// Appends the lowest `WIDTH` bytes of a number that fits in them.
pub(crate) fn put<const WIDTH: usize>(out: &mut Vec<u8>, number: u64) {
    debug_assert!(
        WIDTH == 8 || number >> (8 * WIDTH) == 0,
        "{number} in {WIDTH} bytes"
    );
    out.extend_from_slice(&number.to_le_bytes()[..WIDTH]);
}

/// Reads `WIDTH` bytes at `at`. The caller has checked the length.
#[inline]
pub(crate) fn get<const WIDTH: usize>(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number[..WIDTH].copy_from_slice(&bytes[at..at + WIDTH]);
    u64::from_le_bytes(number)
}

/// Reads from the front of a row of unknown soundness.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    /// Returns the next number, or `None` past the end.
    pub(crate) fn next<const WIDTH: usize>(&mut self) -> Option<u64> {
        let (head, tail) = self.0.split_at_checked(WIDTH)?;
        self.0 = tail;
        Some(get::<WIDTH>(head, 0))
    }
}

/// Days that two bytes hold: 1970-01-01 to 2149-06-05, less the last, which says "none".
pub(crate) const NO_DAY: u64 = 0xFFFF;

/// The last day that two bytes hold.
pub(crate) const LAST_DAY: domesday_registers::Day = domesday_registers::Day(NO_DAY as i32 - 1);

/// Packs a day into two bytes; `None` outside the range that they hold.
pub(crate) fn day_to_u16(day: domesday_registers::Day) -> Option<u64> {
    u64::try_from(day.0).ok().filter(|&d| d < NO_DAY)
}

/// Reads back [`day_to_u16`].
#[inline]
pub(crate) fn day_of_u16(packed: u64) -> domesday_registers::Day {
    domesday_registers::Day((packed & NO_DAY) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_registers::Day;

    #[test]
    fn numbers_come_back() {
        let mut out = Vec::new();
        put::<3>(&mut out, 0xABCDEF);
        put::<5>(&mut out, 999_999_999_999);
        put::<8>(&mut out, u64::MAX);
        let mut reader = Reader(&out);
        assert_eq!(reader.next::<3>(), Some(0xABCDEF));
        assert_eq!(reader.next::<5>(), Some(999_999_999_999));
        assert_eq!(reader.next::<8>(), Some(u64::MAX));
        assert_eq!(reader.next::<1>(), None);
    }

    #[test]
    fn days_outside_two_bytes_are_refused() {
        assert_eq!(day_to_u16(Day(-1)), None);
        assert_eq!(day_to_u16(Day(0xFFFF)), None);
        assert_eq!(day_to_u16(Day(0xFFFE)).map(day_of_u16), Some(Day(0xFFFE)));
    }
}
