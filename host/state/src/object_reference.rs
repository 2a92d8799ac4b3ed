//! A reference to an object that holds the rows or the results of a chunk, in place of their bytes.
//!
//! The server keeps large chunks in object storage where a setting names one. The state stores what
//! it is given; it knows references for one reason: their objects count as bytes of their tenant.

/// The first byte of a reference. Rows and results are JSON, which does not begin with it.
const MARK: u8 = 0;
/// Bytes of a reference.
const LENGTH: usize = 1 + 8 + 32 + 32;

/// A reference to an object. It opens the object, and nothing else does.
#[derive(Clone, PartialEq, Eq)]
pub struct ObjectReference {
    /// Bytes that the object holds.
    pub bytes: u64,
    /// SHA-256 of the sealed object.
    pub digest: [u8; 32],
    /// The key that it is sealed with.
    pub key: [u8; 32],
}

impl ObjectReference {
    /// Encodes the reference in place of the bytes of a chunk.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut encoded = Vec::with_capacity(LENGTH);
        encoded.push(MARK);
        encoded.extend_from_slice(&self.bytes.to_be_bytes());
        encoded.extend_from_slice(&self.digest);
        encoded.extend_from_slice(&self.key);
        encoded
    }

    /// Decodes the bytes of a chunk, or returns none where they are the chunk itself.
    pub fn from_bytes(stored: &[u8]) -> Option<ObjectReference> {
        let (mark, rest) = stored.split_first_chunk::<1>()?;
        let (bytes, rest) = rest.split_first_chunk::<8>()?;
        let (digest, rest) = rest.split_first_chunk::<32>()?;
        let key = <[u8; 32]>::try_from(rest).ok()?;
        (*mark == [MARK]).then_some(ObjectReference {
            bytes: u64::from_be_bytes(*bytes),
            digest: *digest,
            key,
        })
    }
}

impl std::fmt::Debug for ObjectReference {
    /// Leaves the key out.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ObjectReference")
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

/// Returns the bytes of a stored chunk: those of its object, or else its own.
pub(crate) fn chunk_bytes(stored: &[u8]) -> u64 {
    let reference = ObjectReference::from_bytes(stored);
    reference.map_or(stored.len() as u64, |reference| reference.bytes)
}

/// The expression of PostgreSQL for whether a column holds a reference.
#[cfg(feature = "postgres")]
macro_rules! is_reference_of {
    ($column:literal) => {
        concat!(
            "length(",
            $column,
            ") = 73 AND get_byte(",
            $column,
            ", 0) = 0"
        )
    };
}
#[cfg(feature = "postgres")]
pub(crate) use is_reference_of;

/// The expression of [`chunk_bytes`] for a column of PostgreSQL.
#[cfg(feature = "postgres")]
macro_rules! chunk_bytes_of {
    ($column:literal) => {
        concat!(
            "CASE WHEN ",
            $crate::object_reference::is_reference_of!($column),
            " THEN ('x' || encode(substring(",
            $column,
            " FROM 2 FOR 8), 'hex'))::bit(64)::bigint ",
            "ELSE coalesce(length(",
            $column,
            "), 0)::bigint END"
        )
    };
}
#[cfg(feature = "postgres")]
pub(crate) use chunk_bytes_of;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_counts_as_its_object_and_a_chunk_as_itself() {
        let reference = ObjectReference {
            bytes: 70_000,
            digest: [7; 32],
            key: [8; 32],
        };
        let stored = reference.to_bytes();
        assert_eq!(stored.len(), LENGTH);
        assert_eq!(
            ObjectReference::from_bytes(&stored),
            Some(reference.clone())
        );
        assert_eq!(chunk_bytes(&stored), 70_000);
        let rows = vec![b'['; LENGTH];
        assert_eq!(ObjectReference::from_bytes(&rows), None);
        assert_eq!(chunk_bytes(&rows), LENGTH as u64);
        assert_eq!(chunk_bytes(&stored[..LENGTH - 1]), LENGTH as u64 - 1);
        assert!(!format!("{reference:?}").contains('8'));
    }
}
