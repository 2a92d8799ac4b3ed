//! Read-only fallback: serves jobs and results while the store cannot be written.
//!
//! A database that was not closed well is repaired when it is opened, which writes. Here those
//! writes stay in memory, laid over the file's own bytes, and the file is left as it is.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;

/// Bytes of a piece, the unit in which writes are kept in memory.
const PIECE: usize = 4096;

/// Bytes that are read where nothing was written.
pub(super) trait ReadAt: fmt::Debug + Send + Sync + 'static {
    /// Returns the number of bytes.
    fn len(&self) -> io::Result<u64>;
    /// Fills `out` with the bytes from `offset` on; there are as many.
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;
}

impl ReadAt for std::fs::File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        use std::os::unix::fs::FileExt;
        self.read_exact_at(out, offset)
    }
}

/// Bytes to read, and the writes laid over them.
#[derive(Debug)]
pub(super) struct ReadOnlyFallback<B> {
    below: B,
    over: Mutex<Overlay>,
}

#[derive(Debug)]
struct Overlay {
    len: u64,
    /// Bytes below that still count. Bytes that were cut off once are zero.
    below: u64,
    /// Pieces by their number.
    pieces: BTreeMap<u64, Box<[u8; PIECE]>>,
}

impl<B: ReadAt> ReadOnlyFallback<B> {
    pub(super) fn new(below: B) -> io::Result<Self> {
        let len = below.len()?;
        let over = Overlay {
            len,
            below: len,
            pieces: BTreeMap::new(),
        };
        Ok(ReadOnlyFallback {
            below,
            over: Mutex::new(over),
        })
    }

    fn over(&self) -> MutexGuard<'_, Overlay> {
        self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fills `out` from the file below, and with zeros beyond its end.
    fn read_below(&self, over: &Overlay, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let available = over.below.saturating_sub(offset).min(out.len() as u64) as usize;
        let (found, none) = out.split_at_mut(available);
        none.fill(0);
        if found.is_empty() {
            return Ok(());
        }
        self.below.read(offset, found)
    }
}

/// Splits `length` bytes from `offset` on at the borders of pieces. Each part has its piece's
/// number, its beginning in the piece, and its range in the whole.
fn parts(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut position = 0;
    std::iter::from_fn(move || {
        if position == length {
            return None;
        }
        let at = offset + position as u64;
        let begin = (at % PIECE as u64) as usize;
        let part = position..length.min(position + PIECE - begin);
        position = part.end;
        Some((at / PIECE as u64, begin, part))
    })
}

impl<B: ReadAt> StorageBackend for ReadOnlyFallback<B> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.over().len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let over = self.over();
        self.read_below(&over, offset, out)?;
        for (number, begin, part) in parts(offset, out.len()) {
            if let Some(piece) = over.pieces.get(&number) {
                let end = begin + part.len();
                out[part].copy_from_slice(&piece[begin..end]);
            }
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut over = self.over();
        over.len = len;
        over.below = over.below.min(len);
        over.pieces
            .retain(|number, _| number * (PIECE as u64) < len);
        if let Some(mut last) = over.pieces.last_entry()
            && (last.key() + 1) * PIECE as u64 > len
        {
            let rest = (len - last.key() * PIECE as u64) as usize;
            last.get_mut()[rest..].fill(0);
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut over = self.over();
        for (number, begin, part) in parts(offset, data.len()) {
            if !over.pieces.contains_key(&number) {
                let mut piece = Box::new([0; PIECE]);
                self.read_below(&over, number * PIECE as u64, &mut piece[..])?;
                over.pieces.insert(number, piece);
            }
            if let Some(piece) = over.pieces.get_mut(&number) {
                let end = begin + part.len();
                piece[begin..end].copy_from_slice(&data[part]);
            }
        }
        over.len = over.len.max(offset + data.len() as u64);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl ReadAt for Vec<u8> {
        fn len(&self) -> io::Result<u64> {
            Ok(Vec::len(self) as u64)
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            let start = usize::try_from(offset).unwrap();
            out.copy_from_slice(&self[start..start + out.len()]);
            Ok(())
        }
    }

    #[derive(Debug, Clone)]
    enum Step {
        Write(usize, Vec<u8>),
        Length(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        const FAR: usize = 3 * PIECE;
        prop_oneof![
            (0..FAR, prop::collection::vec(1_u8.., 1..2 * PIECE))
                .prop_map(|(at, data)| Step::Write(at, data)),
            (0..FAR).prop_map(Step::Length),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn it_reads_as_a_file_that_was_written(
            below in prop::collection::vec(1_u8.., 0..2 * PIECE),
            steps in prop::collection::vec(step(), 0..12),
        ) {
            let fallback = ReadOnlyFallback::new(below.clone()).unwrap();
            let mut model = below;
            for step in steps {
                match step {
                    Step::Write(at, data) => {
                        model.resize(model.len().max(at + data.len()), 0);
                        model[at..at + data.len()].copy_from_slice(&data);
                        fallback.write(at as u64, &data).unwrap();
                    }
                    Step::Length(len) => {
                        model.resize(len, 0);
                        fallback.set_len(len as u64).unwrap();
                    }
                }
                let mut seen = vec![7; model.len()];
                fallback.read(0, &mut seen).unwrap();
                prop_assert_eq!(&seen, &model);
                prop_assert_eq!(StorageBackend::len(&fallback).unwrap(), model.len() as u64);
            }
        }
    }
}
