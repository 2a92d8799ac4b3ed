//! A run: seeds in order in one file, one after the other in postcard's encoding.

use super::{Scratch, Seed};
use crate::build::BuildError;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::marker::PhantomData;
use std::path::PathBuf;

/// Bytes that go to and from the disk at once.
const CHUNK: usize = 256 << 10;

/// A finished run. Dropping it removes its file.
pub(crate) struct Run {
    path: PathBuf,
}

impl Drop for Run {
    fn drop(&mut self) {
        // The scratch folder takes with it whatever stays.
        let _ = fs::remove_file(&self.path);
    }
}

pub(super) struct RunWriter {
    run: Run,
    out: BufWriter<File>,
    /// Used again for every seed.
    encoded: Vec<u8>,
}

impl RunWriter {
    pub(super) fn create(scratch: &Scratch) -> Result<RunWriter, BuildError> {
        let path = scratch.file();
        let file = File::create(&path).map_err(BuildError::io(&path))?;
        Ok(RunWriter {
            run: Run { path },
            out: BufWriter::with_capacity(CHUNK, file),
            encoded: Vec::new(),
        })
    }

    pub(super) fn write<T: Seed>(&mut self, seed: &T) -> Result<(), BuildError> {
        self.encoded.clear();
        let unwritten = BuildError::io(&self.run.path);
        let encoded = std::mem::take(&mut self.encoded);
        match postcard::to_extend(seed, encoded) {
            Ok(encoded) => self.encoded = encoded,
            Err(error) => return Err(unwritten(io::Error::other(error))),
        }
        self.out.write_all(&self.encoded).map_err(unwritten)
    }

    pub(super) fn finish(mut self) -> Result<Run, BuildError> {
        self.out.flush().map_err(BuildError::io(&self.run.path))?;
        Ok(self.run)
    }
}

/// Reads a run from the beginning.
pub(super) struct RunReader<T> {
    path: PathBuf,
    /// Closed at the end of the run, which frees the disk.
    file: Option<File>,
    buffer: Vec<u8>,
    start: usize,
    seeds: PhantomData<T>,
}

impl<T: Seed> RunReader<T> {
    pub(super) fn open(run: &Run) -> Result<RunReader<T>, BuildError> {
        Ok(RunReader {
            path: run.path.clone(),
            file: Some(File::open(&run.path).map_err(BuildError::io(&run.path))?),
            buffer: Vec::with_capacity(CHUNK),
            start: 0,
            seeds: PhantomData,
        })
    }

    /// Returns the next seed; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<T>, BuildError> {
        loop {
            let bytes = &self.buffer[self.start..];
            match postcard::take_from_bytes::<T>(bytes) {
                Ok((seed, rest)) => {
                    self.start = self.buffer.len() - rest.len();
                    return Ok(Some(seed));
                }
                Err(postcard::Error::DeserializeUnexpectedEnd) if self.file.is_some() => {
                    self.fill()?;
                }
                Err(_) if bytes.is_empty() => return Ok(None),
                Err(error) => {
                    let damaged = io::Error::new(io::ErrorKind::InvalidData, error);
                    return Err(BuildError::io(&self.path)(damaged));
                }
            }
        }
    }

    /// Reads the next chunk after the rest of the previous one.
    fn fill(&mut self) -> Result<(), BuildError> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let Some(file) = self.file.as_mut() else {
            return Ok(());
        };
        let read = file
            .take(CHUNK as u64)
            .read_to_end(&mut self.buffer)
            .map_err(BuildError::io(&self.path))?;
        if read == 0 {
            self.file = None;
        }
        Ok(())
    }
}
