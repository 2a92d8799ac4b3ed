//! Taking the place of another package of the same id. The other one stays there until the new one
//! is whole and durable beside it.

use super::error::TransferError;
use super::set_aside::SetAside;
use crate::staging::StagingDirectory;
use crate::{PackageId, TransferControl, read_claimed_digest, sync_directory};
use std::fs;
use std::path::{Path, PathBuf};

/// A package that is to take the place of another one of its id.
#[derive(Debug)]
pub struct Replacement {
    packages_dir: PathBuf,
    id: PackageId,
    /// The SHA-256 of its manifest.
    manifest: String,
    /// The folder of packages that it comes into first.
    staging: StagingDirectory,
}

impl Replacement {
    /// Makes a folder for the package whose manifest has this SHA-256, where one of another
    /// manifest is in its place. Returns `None` where none is.
    ///
    /// # Errors
    /// [`TransferError::Package`] if the folder cannot be made.
    pub fn prepare(
        packages_dir: &Path,
        id: &PackageId,
        manifest: &str,
        control: &TransferControl,
    ) -> Result<Option<Replacement>, TransferError> {
        let place = packages_dir.join(id.as_str());
        let found = read_claimed_digest(&place).map(|digest| digest.to_string());
        if found.is_none_or(|found| found == manifest) {
            return Ok(None);
        }
        let staging = StagingDirectory::new(packages_dir, id).map_err(|error| error.of(&place))?;
        control.note_staging(staging.path());
        Ok(Some(Replacement {
            packages_dir: packages_dir.to_owned(),
            id: id.clone(),
            manifest: manifest.to_owned(),
            staging,
        }))
    }

    /// Returns the folder of packages that the package comes into.
    pub fn folder(&self) -> &Path {
        self.staging.path()
    }

    /// Renames the other package out of the way and the new one, which is whole, into its place.
    /// Returns the folder that has the other one now. It is `None` where that went meanwhile, or
    /// another host had moved it away first.
    ///
    /// # Errors
    /// The transfer was stopped, or a folder cannot be renamed. Then the other one is in its place,
    /// unless the error says where each of them is.
    pub fn put_in_place(self, control: &TransferControl) -> Result<Option<PathBuf>, TransferError> {
        let place = self.packages_dir.join(self.id.as_str());
        let refused = |source| TransferError::NotReplaced(place.clone(), source);
        control.release_staging().map_err(refused)?;
        let aside = SetAside::move_other(&place, &self.manifest)
            .map_err(|source| TransferError::NotSetAside(place.clone(), source))?;
        match (
            fs::rename(self.folder().join(self.id.as_str()), &place),
            aside,
        ) {
            (Ok(()), aside) => {
                let aside = aside.map(|aside| aside.folder);
                match sync_directory(&self.packages_dir) {
                    Ok(()) => Ok(aside),
                    Err(source) => Err(TransferError::NotConfirmed {
                        place,
                        aside,
                        source,
                    }),
                }
            }
            // Another host was first, which may have happened between the two renames.
            (Err(_), aside) if is_of(&place, &self.manifest) => Ok(aside.map(|aside| aside.folder)),
            (Err(source), None) => Err(refused(source)),
            (Err(cause), Some(aside)) => {
                let folder = aside.folder.clone();
                match aside.put_back() {
                    Ok(()) => Err(refused(cause)),
                    Err(source) => Err(TransferError::NotPutBack {
                        place,
                        folder,
                        cause,
                        source,
                    }),
                }
            }
        }
    }
}

/// Reports whether a package has the manifest of this SHA-256.
fn is_of(package_dir: &Path, manifest: &str) -> bool {
    read_claimed_digest(package_dir).is_some_and(|found| found.to_string() == manifest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sha256Digest;

    /// Writes the manifest of a package, without the rest.
    fn package(packages_dir: &Path, manifest: &str) -> PathBuf {
        let package_dir = packages_dir.join("homes-1");
        fs::create_dir(&package_dir).unwrap();
        fs::write(package_dir.join("manifest.json"), manifest).unwrap();
        package_dir
    }

    fn digest(manifest: &str) -> String {
        Sha256Digest::of(manifest.as_bytes()).to_string()
    }

    fn prepare(packages_dir: &Path, control: &TransferControl) -> Option<Replacement> {
        let id = "homes-1".parse().unwrap();
        Replacement::prepare(packages_dir, &id, &digest("theirs"), control).unwrap()
    }

    fn manifest_in(package_dir: &Path) -> String {
        fs::read_to_string(package_dir.join("manifest.json")).unwrap()
    }

    fn names(packages_dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(packages_dir).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn another_package_stays_in_its_place_until_the_new_one_is_whole() {
        let (folder, control) = (tempfile::tempdir().unwrap(), TransferControl::default());
        let packages_dir = folder.path();
        assert!(prepare(packages_dir, &control).is_none());
        let place = package(packages_dir, "mine");
        let replacement = prepare(packages_dir, &control).unwrap();
        assert_eq!(manifest_in(&place), "mine");
        package(replacement.folder(), "theirs");
        assert_eq!(manifest_in(&place), "mine");
        let aside = replacement.put_in_place(&control).unwrap().unwrap();
        assert_eq!(
            (manifest_in(&place), manifest_in(&aside)),
            ("theirs".into(), "mine".into())
        );
        assert_eq!(names(packages_dir).len(), 2, "no staging stays");
        assert!(prepare(packages_dir, &control).is_none());
    }

    #[test]
    fn a_transfer_that_was_stopped_or_brought_nothing_leaves_the_other_package() {
        let folder = tempfile::tempdir().unwrap();
        let place = package(folder.path(), "mine");
        let control = TransferControl::default();
        let nothing = prepare(folder.path(), &control).unwrap();
        let error = nothing.put_in_place(&control).unwrap_err();
        assert!(matches!(error, TransferError::NotReplaced(..)), "{error}");
        assert_eq!(manifest_in(&place), "mine");
        let stopped = prepare(folder.path(), &control).unwrap();
        package(stopped.folder(), "theirs");
        control.stop();
        stopped.put_in_place(&control).unwrap_err();
        assert_eq!(manifest_in(&place), "mine");
        assert_eq!(names(folder.path()), ["homes-1"]);
    }

    #[test]
    fn a_host_that_put_the_same_package_in_place_first_is_no_fault() {
        let (folder, control) = (tempfile::tempdir().unwrap(), TransferControl::default());
        let place = package(folder.path(), "mine");
        let replacement = prepare(folder.path(), &control).unwrap();
        package(replacement.folder(), "theirs");
        fs::write(place.join("manifest.json"), "theirs").unwrap();
        assert_eq!(replacement.put_in_place(&control).unwrap(), None);
        assert_eq!(names(folder.path()), ["homes-1"]);
    }
}
