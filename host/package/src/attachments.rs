//! The files beside a manifest that say how its release was checked, and who approved it.
//!
//! The manifest does not pin them: a release is checked after it is made.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::check_report::{CheckReport, approval_message, check_message};
use crate::error::PackageErrorKind;
use crate::files::{read_small, sync_directory};
use crate::manifest::{APPROVAL, CHECK, CHECK_SIGNATURE, LARGEST};
use crate::signature::{DetachedSignature, LARGEST_SIGNATURE, put};
use crate::write::put_file;
use crate::{Package, PackageError, Trust};

/// The names of the attachments, each with the bytes of the largest that is read.
pub const ATTACHMENTS: [(&str, u64); 3] = [
    (CHECK, LARGEST),
    (CHECK_SIGNATURE, LARGEST_SIGNATURE),
    (APPROVAL, LARGEST_SIGNATURE),
];

/// The attachments of a package, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attachments(BTreeMap<&'static str, Vec<u8>>);

/// The weight of a package's attachments, from nothing up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    /// No signed report of the manifest.
    Nothing,
    /// A signed report that says that the release failed, or that says too little.
    Failed,
    /// A signed report that says that the release passed.
    Passed,
    /// The same, and a signed approval.
    Approved,
}

impl Attachments {
    /// Reads the attachments of the package in `directory`. None of them is judged.
    ///
    /// # Errors
    /// A file is no plain file, is larger than any that is read, or cannot be read.
    pub fn read(directory: &Path) -> Result<Attachments, PackageError> {
        Attachments::read_from(directory).map_err(|error| error.of(directory))
    }

    pub(crate) fn read_from(directory: &Path) -> Result<Attachments, PackageErrorKind> {
        let mut attachments = Attachments::default();
        for (name, largest) in ATTACHMENTS {
            if let Some(bytes) = read_small(directory, name, largest)? {
                attachments.0.insert(name, bytes);
            }
        }
        Ok(attachments)
    }

    /// Adds the attachment `name`, one of [`ATTACHMENTS`], in place of any other.
    pub fn insert(&mut self, name: &'static str, bytes: Vec<u8>) {
        self.0.insert(name, bytes);
    }

    /// Returns the bytes of the attachment `name`.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// Returns the attachments in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        self.0.iter().map(|(name, bytes)| (*name, bytes.as_slice()))
    }

    /// Reports whether they vouch for more than `other` does. Signatures by keys that `trust` does
    /// not have vouch for nothing.
    pub fn outweigh(&self, other: &Attachments, package: &Package, trust: &Trust) -> bool {
        self.weight(package, trust) > other.weight(package, trust)
    }

    fn weight(&self, package: &Package, trust: &Trust) -> Weight {
        let (Some(report), Some(signature)) = (self.get(CHECK), self.get(CHECK_SIGNATURE)) else {
            return Weight::Nothing;
        };
        let is_of = |signature: &[u8], message: &[u8]| {
            DetachedSignature::parse(signature)
                .is_some_and(|signature| trust.takes(&signature.key) && signature.is_of(message))
        };
        if !is_of(signature, &check_message(package, report)) {
            return Weight::Nothing;
        }
        match CheckReport::parse(report) {
            Ok(found) if found.manifest != package.digest() => Weight::Nothing,
            Ok(found) if !found.has_failed() && found.is_whole() => match self.get(APPROVAL) {
                Some(approval) if is_of(approval, &approval_message(package, report)) => {
                    Weight::Approved
                }
                _ => Weight::Passed,
            },
            Ok(_) => Weight::Failed,
            Err(_) => Weight::Nothing,
        }
    }

    /// Writes them into a new directory, which the caller makes durable.
    pub(crate) fn put_new(&self, directory: &Path) -> Result<(), PackageErrorKind> {
        self.iter()
            .try_for_each(|(name, bytes)| put_file(&directory.join(name), bytes))
    }

    /// Puts them into an existing package if they vouch for more than its own. Returns whether
    /// they do.
    pub(crate) fn complete(
        &self,
        directory: &Path,
        existing: &Package,
        trust: &Trust,
    ) -> Result<bool, PackageErrorKind> {
        if !self.outweigh(&Attachments::read_from(directory)?, existing, trust) {
            return Ok(false);
        }
        self.replace(directory)?;
        Ok(true)
    }

    /// Replaces the attachments of the package in `directory`.
    ///
    /// The signatures go first and come last, so that a reader finds no pair that does not match.
    pub(crate) fn replace(&self, directory: &Path) -> Result<(), PackageErrorKind> {
        for name in [APPROVAL, CHECK_SIGNATURE] {
            let path = directory.join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(PackageErrorKind::io(&path)(error));
                }
                _ => {}
            }
        }
        sync_directory(directory)?;
        for name in [CHECK, CHECK_SIGNATURE, APPROVAL] {
            if let Some(bytes) = self.get(name) {
                put(directory, name, bytes)?;
            }
        }
        Ok(())
    }
}
