//! The header and the root directory of a PMTiles file of version 3.

use super::error::Flaw;

/// The bytes of the header.
pub(super) const HEADER_BYTES: u64 = 127;
/// The header and the root directory lie within the first bytes, which browsers read at once.
const FIRST_BYTES: u64 = 16_384;

/// A part of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

impl Section {
    /// Returns the first byte after it, which saturates at the largest number.
    fn end(self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }
}

/// The header.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) root: Section,
    pub(super) metadata: Section,
    leaves: Section,
    tiles: Section,
    /// True if directories and metadata are packed by gzip.
    pub(super) packed: bool,
    /// West, south, east and north, degrees.
    pub(super) bounds: [f64; 4],
}

impl Header {
    /// Parses the first bytes of a file that has `bytes` in all.
    ///
    /// # Errors
    /// The flaw of the file.
    pub(super) fn parse(head: &[u8], bytes: u64) -> Result<Header, Flaw> {
        let version = head.strip_prefix(b"PMTiles").and_then(<[u8]>::first);
        match version {
            Some(3) => {}
            Some(other) => return Err(Flaw::Version(*other)),
            None => return Err(Flaw::NotPmtiles),
        }
        let truncated = |needed| Flaw::Truncated { bytes, needed };
        let head: &[u8; HEADER_BYTES as usize] =
            head.try_into().map_err(|_| truncated(HEADER_BYTES))?;
        let section = |at: usize| Section {
            offset: number(head, at),
            bytes: number(head, at + 8),
        };
        let header = Header {
            root: section(8),
            metadata: section(24),
            leaves: section(40),
            tiles: section(56),
            packed: is_gzip(head[97])?,
            bounds: [102, 106, 110, 114].map(|at| degrees(head, at)),
        };
        is_gzip(head[98])?;
        if !(1..=4).contains(&head[99]) {
            return Err(Flaw::Kind(head[99]));
        }
        let sections = [header.root, header.metadata, header.leaves, header.tiles];
        let needed = sections.into_iter().map(Section::end).max();
        if let Some(needed) = needed.filter(|needed| *needed > bytes) {
            return Err(truncated(needed));
        }
        let [west, south, east, north] = header.bounds;
        let (root, zooms) = (header.root, (head[100], head[101]));
        if root.bytes == 0
            || root.end() > FIRST_BYTES
            || west >= east
            || south >= north
            || zooms.0 > zooms.1
        {
            return Err(Flaw::Damaged { part: "the header" });
        }
        Ok(header)
    }

    /// Checks that each entry of the root directory names a part of the file.
    ///
    /// # Errors
    /// `Damaged` where one does not, or there is none.
    pub(super) fn check_directory(&self, directory: &[u8]) -> Result<(), Flaw> {
        self.names_parts(directory).ok_or(Flaw::Damaged {
            part: "the root directory",
        })
    }

    /// Reads the columns of a directory: ids, runs, lengths and offsets.
    fn names_parts(&self, mut rest: &[u8]) -> Option<()> {
        let count = usize::try_from(varint(&mut rest)?).ok()?;
        // An entry takes four bytes at least.
        if count == 0 || count > rest.len() / 4 {
            return None;
        }
        let mut column = || -> Option<Vec<u64>> { (0..count).map(|_| varint(&mut rest)).collect() };
        let (_ids, runs, lengths, offsets) = (column()?, column()?, column()?, column()?);
        let mut next = None;
        for ((run, length), offset) in runs.into_iter().zip(lengths).zip(offsets) {
            // Zero is for an entry right behind the one before.
            let offset = match offset {
                0 => next?,
                other => other - 1,
            };
            let end = offset.checked_add(length)?;
            let part = if run == 0 { self.leaves } else { self.tiles };
            if length == 0 || end > part.bytes {
                return None;
            }
            next = Some(end);
        }
        Some(())
    }
}

fn number(head: &[u8; HEADER_BYTES as usize], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&head[at..at + 8]);
    u64::from_le_bytes(bytes)
}

fn degrees(head: &[u8; HEADER_BYTES as usize], at: usize) -> f64 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&head[at..at + 4]);
    f64::from(i32::from_le_bytes(bytes)) / 1e7
}

/// Reports whether a compression is gzip. Without one, or without a statement, it is none.
fn is_gzip(compression: u8) -> Result<bool, Flaw> {
    match compression {
        0 | 1 => Ok(false),
        2 => Ok(true),
        3 => Err(Flaw::Compression("Brotli")),
        4 => Err(Flaw::Compression("Zstandard")),
        _ => Err(Flaw::Damaged { part: "the header" }),
    }
}

/// Reads a number of seven bits a byte.
fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number: u64 = 0;
    for shift in (0..63).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
