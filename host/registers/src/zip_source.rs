//! One member of a zip archive as a reader that owns its file.
//!
//! The `zip` crate finds the members, but lends its archive to the member being read. A reader that
//! moves between threads cannot hold that borrow. So a member is located through the crate, and
//! then inflated from a separate file handle. Its length and CRC are checked at the end.

use crate::ReadError;
use crate::bytes_read::{BytesRead, CountingReader};
use crc32fast::Hasher;
use flate2::read::DeflateDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take};
use std::path::Path;
use zip::{CompressionMethod, ZipArchive};

/// The most bytes of a table that one byte of an archive may stand for, over all members together.
/// The registers pack at 5 to 20; deflate reaches 1,032 on a file of one repeated byte.
const MAX_RATIO: u64 = 100;
/// Bytes that every archive may unpack to, however small it is.
const ALWAYS_ALLOWED: u64 = 64 << 20;

/// The location of a member within its archive.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    start: u64,
    compressed: u64,
    size: u64,
    crc: u32,
    deflated: bool,
}

/// Returns the members whose names `wanted` accepts, in the order of their names.
///
/// # Errors
/// The archive cannot be read, or its members together are far larger than it can honestly hold.
/// Each may stay within its own size while all of them share the same packed bytes.
pub(crate) fn members(
    path: &Path,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Member>, ReadError> {
    let bad = |reason: String| ReadError::BadZip {
        file: path.to_owned(),
        reason,
    };
    let file = open(path)?;
    let length = file
        .metadata()
        .map_err(|error| bad(error.to_string()))?
        .len();
    let mut archive =
        ZipArchive::new(BufReader::new(file)).map_err(|error| bad(error.to_string()))?;
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let entry = archive
            .by_index_raw(index)
            .map_err(|error| bad(error.to_string()))?;
        let name = entry
            .name()
            .map_err(|error| bad(error.to_string()))?
            .into_owned();
        if !entry.is_file() || !wanted(&name) {
            continue;
        }
        let deflated = match entry.compression() {
            CompressionMethod::Stored => false,
            CompressionMethod::Deflated => true,
            other => return Err(bad(format!("{name} is compressed by {other:?}"))),
        };
        if entry.encrypted() {
            return Err(bad(format!("{name} is encrypted")));
        }
        let start = entry
            .data_start()
            .ok_or_else(|| bad(format!("{name} has no data")))?;
        members.push(Member {
            start,
            compressed: entry.compressed_size(),
            size: entry.size(),
            crc: entry.crc32(),
            deflated,
            name,
        });
    }
    let sum = |of: fn(&Member) -> u64| members.iter().map(of).fold(0, u64::saturating_add);
    let (packed, unpacked) = (sum(|it| it.compressed), sum(|it| it.size));
    if packed > length || unpacked > length.saturating_mul(MAX_RATIO).max(ALWAYS_ALLOWED) {
        return Err(bad(format!(
            "its members claim {packed} packed and {unpacked} unpacked bytes in a file of {length}"
        )));
    }
    members.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(members)
}

/// Opens a file, naming it where that fails.
pub(crate) fn open(path: &Path) -> Result<File, ReadError> {
    File::open(path).map_err(|source| ReadError::Open {
        file: path.to_owned(),
        source,
    })
}

/// Reads a member from the beginning.
pub(crate) fn read(
    path: &Path,
    member: &Member,
    bytes_read: &BytesRead,
) -> Result<MemberReader, ReadError> {
    let mut file = open(path)?;
    file.seek(SeekFrom::Start(member.start))
        .map_err(|source| ReadError::Open {
            file: path.to_owned(),
            source,
        })?;
    let packed = bytes_read.count(file.take(member.compressed));
    let inflate = if member.deflated {
        Packing::Deflated(DeflateDecoder::new(packed))
    } else {
        Packing::Stored(packed)
    };
    Ok(MemberReader {
        inflate,
        hasher: Hasher::new(),
        left: member.size,
        crc: member.crc,
    })
}

type MemberBytes = CountingReader<Take<File>>;

enum Packing {
    Stored(MemberBytes),
    Deflated(DeflateDecoder<MemberBytes>),
}

/// A member being read; fails at its end where length or CRC differ from the directory's.
pub(crate) struct MemberReader {
    inflate: Packing,
    hasher: Hasher,
    left: u64,
    crc: u32,
}

impl Read for MemberReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let read = match &mut self.inflate {
            Packing::Stored(reader) => reader.read(buffer),
            Packing::Deflated(reader) => reader.read(buffer),
        }?;
        let damaged = |what| io::Error::new(io::ErrorKind::InvalidData, what);
        self.hasher.update(&buffer[..read]);
        self.left = self
            .left
            .checked_sub(read as u64)
            .ok_or_else(|| damaged("the member is longer than the zip file's directory says"))?;
        if read == 0 && self.left > 0 {
            return Err(damaged(
                "the member ends early; the zip file is cut short or damaged",
            ));
        }
        if read == 0 && self.hasher.clone().finalize() != self.crc {
            return Err(damaged(
                "the member's checksum does not match; the zip file is damaged",
            ));
        }
        Ok(read)
    }
}
