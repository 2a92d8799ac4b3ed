//! One member of a zip archive as a reader that owns its file.
//!
//! The `zip` crate finds the members, but lends its archive to the member being read. A reader that
//! moves between threads cannot hold that borrow. So a member is located through the crate, and
//! then inflated from a separate file handle. Its length and CRC are checked at the end.

//!
//! A workbook (`.xlsx`) is a zip archive too. The builders bound its members here before they open
//! it.

use crate::ReadError;
use crate::bytes_read::{BytesRead, CountingReader};
use crate::signature::is_xls;
pub use crate::signature::is_zip;
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

/// The reason why an archive is not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a readable zip file ({0}); download it again")]
pub struct ZipError(pub(crate) String);

impl ZipError {
    /// Keeps another error's text as the reason.
    fn of(error: impl ToString) -> ZipError {
        ZipError(error.to_string())
    }
}

/// The location of a member within its archive.
#[derive(Clone, Debug)]
pub struct Member {
    pub(crate) name: String,
    start: u64,
    compressed: u64,
    size: u64,
    crc: u32,
    deflated: bool,
}

impl Member {
    /// Returns the member's name within its archive.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the length of the unpacked member. Reading it fails where it has another length.
    pub fn size(&self) -> u64 {
        self.size
    }
}

/// Returns the members of a file whose names `wanted` accepts, in the order of their names.
///
/// # Errors
/// [`ReadError::BadZip`], as [`members_of`].
pub(crate) fn members(
    path: &Path,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Member>, ReadError> {
    members_of(BufReader::new(open(path)?), wanted).map_err(|ZipError(reason)| ReadError::BadZip {
        file: path.to_owned(),
        reason,
    })
}

/// Returns the members of an archive whose names `wanted` accepts, in the order of their names.
///
/// # Errors
/// The archive cannot be read, or its members together are far larger than it can honestly hold.
/// Each may stay within its own size while all of them share the same packed bytes.
pub fn members_of(
    mut source: impl Read + Seek,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Member>, ZipError> {
    let length = source.seek(SeekFrom::End(0)).map_err(ZipError::of)?;
    let mut archive = ZipArchive::new(source).map_err(ZipError::of)?;
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(ZipError::of)?;
        let name = entry.name().map_err(ZipError::of)?.into_owned();
        if !entry.is_file() || !wanted(&name) {
            continue;
        }
        let deflated = match entry.compression() {
            CompressionMethod::Stored => false,
            CompressionMethod::Deflated => true,
            other => return Err(ZipError(format!("{name} is compressed by {other:?}"))),
        };
        if entry.encrypted() {
            return Err(ZipError(format!("{name} is encrypted")));
        }
        let start = entry
            .data_start()
            .ok_or_else(|| ZipError(format!("{name} has no data")))?;
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
        return Err(ZipError(format!(
            "its members claim {packed} packed and {unpacked} unpacked bytes in a file of {length}"
        )));
    }
    members.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(members)
}

/// Checks that a workbook's members have the lengths that they claim, and that these are bounded in
/// sum. A workbook that is no zip archive, as `.xls` is none, passes. The position is moved.
///
/// # Errors
/// As [`members_of`]; also a member of another length or checksum than the archive's directory has.
pub fn check_workbook(mut source: impl Read + Seek) -> Result<(), ZipError> {
    let mut beginning = Vec::new();
    source.rewind().map_err(ZipError::of)?;
    let head = (&mut source).take(4).read_to_end(&mut beginning);
    head.map_err(ZipError::of)?;
    if !is_zip(&beginning) {
        return Ok(());
    }
    for member in members_of(&mut source, |_| true)? {
        let mut reader = read_from(&mut source, &member, &BytesRead::default())?;
        io::copy(&mut reader, &mut io::sink())
            .map_err(|error| ZipError(format!("{}: {error}", member.name)))?;
    }
    Ok(())
}

/// Reports whether a file is a workbook, by its content: `.xls`, or an archive with the parts of
/// one.
///
/// # Errors
/// As [`members_of`].
pub fn is_workbook(mut source: impl Read + Seek) -> Result<bool, ZipError> {
    let mut beginning = Vec::new();
    source.rewind().map_err(ZipError::of)?;
    let head = (&mut source).take(4).read_to_end(&mut beginning);
    head.map_err(ZipError::of)?;
    if !is_zip(&beginning) {
        return Ok(is_xls(&beginning));
    }
    let types = members_of(source, |name| name == "[Content_Types].xml")?;
    Ok(!types.is_empty())
}

/// Opens a file, naming it where that fails.
pub(crate) fn open(path: &Path) -> Result<File, ReadError> {
    File::open(path).map_err(|source| ReadError::Open {
        file: path.to_owned(),
        source,
    })
}

/// Reads a member of a file from the beginning.
pub(crate) fn read(
    path: &Path,
    member: &Member,
    bytes_read: &BytesRead,
) -> Result<MemberReader<File>, ReadError> {
    read_from(open(path)?, member, bytes_read).map_err(|ZipError(reason)| ReadError::BadZip {
        file: path.to_owned(),
        reason,
    })
}

/// Reads a member of an archive from the beginning.
///
/// # Errors
/// The source cannot be moved to the member.
pub fn read_from<R: Read + Seek>(
    mut source: R,
    member: &Member,
    bytes_read: &BytesRead,
) -> Result<MemberReader<R>, ZipError> {
    let start = SeekFrom::Start(member.start);
    source.seek(start).map_err(ZipError::of)?;
    let packed = bytes_read.count(source.take(member.compressed));
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

type MemberBytes<R> = CountingReader<Take<R>>;

enum Packing<R> {
    Stored(MemberBytes<R>),
    Deflated(DeflateDecoder<MemberBytes<R>>),
}

/// A member being read; fails at its end where length or CRC differ from the directory's.
pub struct MemberReader<R> {
    inflate: Packing<R>,
    hasher: Hasher,
    left: u64,
    crc: u32,
}

impl<R: Read> Read for MemberReader<R> {
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
