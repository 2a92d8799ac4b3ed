//! Neighbours that share a key.

use crate::build::BuildError;

/// Rows that are in memory together because they share a key.
#[derive(Clone, Copy)]
pub(crate) struct GroupKind<K> {
    /// Describes a key for an error.
    pub(crate) describe: fn(K) -> String,
    /// The flags of the rows' files.
    pub(crate) flags: &'static str,
    /// The most rows that may share a key, so that memory is bounded.
    pub(crate) most: usize,
}

impl<K> GroupKind<K> {
    /// Checks that no more rows share a key than may.
    ///
    /// # Errors
    /// [`BuildError::TooManyRows`] otherwise.
    pub(crate) fn check(&self, key: K, rows: usize) -> Result<(), BuildError> {
        if rows <= self.most {
            return Ok(());
        }
        Err(BuildError::TooManyRows {
            flags: self.flags,
            key: (self.describe)(key),
            most: self.most,
        })
    }
}

/// Gathers rows that come in order of a key into groups that share it.
pub(crate) struct Groups<T, I, K> {
    rows: I,
    ahead: Option<T>,
    key: fn(&T) -> K,
    kind: GroupKind<K>,
}

impl<T, I, K> Groups<T, I, K>
where
    I: Iterator<Item = Result<T, BuildError>>,
    K: Ord + Copy,
{
    /// Groups `rows`, which come in order of `key`.
    pub(crate) fn new(
        mut rows: I,
        key: fn(&T) -> K,
        kind: GroupKind<K>,
    ) -> Result<Self, BuildError> {
        let ahead = rows.next().transpose()?;
        Ok(Groups {
            rows,
            ahead,
            key,
            kind,
        })
    }

    /// Returns the key of the next group.
    pub(crate) fn ahead(&self) -> Option<K> {
        self.ahead.as_ref().map(self.key)
    }

    /// Returns the next group.
    ///
    /// # Errors
    /// [`BuildError::TooManyRows`] if more rows share its key than may.
    pub(crate) fn next(&mut self) -> Result<Option<(K, Vec<T>)>, BuildError> {
        let Some(key) = self.ahead() else {
            return Ok(None);
        };
        let mut group = Vec::new();
        while self.ahead() == Some(key) {
            self.kind.check(key, group.len() + 1)?;
            group.extend(self.ahead.take());
            self.ahead = self.rows.next().transpose()?;
        }
        Ok(Some((key, group)))
    }

    /// Returns the group with a key, which may be empty, and skips those before it.
    pub(crate) fn at(&mut self, key: K) -> Result<Vec<T>, BuildError> {
        while self.ahead().is_some_and(|ahead| ahead < key) {
            self.ahead = self.rows.next().transpose()?;
        }
        match self.ahead() {
            Some(ahead) if ahead == key => Ok(self.next()?.map(|(_, group)| group)),
            _ => Ok(None),
        }
        .map(Option::unwrap_or_default)
    }
}

/// Returns the neighbours that share `wanted`, of rows in order of `key`.
pub(crate) fn equal_range<T, K: Ord>(rows: &[T], wanted: K, key: impl Fn(&T) -> K) -> &[T] {
    let start = rows.partition_point(|row| key(row) < wanted);
    let length = rows[start..].partition_point(|row| key(row) == wanted);
    &rows[start..start + length]
}
