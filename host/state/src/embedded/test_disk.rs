//! A simulated disk that fails, for tests.
//!
//! The disk keeps written and synced bytes apart. A failed sync leaves any part of the writes since
//! the last one, as a real disk does. A crash does the same.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use redb::{Builder, Database, DatabaseError, StorageBackend};

use super::error::opening;
use super::read_only_fallback::{ReadAt, ReadOnlyFallback};
use super::source::Source;
use super::state_files::{StateFiles, Storage};
use crate::{PathMoved, StateError};

/// The kind of failure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum DiskFault {
    /// Nothing more can be written.
    Full,
    /// Writes do not reach the disk.
    Sync,
    /// Writes reach the disk, and their sync fails all the same.
    Unconfirmed,
    /// A sync neither ends nor fails.
    Stall,
}

/// One file.
#[derive(Debug, Default, Clone)]
struct DiskFile {
    /// The bytes that a read returns.
    written: Vec<u8>,
    /// The bytes that survive a loss of power.
    synced: Vec<u8>,
    /// Writes since the last sync.
    pending: Vec<(usize, Vec<u8>)>,
}

impl DiskFile {
    /// Makes all writes durable.
    fn persist(&mut self) {
        self.pending.clear();
        self.synced = self.written.clone();
    }
}

/// The files that an injected failure affects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Files {
    Both,
    State,
    Log,
}

#[derive(Debug, Clone)]
struct ArmedFault {
    fault: DiskFault,
    files: Files,
    /// Writes and syncs of those files until it begins.
    after: u32,
}

#[derive(Debug, Default, Clone)]
struct DiskState {
    /// The state's file and its log.
    plates: [DiskFile; 2],
    /// The fault that is to come, if any. It lasts until it is lifted.
    armed: Option<ArmedFault>,
    /// Writes and syncs that failed.
    failures: u32,
    random: u64,
}

impl DiskState {
    /// Returns the error with which a write or sync of a file fails now, if it does.
    fn fails(&mut self, plate: usize, sync: bool) -> Option<io::Error> {
        let armed = self.armed.as_mut()?;
        let hit = match armed.files {
            Files::Both => true,
            Files::State => plate == 0,
            Files::Log => plate == 1,
        };
        if !hit {
            return None;
        }
        if armed.after > 0 {
            armed.after -= 1;
            return None;
        }
        let error: io::Error = match armed.fault {
            DiskFault::Stall if sync => io::ErrorKind::WouldBlock.into(),
            DiskFault::Full if !sync => io::ErrorKind::StorageFull.into(),
            DiskFault::Sync if sync => io::Error::other("the disk does not answer"),
            DiskFault::Unconfirmed if sync => io::ErrorKind::TimedOut.into(),
            _ => return None,
        };
        self.failures += 1;
        Some(error)
    }

    /// Draws a number from 0 to 3.
    fn chance(&mut self) -> u64 {
        // A xorshift is random enough to choose the surviving writes.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % 4
    }

    /// Loses a part of the writes since the last sync of a file: half are lost, and a quarter are
    /// torn.
    fn lose(&mut self, plate: usize) {
        for (offset, data) in std::mem::take(&mut self.plates[plate].pending) {
            let surviving = match self.chance() {
                0 => data.len(),
                1 => data.len() / 2,
                _ => 0,
            };
            put(&mut self.plates[plate].synced, offset, &data[..surviving]);
        }
        let plate = &mut self.plates[plate];
        plate.written = plate.synced.clone();
    }
}

fn put(bytes: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[offset..end].copy_from_slice(data);
}

/// One of the disk's files.
#[derive(Debug, Clone)]
pub(super) struct Disk {
    platters: Arc<Mutex<DiskState>>,
    plate: usize,
}

impl Disk {
    pub(super) fn new(random: u64) -> Self {
        Disk::of(DiskState {
            random: random | 1,
            ..DiskState::default()
        })
    }

    fn of(platters: DiskState) -> Self {
        Disk {
            platters: Arc::new(Mutex::new(platters)),
            plate: 0,
        }
    }

    /// Returns a state's source on this disk. Its log is not taken over by time, which a test could
    /// not foresee.
    pub(super) fn source(&self) -> Source {
        let mut source = Source::of(Path::new("simulated"), self.clone());
        source.take_over_after = Duration::from_secs(3_600);
        source
    }

    /// Returns the log of units on the same disk.
    pub(super) fn log(&self) -> Disk {
        Disk {
            platters: Arc::clone(&self.platters),
            plate: 1,
        }
    }

    fn platters(&self) -> MutexGuard<'_, DiskState> {
        self.platters.lock().unwrap()
    }

    fn with<T>(&self, action: impl FnOnce(&mut DiskFile) -> T) -> T {
        action(&mut self.platters().plates[self.plate])
    }

    pub(super) fn arm(&self, fault: DiskFault, after: u32) {
        self.arm_on(Files::Both, fault, after);
    }

    /// Arms a fault as [`Disk::arm`] does, for some files alone.
    pub(super) fn arm_on(&self, files: Files, fault: DiskFault, after: u32) {
        self.platters().armed = Some(ArmedFault {
            fault,
            files,
            after,
        });
    }

    /// Copies the disk without its log.
    pub(super) fn without_log(&self) -> Disk {
        let mut copy = self.platters().clone();
        copy.plates[1] = DiskFile::default();
        Disk::of(copy)
    }

    /// Copies the disk with the log of another.
    pub(super) fn with_log_of(&self, other: &Disk) -> Disk {
        let mut mixed = self.platters().clone();
        mixed.plates[1] = other.platters().plates[1].clone();
        Disk::of(mixed)
    }

    /// Damages the log's first block.
    pub(super) fn damage_log(&self) {
        let log = self.log();
        log.write(4_096 + 100, &[0xff]).unwrap();
        log.sync_data().unwrap();
    }

    /// Returns how many writes and syncs failed.
    pub(super) fn failures(&self) -> u32 {
        self.platters().failures
    }

    pub(super) fn lift(&self) {
        self.platters().armed = None;
    }

    /// Copies the disk as a loss of power at this moment would leave it.
    pub(super) fn after_a_crash(&self) -> Disk {
        let mut copy = self.platters().clone();
        copy.armed = None;
        copy.lose(0);
        copy.lose(1);
        Disk::of(copy)
    }
}

impl StateFiles for Disk {
    fn check(&self) -> Result<(), PathMoved> {
        Ok(())
    }

    fn drop_page_cache(&self) -> Result<(), StateError> {
        Ok(())
    }

    fn open_database(&self, builder: &mut Builder) -> Result<Database, DatabaseError> {
        builder.create_with_backend(self.clone())
    }

    fn open_database_read_only(&self, builder: &mut Builder) -> Result<Database, StateError> {
        let fallback = ReadOnlyFallback::new(self.clone()).map_err(opening)?;
        builder.create_with_backend(fallback).map_err(opening)
    }

    fn open_log(&self) -> io::Result<Storage> {
        Ok(Box::new(self.log()))
    }

    fn open_log_read_only(&self) -> io::Result<Option<Storage>> {
        Ok(Some(Box::new(ReadOnlyFallback::new(self.log())?)))
    }
}

impl ReadAt for Disk {
    fn len(&self) -> io::Result<u64> {
        StorageBackend::len(self)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        StorageBackend::read(self, offset, out)
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.with(|plate| plate.written.len() as u64))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap();
        self.with(|plate| {
            let found = plate.written.get(start..start + out.len());
            out.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        if let Some(error) = self.platters().fails(self.plate, false) {
            return Err(error);
        }
        let len = usize::try_from(len).unwrap();
        self.with(|plate| {
            plate.written.resize(len, 0);
            plate.synced.resize(len, 0);
            plate.pending.retain(|(at, data)| at + data.len() <= len);
        });
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut platters = self.platters();
        while let Some(error) = platters.fails(self.plate, true) {
            if error.kind() == io::ErrorKind::WouldBlock {
                drop(platters);
                std::thread::sleep(Duration::from_millis(5));
                platters = self.platters();
                continue;
            }
            match error.kind() {
                io::ErrorKind::TimedOut => platters.plates[self.plate].persist(),
                _ => platters.lose(self.plate),
            }
            return Err(error);
        }
        platters.plates[self.plate].persist();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).unwrap();
        let error = self.platters().fails(self.plate, false);
        // A write for which there is no room may have been done in part.
        let length = if error.is_some() {
            data.len() / 2
        } else {
            data.len()
        };
        let data = &data[..length];
        self.with(|plate| {
            put(&mut plate.written, offset, data);
            plate.pending.push((offset, data.to_vec()));
        });
        error.map_or(Ok(()), Err)
    }
}
