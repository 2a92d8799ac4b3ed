//! A simulated disk that fails, for tests.
//!
//! The disk keeps apart what was written from what was synced. A failed sync leaves any part of
//! what was written since the last one, as a real one does, and so does a crash.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use redb::StorageBackend;

use super::EmbeddedState;
use super::aside::Below;
use super::file::Source;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fault {
    /// Nothing more can be written.
    Full,
    /// What was written does not reach the disk.
    Sync,
}

#[derive(Debug, Default)]
struct Platters {
    /// What is read.
    written: Vec<u8>,
    /// What a loss of power leaves.
    synced: Vec<u8>,
    /// Writes since the last sync.
    pending: Vec<(usize, Vec<u8>)>,
    /// Operations until the fault begins, if one is to come. It lasts until it is lifted.
    armed: Option<(Fault, u32)>,
    random: u64,
}

impl Platters {
    /// Whether a write or sync fails now.
    fn fails(&mut self, sync: bool) -> Option<io::Error> {
        let (fault, left) = self.armed.as_mut()?;
        if *left > 0 {
            *left -= 1;
            return None;
        }
        match fault {
            Fault::Full if !sync => Some(io::ErrorKind::StorageFull.into()),
            Fault::Sync if sync => Some(io::Error::other("the disk does not answer")),
            _ => None,
        }
    }

    fn lose(&mut self) {
        for (offset, data) in std::mem::take(&mut self.pending) {
            // A xorshift is random enough to choose what survives.
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            if self.random.is_multiple_of(2) {
                put(&mut self.synced, offset, &data);
            }
        }
        self.written = self.synced.clone();
    }
}

fn put(bytes: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[offset..end].copy_from_slice(data);
}

#[derive(Debug, Clone)]
pub(super) struct Disk(Arc<Mutex<Platters>>);

impl Disk {
    pub(super) fn new(random: u64) -> Self {
        Disk(Arc::new(Mutex::new(Platters {
            random: random | 1,
            ..Platters::default()
        })))
    }

    fn platters(&self) -> MutexGuard<'_, Platters> {
        self.0.lock().unwrap()
    }

    pub(super) fn open(&self) -> EmbeddedState {
        let mut source = Source::new(Path::new("simulated"));
        source.disk = Some(self.clone());
        EmbeddedState::open_source(source).unwrap()
    }

    pub(super) fn arm(&self, fault: Fault, after: u32) {
        self.platters().armed = Some((fault, after));
    }

    pub(super) fn lift(&self) {
        self.platters().armed = None;
    }

    /// Another disk with what a loss of power at this moment leaves on this one.
    pub(super) fn after_a_crash(&self) -> Disk {
        let platters = self.platters();
        let mut left = Platters {
            written: Vec::new(),
            synced: platters.synced.clone(),
            pending: platters.pending.clone(),
            armed: None,
            random: platters.random,
        };
        left.lose();
        Disk(Arc::new(Mutex::new(left)))
    }
}

impl Below for Disk {
    fn len(&self) -> io::Result<u64> {
        StorageBackend::len(self)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        StorageBackend::read(self, offset, out)
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.platters().written.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let platters = self.platters();
        let start = usize::try_from(offset).unwrap();
        let found = platters.written.get(start..start + out.len());
        out.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut platters = self.platters();
        if let Some(error) = platters.fails(false) {
            return Err(error);
        }
        let len = usize::try_from(len).unwrap();
        platters.written.resize(len, 0);
        platters.synced.resize(len, 0);
        platters.pending.retain(|(at, data)| at + data.len() <= len);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut platters = self.platters();
        if let Some(error) = platters.fails(true) {
            platters.lose();
            return Err(error);
        }
        platters.pending.clear();
        platters.synced = platters.written.clone();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut platters = self.platters();
        let offset = usize::try_from(offset).unwrap();
        let error = platters.fails(false);
        // A write for which there is no room may have been done in part.
        let done = if error.is_some() {
            data.len() / 2
        } else {
            data.len()
        };
        let data = &data[..done];
        put(&mut platters.written, offset, data);
        platters.pending.push((offset, data.to_vec()));
        error.map_or(Ok(()), Err)
    }
}
