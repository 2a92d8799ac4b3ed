//! Messages of protobuf, read without their schema.

/// Returns the contents of all fields of this number that are messages, texts or bytes, in order.
///
/// # Panics
/// The bytes are not a message.
#[track_caller]
pub fn fields(message: &[u8], number: u64) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut rest = message;
    while !rest.is_empty() {
        let tag = varint(&mut rest);
        let length = match tag & 7 {
            0 => {
                varint(&mut rest);
                continue;
            }
            1 => 8,
            2 => usize::try_from(varint(&mut rest)).unwrap(),
            5 => 4,
            kind => panic!("a field of the kind {kind}"),
        };
        let (content, after) = rest.split_at(length);
        rest = after;
        if tag >> 3 == number && tag & 7 == 2 {
            found.push(content);
        }
    }
    found
}

/// Takes a number of seven bits a byte.
fn varint(rest: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first().unwrap();
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return number;
        }
    }
    panic!("a number of more than 64 bits")
}
