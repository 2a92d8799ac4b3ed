//! The signers whose packages a host opens.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::error::PackageErrorKind;
use crate::{KeyError, PackageId, PublicKey};

/// The trust that a package needs before it is opened. A wrong signature is refused under either:
/// it shows that something was changed.
#[derive(Debug, Clone)]
pub enum Trust {
    /// A signature by a key of the list. This is the only trust to serve with.
    Required(TrustList),
    /// Digests alone, for the tools that make, check and sign a package.
    Unsigned,
}

/// The public keys that a host trusts, and the packages that it takes without them.
#[derive(Debug, Clone, Default)]
pub struct TrustList {
    keys: BTreeMap<PublicKey, String>,
    exempt: BTreeSet<PackageId>,
}

/// The folder of trusted keys in a folder of releases.
pub const KEYS: &str = "keys";

impl TrustList {
    /// Creates a list that trusts nobody.
    pub fn new() -> Self {
        TrustList::default()
    }

    /// Loads every `*.pub` file of a directory, and ignores other files. A `*.pub` file that is not
    /// a key is an error, so that a typing mistake never removes trust silently.
    ///
    /// # Errors
    /// [`KeyError::Io`] if the directory or a file cannot be read, [`KeyError::NotAPublicKeyFile`]
    /// for a `*.pub` file without a key.
    pub fn load(directory: &Path) -> Result<Self, KeyError> {
        let mut list = TrustList::new();
        for entry in fs::read_dir(directory).map_err(KeyError::io(directory))? {
            let path = entry.map_err(KeyError::io(directory))?.path();
            if path.extension().is_some_and(|extension| extension == "pub") {
                let (key, comment) = PublicKey::read(&path)?;
                list.add(key, &comment);
            }
        }
        Ok(list)
    }

    /// Loads the keys that a folder of releases trusts, those in its folder [`KEYS`]. Without that
    /// folder none is trusted.
    ///
    /// # Errors
    /// As [`TrustList::load`].
    pub fn of_releases(releases: &Path) -> Result<Self, KeyError> {
        let keys = releases.join(KEYS);
        match keys.is_dir() {
            true => TrustList::load(&keys),
            false => Ok(TrustList::new()),
        }
    }

    /// Trusts `key`; the comment says whose it is.
    pub fn add(&mut self, key: PublicKey, comment: &str) {
        self.keys.insert(key, comment.to_owned());
    }

    /// Takes the package `id` though it is unsigned, or signed by a key that is not listed. The
    /// operator names each package of this kind.
    pub fn exempt(&mut self, id: PackageId) {
        self.exempt.insert(id);
    }

    /// Returns whether `key` is trusted.
    pub fn trusts(&self, key: &PublicKey) -> bool {
        self.keys.contains_key(key)
    }

    /// Reports whether the operator takes the package `id` unsigned.
    pub(crate) fn exempts(&self, id: &PackageId) -> bool {
        self.exempt.contains(id)
    }

    /// Returns the keys with their comments, in order of the keys.
    pub fn keys(&self) -> impl Iterator<Item = (&PublicKey, &str)> {
        self.keys
            .iter()
            .map(|(key, comment)| (key, comment.as_str()))
    }
}

impl Trust {
    /// Returns the same trust with one more key.
    pub(crate) fn with_key(&self, key: PublicKey) -> Trust {
        let mut trust = self.clone();
        if let Trust::Required(list) = &mut trust {
            list.keys.entry(key).or_default();
        }
        trust
    }

    /// Returns whether a good signature by `key` counts. Without a list each does.
    pub(crate) fn takes(&self, key: &PublicKey) -> bool {
        match self {
            Trust::Required(list) => list.trusts(key),
            Trust::Unsigned => true,
        }
    }

    /// Judges the package `id`, whose good signature is by `signer`, or which has none.
    pub(crate) fn judge(
        &self,
        id: &PackageId,
        signer: Option<&PublicKey>,
    ) -> Result<(), PackageErrorKind> {
        let Trust::Required(list) = self else {
            return Ok(());
        };
        match signer {
            Some(key) if list.trusts(key) => Ok(()),
            _ if list.exempts(id) => Ok(()),
            Some(key) => Err(PackageErrorKind::Untrusted { key: *key }),
            None => Err(PackageErrorKind::Unsigned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SigningKey;

    #[test]
    fn a_list_is_the_pub_files_of_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        let key = SigningKey::from_seed([1; 32]).public();
        key.write(&dir.path().join("one.pub"), "one").unwrap();
        fs::write(dir.path().join("README"), "not a key").unwrap();
        let list = TrustList::load(dir.path()).unwrap();
        assert_eq!(list.keys().collect::<Vec<_>>(), [(&key, "one")]);

        fs::write(dir.path().join("two.pub"), "not a key").unwrap();
        assert!(matches!(
            TrustList::load(dir.path()),
            Err(KeyError::NotAPublicKeyFile { .. })
        ));
    }

    #[test]
    fn trust_is_by_key_or_by_name() {
        let id: PackageId = "a".parse().unwrap();
        let other: PackageId = "b".parse().unwrap();
        let [known, stranger] = [[1; 32], [2; 32]].map(|seed| SigningKey::from_seed(seed).public());
        let mut list = TrustList::new();
        list.add(known, "");
        list.exempt(other.clone());
        let trust = Trust::Required(list);
        assert!(trust.judge(&id, Some(&known)).is_ok());
        assert!(matches!(
            trust.judge(&id, Some(&stranger)),
            Err(PackageErrorKind::Untrusted { key }) if key == stranger
        ));
        assert!(matches!(
            trust.judge(&id, None),
            Err(PackageErrorKind::Unsigned)
        ));
        assert!(trust.judge(&other, None).is_ok());
        assert!(trust.judge(&other, Some(&stranger)).is_ok());
        assert!(Trust::Unsigned.judge(&id, None).is_ok());
    }

    /// A service that refuses the package has read its keys at its start.
    #[test]
    fn a_refusal_for_want_of_trust_names_the_restart() {
        let id: PackageId = "a".parse().unwrap();
        let stranger = SigningKey::from_seed([2; 32]).public();
        let trust = Trust::Required(TrustList::new());
        let refused = trust.judge(&id, Some(&stranger)).unwrap_err().to_string();
        assert!(
            refused.ends_with("and restart a running service"),
            "{refused}"
        );
    }
}
