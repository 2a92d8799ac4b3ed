//! Address keys as fingerprints, and their meaning.

use super::BuildError;
use super::external_sort::{Groups, Rows, Scratch, Seed, SortedSeeds, equal_range};
use super::group_kinds::ADDRESSES_OF_POSTCODE;
use crate::store::address::fingerprints;
use crate::store::bytes::get;
use domesday_registers::address::AddressKey;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// One address of one property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct KeySeed {
    /// Packed postcode.
    pub(crate) postcode: u64,
    pub(crate) fingerprint: u64,
    /// The next eight bytes of the same SHA-256: tells a collision from a repetition.
    pub(crate) check: u64,
    pub(crate) uprn: u64,
}

impl KeySeed {
    pub(crate) fn new(postcode: u64, key: &AddressKey, uprn: u64) -> KeySeed {
        KeySeed::of_prints(postcode, fingerprints(key.as_str()), uprn)
    }

    /// Returns the address whose key has these fingerprints.
    pub(crate) fn of_prints(postcode: u64, (fingerprint, check): (u64, u64), uprn: u64) -> KeySeed {
        KeySeed {
            postcode,
            fingerprint,
            check,
            uprn,
        }
    }
}

impl Seed for KeySeed {
    type Key = KeySeed;
    fn key(&self) -> KeySeed {
        *self
    }
}

/// The property that the keys of one address mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Match {
    /// Exactly one.
    One(u64),
    /// More than one, so none is taken.
    Several,
    /// None, though the postcode has addresses.
    AddressUnknown,
    /// The postcode has no addresses.
    PostcodeUnknown,
}

/// Returns the fingerprints of keys, in their order.
pub(crate) fn prints(keys: &[AddressKey]) -> Vec<u64> {
    keys.iter()
        .map(|key| fingerprints(key.as_str()).0)
        .collect()
}

/// Returns the property that has any of these fingerprints, if it is only one. `of_postcode` holds
/// the postcode's pairs of fingerprint and UPRN, in order.
pub(crate) fn find(of_postcode: &[(u64, u64)], fingerprints: &[u64]) -> Match {
    if of_postcode.is_empty() {
        return Match::PostcodeUnknown;
    }
    let mut found = Match::AddressUnknown;
    for &fingerprint in fingerprints {
        for (_, uprn) in equal_range(of_postcode, fingerprint, |(print, _)| *print) {
            match found {
                Match::AddressUnknown => found = Match::One(*uprn),
                Match::One(before) if before == *uprn => {}
                _ => return Match::Several,
            }
        }
    }
    found
}

/// Yields each key once, from keys in order. Fails where two different keys of one postcode share a
/// fingerprint.
struct Distinct<I> {
    keys: I,
    last: Option<KeySeed>,
}

impl<I: Iterator<Item = Result<KeySeed, BuildError>>> Iterator for Distinct<I> {
    type Item = Result<KeySeed, BuildError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let seed = match self.keys.next()? {
                Ok(seed) => seed,
                Err(error) => return Some(Err(error)),
            };
            match self.last {
                Some(last) if last == seed => continue,
                Some(last)
                    if (last.postcode, last.fingerprint) == (seed.postcode, seed.fingerprint)
                        && last.check != seed.check =>
                {
                    return Some(Err(BuildError::Collision {
                        what: "addresses of one postcode",
                        fingerprint: seed.fingerprint,
                    }));
                }
                _ => {}
            }
            self.last = Some(seed);
            return Some(Ok(seed));
        }
    }
}

/// Keys in order on disk, found by postcode.
pub(crate) struct KeyFile {
    path: PathBuf,
    file: File,
    /// Each postcode, and the number of keys before its first one.
    postcodes: Vec<(u64, u64)>,
    keys: u64,
    /// The postcode looked at last, and its pairs of fingerprint and UPRN.
    last: (u64, Vec<(u64, u64)>),
}

/// Bytes of a key on disk.
const WIDTH: usize = 32;

impl KeyFile {
    /// Writes each key once.
    ///
    /// # Errors
    /// Two different keys of one postcode share a fingerprint, or the disk failed.
    pub(crate) fn create(
        scratch: &Scratch,
        sorted: SortedSeeds<KeySeed>,
    ) -> Result<KeyFile, BuildError> {
        let path = scratch.file();
        let unwritten = || BuildError::io(&path);
        let mut out = BufWriter::new(File::create(&path).map_err(unwritten())?);
        let (mut postcodes, mut keys): (Vec<(u64, u64)>, u64) = (Vec::new(), 0);
        let sorted = Distinct {
            keys: sorted.drain()?,
            last: None,
        };
        for seed in sorted {
            let seed = seed?;
            if postcodes.last().is_none_or(|last| last.0 != seed.postcode) {
                postcodes.push((seed.postcode, keys));
            }
            keys += 1;
            for number in [seed.postcode, seed.fingerprint, seed.check, seed.uprn] {
                out.write_all(&number.to_le_bytes()).map_err(unwritten())?;
            }
        }
        out.flush().map_err(unwritten())?;
        let file = File::open(&path).map_err(unwritten())?;
        Ok(KeyFile {
            path,
            file,
            postcodes,
            keys,
            last: (u64::MAX, Vec::new()),
        })
    }

    /// Returns the pairs of fingerprint and UPRN of a postcode, in order.
    ///
    /// # Errors
    /// The disk failed.
    pub(crate) fn of_postcode(&mut self, postcode: u64) -> Result<&[(u64, u64)], BuildError> {
        if self.last.0 != postcode {
            self.last = (postcode, self.read(postcode)?);
        }
        Ok(&self.last.1)
    }

    fn read(&mut self, postcode: u64) -> Result<Vec<(u64, u64)>, BuildError> {
        let known = self.postcodes.binary_search_by_key(&postcode, |p| p.0);
        let Ok(at) = known else {
            return Ok(Vec::new());
        };
        let start = self.postcodes[at].1;
        let end = self.postcodes.get(at + 1).map_or(self.keys, |next| next.1);
        let length = usize::try_from(end - start).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length.saturating_mul(WIDTH)];
        self.file
            .seek(SeekFrom::Start(start * WIDTH as u64))
            .and_then(|_| self.file.read_exact(&mut bytes))
            .map_err(BuildError::io(&self.path))?;
        let (keys, _) = bytes.as_chunks::<WIDTH>();
        Ok(keys
            .iter()
            .map(|key| (get::<8>(key, 8), get::<8>(key, 24)))
            .collect())
    }

    /// Returns all keys in order.
    fn rows(&self) -> Result<impl Iterator<Item = Result<KeySeed, BuildError>> + '_, BuildError> {
        let file = File::open(&self.path).map_err(BuildError::io(&self.path))?;
        let mut file = BufReader::with_capacity(256 << 10, file);
        Ok((0..self.keys).map(move |_| {
            let mut key = [0; WIDTH];
            file.read_exact(&mut key)
                .map_err(BuildError::io(&self.path))?;
            Ok(KeySeed {
                postcode: get::<8>(&key, 0),
                fingerprint: get::<8>(&key, 8),
                check: get::<8>(&key, 16),
                uprn: get::<8>(&key, 24),
            })
        }))
    }
}

/// All addresses of properties: those of the address file, and those of certificates.
pub(crate) struct Keys {
    pub(crate) of_file: KeyFile,
    pub(crate) of_certificates: SortedSeeds<KeySeed>,
    /// The building's key of each address that names a unit.
    pub(crate) units: SortedSeeds<KeySeed>,
}

/// Keys by postcode.
pub(crate) type ByPostcode<'a> =
    Groups<KeySeed, Box<dyn Iterator<Item = Result<KeySeed, BuildError>> + 'a>, u64>;

impl Keys {
    /// Returns each address of each property once, by postcode.
    pub(crate) fn addresses(&self) -> Result<ByPostcode<'_>, BuildError> {
        let both = MergedKeys {
            first: PeekedKeys::new(self.of_file.rows()?)?,
            second: PeekedKeys::new(self.of_certificates.rows()?)?,
        };
        by_postcode(both)
    }

    /// Returns each unit's building once for each property, by postcode.
    pub(crate) fn units(&self) -> Result<ByPostcode<'_>, BuildError> {
        let units: Rows<'_, KeySeed> = self.units.rows()?;
        by_postcode(units)
    }
}

fn by_postcode<'a>(
    keys: impl Iterator<Item = Result<KeySeed, BuildError>> + 'a,
) -> Result<ByPostcode<'a>, BuildError> {
    let distinct = Distinct { keys, last: None };
    Groups::new(
        Box::new(distinct) as Box<dyn Iterator<Item = _> + 'a>,
        |seed| seed.postcode,
        ADDRESSES_OF_POSTCODE,
    )
}

/// An iterator with its next key in sight.
struct PeekedKeys<I> {
    keys: I,
    next: Option<KeySeed>,
}

impl<I: Iterator<Item = Result<KeySeed, BuildError>>> PeekedKeys<I> {
    fn new(mut keys: I) -> Result<PeekedKeys<I>, BuildError> {
        let next = keys.next().transpose()?;
        Ok(PeekedKeys { keys, next })
    }

    fn take(&mut self) -> Option<Result<KeySeed, BuildError>> {
        let taken = self.next.take()?;
        match self.keys.next().transpose() {
            Ok(next) => self.next = next,
            Err(error) => return Some(Err(error)),
        }
        Some(Ok(taken))
    }
}

/// Two orders as one.
struct MergedKeys<A, B> {
    first: PeekedKeys<A>,
    second: PeekedKeys<B>,
}

impl<A, B> Iterator for MergedKeys<A, B>
where
    A: Iterator<Item = Result<KeySeed, BuildError>>,
    B: Iterator<Item = Result<KeySeed, BuildError>>,
{
    type Item = Result<KeySeed, BuildError>;

    fn next(&mut self) -> Option<Self::Item> {
        match (self.first.next, self.second.next) {
            (Some(first), Some(second)) if second < first => self.second.take(),
            (Some(_), _) => self.first.take(),
            (None, _) => self.second.take(),
        }
    }
}
