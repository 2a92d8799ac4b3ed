//! Errors of a file of tiles.

use std::path::PathBuf;

/// The reason why a file cannot be the console's map.
#[derive(Debug, thiserror::Error)]
#[error("the map {path} cannot be used: {flaw}")]
pub struct TileArchiveError {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    #[source]
    pub flaw: Flaw,
}

/// The flaw of a file of tiles.
#[derive(Debug, thiserror::Error)]
pub enum Flaw {
    /// It cannot be read.
    #[error("it cannot be read: {0}. Name a PMTiles file that this user may read")]
    Open(std::io::Error),
    /// It is of another format.
    #[error("it is not a PMTiles file. `pmtiles convert` makes one of an MBTiles file")]
    NotPmtiles,
    /// It is of another version.
    #[error("it is of version {0} of PMTiles. `pmtiles convert` makes a file of version 3")]
    Version(u8),
    /// It ends too early.
    #[error("it has {bytes} bytes of the {needed} that its header names. Copy it again")]
    Truncated {
        /// Its bytes.
        bytes: u64,
        /// The end of its last section.
        needed: u64,
    },
    /// A part cannot be read.
    #[error("{part} is damaged. Copy the file again, and try `pmtiles verify` on it")]
    Damaged {
        /// The part.
        part: &'static str,
    },
    /// Its compression is none that browsers unpack.
    #[error("it is compressed with {0}, which browsers do not read. Make it with gzip")]
    Compression(&'static str),
    /// Its tiles are of a kind that is not drawn.
    #[error("its tiles are of kind {0}. Make it of vector tiles (MVT), or of PNG, JPEG or WebP")]
    Kind(u8),
}

/// The reason why a range of a file of tiles cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TileReadError {
    /// No range, or none of the file.
    #[error("a map is read by ranges within its file, of at most 8 MiB")]
    Range,
    /// The disk took too long.
    #[error("the disk of the map does not respond in time")]
    Late,
    /// The disk failed, or the file was cut.
    #[error("the map cannot be read: {0}")]
    Disk(std::io::Error),
}
