//! A PMTiles file of map tiles, which the console draws homes on.
//!
//! The file is checked when the server starts and stays open. Browsers read ranges of it, on
//! threads that may block. The number of reads at once and the length of each are bounded.

mod attribution;
mod error;
mod header;

pub use attribution::{Attribution, AttributionPart};
pub use error::{TileArchiveError, TileReadError};

use error::Flaw;
use flate2::read::GzDecoder;
use header::{HEADER_BYTES, Header, Section};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The longest range of one read. Tiles and directories are far smaller.
pub const MOST_BYTES: u64 = 8 << 20;
/// Reads at once.
const READS: usize = 8;
/// The time for a read, and that for its turn.
const TIME: Duration = Duration::from_secs(10);
/// The largest directory or metadata, unpacked.
const MOST_UNPACKED: u64 = 8 << 20;

/// An open file of tiles.
pub struct TileArchive {
    file: File,
    bytes: u64,
    header: Header,
    attribution: Attribution,
    tag: String,
    reads: Arc<Semaphore>,
}

impl TileArchive {
    /// Opens a file and checks its header, its root directory and its metadata. Blocks.
    ///
    /// # Errors
    /// The file cannot be read, is not a PMTiles file of version 3, is damaged, or has tiles that a
    /// browser cannot draw.
    pub fn open(path: &Path) -> Result<TileArchive, TileArchiveError> {
        read(path).map_err(|flaw| TileArchiveError {
            path: path.to_owned(),
            flaw,
        })
    }

    /// Returns the name that the file has in addresses of pages. Another file has another.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Returns the number of bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns whom the tiles' metadata names as their source.
    pub fn attribution(&self) -> &Attribution {
        &self.attribution
    }

    /// Reports whether the tiles cover a point, in degrees.
    pub fn covers(&self, longitude: f64, latitude: f64) -> bool {
        let [west, south, east, north] = self.header.bounds;
        (west..=east).contains(&longitude) && (south..=north).contains(&latitude)
    }

    /// Reads a range of the file.
    ///
    /// # Errors
    /// The range is empty, too long or beyond the file, or the disk failed or took too long.
    pub async fn read(self: &Arc<Self>, offset: u64, bytes: u64) -> Result<Vec<u8>, TileReadError> {
        let end = offset.checked_add(bytes);
        if bytes == 0 || bytes > MOST_BYTES || end.is_none_or(|end| end > self.bytes) {
            return Err(TileReadError::Range);
        }
        let turn = timeout(TIME, self.reads.clone().acquire_owned()).await;
        let turn = turn.map_err(|_| TileReadError::Late)?;
        let turn = turn.map_err(|_| TileReadError::Late)?;
        let archive = self.clone();
        let reading = tokio::task::spawn_blocking(move || {
            // A read that its client does not wait for still has its turn.
            let _turn = turn;
            read_at(&archive.file, offset, bytes)
        });
        let read = timeout(TIME, reading).await;
        let read = read.map_err(|_| TileReadError::Late)?;
        read.map_err(|_| TileReadError::Late)?
            .map_err(TileReadError::Disk)
    }
}

fn read(path: &Path) -> Result<TileArchive, Flaw> {
    let file = File::open(path).map_err(Flaw::Open)?;
    let status = file.metadata().map_err(Flaw::Open)?;
    if !status.is_file() {
        return Err(Flaw::NotPmtiles);
    }
    let bytes = status.len();
    let head = read_at(&file, 0, bytes.min(HEADER_BYTES)).map_err(Flaw::Open)?;
    let header = Header::parse(&head, bytes)?;
    let mut digest = Sha256::new();
    digest.update(&head);
    for number in [bytes.cast_signed(), status.mtime(), status.mtime_nsec()] {
        digest.update(number.to_le_bytes());
    }
    let mut unpack = |section: Section, part: &'static str| {
        if section.bytes > MOST_UNPACKED {
            return Err(Flaw::Damaged { part });
        }
        let packed = read_at(&file, section.offset, section.bytes).map_err(Flaw::Open)?;
        digest.update(&packed);
        unpack(packed, header.packed).ok_or(Flaw::Damaged { part })
    };
    let root = unpack(header.root, "the root directory")?;
    header.check_directory(&root)?;
    let metadata = unpack(header.metadata, "the metadata")?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&metadata).map_err(|_| Flaw::Damaged {
            part: "the metadata",
        })?;
    let attribution = metadata["attribution"].as_str().unwrap_or_default();
    Ok(TileArchive {
        bytes,
        attribution: Attribution::parse(attribution),
        tag: hex::encode(&digest.finalize()[..8]),
        header,
        file,
        reads: Arc::new(Semaphore::new(READS)),
    })
}

fn read_at(file: &File, offset: u64, bytes: u64) -> std::io::Result<Vec<u8>> {
    let length = usize::try_from(bytes).map_err(std::io::Error::other)?;
    let mut buffer = vec![0; length];
    file.read_exact_at(&mut buffer, offset)?;
    Ok(buffer)
}

/// Unpacks a directory or the metadata, up to a bound.
fn unpack(bytes: Vec<u8>, packed: bool) -> Option<Vec<u8>> {
    if !packed {
        return Some(bytes);
    }
    let mut unpacked = Vec::new();
    let mut reader = GzDecoder::new(bytes.as_slice()).take(MOST_UNPACKED + 1);
    reader.read_to_end(&mut unpacked).ok()?;
    (unpacked.len() as u64 <= MOST_UNPACKED).then_some(unpacked)
}

#[cfg(test)]
mod tests;
