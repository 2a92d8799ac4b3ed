//! The padding of the newest file: zeros behind its last receipt, which the next ones overwrite.

use std::io::{self, Read};

/// Returns the bytes without the zeros at their end.
pub(crate) fn without_padding(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte != 0);
    &bytes[..end.map_or(0, |end| end + 1)]
}

/// The bytes of a file of receipts before its first zero. A host writes in place of zeros, so that
/// a copy of its newest file could have zeros between two lines.
pub struct WrittenBytes<R>(Option<R>);

impl<R> WrittenBytes<R> {
    /// Reads from `source` up to its first zero.
    pub fn new(source: R) -> WrittenBytes<R> {
        WrittenBytes(Some(source))
    }
}

impl<R: Read> Read for WrittenBytes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(source) = &mut self.0 else {
            return Ok(0);
        };
        let read = source.read(buffer)?;
        match buffer[..read].iter().position(|byte| *byte == 0) {
            None => Ok(read),
            Some(end) => {
                self.0 = None;
                Ok(end)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_receipts_ends_before_the_first_zero() {
        let file: &[u8] = b"one\ntwo\n\0\0\0ee\nfour\n\0\0";
        for piece in [1, 5, 9, 100] {
            let mut copy = Vec::new();
            let mut source = WrittenBytes::new(file);
            let mut buffer = vec![1; piece];
            loop {
                let read = source.read(&mut buffer).unwrap();
                if read == 0 {
                    break;
                }
                copy.extend_from_slice(&buffer[..read]);
            }
            assert_eq!(copy, b"one\ntwo\n", "{piece}");
        }
    }
}
