//! The part of a string that stands for itself.

/// Bytes that are looked at together.
const WIDTH: usize = 8;
const ONES: u64 = u64::from_le_bytes([1; WIDTH]);
const HIGH_BITS: u64 = u64::from_le_bytes([0x80; WIDTH]);

/// Returns the number of bytes before the first quote, backslash or control character, or that of
/// all bytes without any of them.
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<WIDTH>();
    for (at, word) in words.iter().enumerate() {
        let found = special_bytes(u64::from_le_bytes(*word));
        if found != 0 {
            return at * WIDTH + found.trailing_zeros() as usize / 8;
        }
    }
    let in_rest = rest.iter().position(|byte| is_special(*byte));
    bytes.len() - rest.len() + in_rest.unwrap_or(rest.len())
}

/// Returns whether a byte ends plain text.
fn is_special(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | ..=0x1f)
}

/// Returns a number whose lowest bit is the high bit of the first special byte, or 0 without one.
///
/// The borrow of a subtraction may mark a byte wrongly, but only after one that is special.
fn special_bytes(word: u64) -> u64 {
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH_BITS;
    let equal = |byte: u8| below(word ^ (ONES * byte as u64), 1);
    below(word, 0x20) | equal(b'"') | equal(b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_byte_is_judged_alike_at_each_place() {
        for byte in 0..=u8::MAX {
            for length in 1..40 {
                for at in 0..length {
                    let mut bytes = vec![b'a'; length];
                    bytes[at] = byte;
                    let expected = if is_special(byte) { at } else { length };
                    assert_eq!(plain_length(&bytes), expected, "{byte} at {at} of {length}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn plain_text_ends_where_the_first_special_byte_stands(
            bytes in prop::collection::vec(
                prop_oneof![
                    any::<u8>(),
                    prop::sample::select(&b"\x1f\x20\x21\"#[\\]\x7f\x80\xff"[..]),
                ],
                0..64,
            )
        ) {
            let first = bytes.iter().position(|byte| is_special(*byte));
            prop_assert_eq!(plain_length(&bytes), first.unwrap_or(bytes.len()));
        }
    }
}
