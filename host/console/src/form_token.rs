//! The token of a session's forms, written otherwise in each response.
//!
//! A compressed page is shorter where it says something twice. Whoever can put text into a page and
//! measure its length would learn a token that stays the same. A token under a random pad is
//! another text each time.

/// Bytes of a token, and of its pad.
const BYTES: usize = 16;

/// Returns a token under a pad: the pad, and the token combined with it. The token is hexadecimal.
pub fn mask(token: &str, pad: [u8; BYTES]) -> Option<String> {
    let mut bytes = [0; BYTES];
    hex::decode_to_slice(token, &mut bytes).ok()?;
    let masked = combine(bytes, pad);
    Some(hex::encode([pad, masked].concat()))
}

/// Reports whether a text is a token under some pad.
pub fn is_masked(masked: &str, token: &str) -> bool {
    let mut both = [0; 2 * BYTES];
    if hex::decode_to_slice(masked, &mut both).is_err() {
        return false;
    }
    let (mut pad, mut rest) = ([0; BYTES], [0; BYTES]);
    pad.copy_from_slice(&both[..BYTES]);
    rest.copy_from_slice(&both[BYTES..]);
    hex::encode(combine(rest, pad)) == token
}

fn combine(one: [u8; BYTES], other: [u8; BYTES]) -> [u8; BYTES] {
    std::array::from_fn(|at| one[at] ^ other[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "00112233445566778899aabbccddeeff";

    #[test]
    fn a_token_is_another_text_under_each_pad_and_known_by_all() {
        let (one, other) = (mask(TOKEN, [7; BYTES]), mask(TOKEN, [9; BYTES]));
        let (one, other) = (one.unwrap(), other.unwrap());
        assert_ne!(one, other);
        for masked in [&one, &other] {
            assert!(!masked.contains(TOKEN), "{masked}");
            assert!(is_masked(masked, TOKEN));
            assert!(!is_masked(masked, "10112233445566778899aabbccddeeff"));
        }
    }

    #[test]
    fn other_texts_are_no_token() {
        for text in ["", TOKEN, "of-another-session", &"0".repeat(64)] {
            assert!(!is_masked(text, TOKEN), "{text}");
        }
        assert_eq!(mask("no token", [0; BYTES]), None);
    }
}
