//! Moving a package away that has the id of another one.

use crate::read_claimed_digest;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Digits of the digest in the name of a package that was moved away.
const DIGITS: usize = 16;

/// A package that was moved away, so that another one can take its place.
#[derive(Debug)]
pub struct SetAside {
    place: PathBuf,
    /// The hidden folder that has it now.
    pub folder: PathBuf,
}

impl SetAside {
    /// Moves the package of `package_dir` away where its manifest is not the one of this SHA-256.
    /// Its files stay, in a hidden folder beside it that no reader takes for a package. A folder
    /// without a manifest stays in place: somebody may be filling it.
    ///
    /// # Errors
    /// The folder cannot be renamed.
    pub fn move_other(package_dir: &Path, manifest: &str) -> io::Result<Option<SetAside>> {
        let Some(found) = read_claimed_digest(package_dir).map(|digest| digest.to_string()) else {
            return Ok(None);
        };
        if found == manifest {
            return Ok(None);
        }
        let id = package_dir
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let name = format!(".{id}.other-{}", &found[..DIGITS]);
        let mut folder = package_dir.with_file_name(&name);
        // One that was moved away before stays: it may be whole where this one is damaged.
        for copy in 2_u32.. {
            if fs::symlink_metadata(&folder).is_err() {
                break;
            }
            folder = package_dir.with_file_name(format!("{name}-{copy}"));
        }
        fs::rename(package_dir, &folder)?;
        Ok(Some(SetAside {
            place: package_dir.to_owned(),
            folder,
        }))
    }

    /// Moves the package back, unless another one took its place.
    ///
    /// # Errors
    /// The folder cannot be renamed. The system refuses to replace a folder that holds anything.
    pub fn put_back(self) -> io::Result<()> {
        fs::rename(&self.folder, &self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sha256Digest;

    fn package(folder: &Path, manifest: &str) -> PathBuf {
        let package_dir = folder.join("homes-1");
        fs::create_dir(&package_dir).unwrap();
        fs::write(package_dir.join("manifest.json"), manifest).unwrap();
        package_dir
    }

    #[test]
    fn another_package_of_the_id_is_moved_away_and_back() {
        let folder = tempfile::tempdir().unwrap();
        let package_dir = package(folder.path(), "mine");
        let same = Sha256Digest::of(b"mine").to_string();
        let other = Sha256Digest::of(b"theirs").to_string();
        assert!(SetAside::move_other(&package_dir, &same).unwrap().is_none());
        for _ in 0..2 {
            let aside = SetAside::move_other(&package_dir, &other).unwrap().unwrap();
            let name = aside
                .folder
                .file_name()
                .unwrap()
                .to_string_lossy()
                .into_owned();
            assert_eq!(name, format!(".homes-1.other-{}", &same[..DIGITS]));
            assert!(!package_dir.exists());
            aside.put_back().unwrap();
            assert!(package_dir.join("manifest.json").exists());
        }
        // The same manifest came again while it lies beside. The earlier files stay.
        fs::write(package_dir.join("component.wasm"), "whole").unwrap();
        let aside = SetAside::move_other(&package_dir, &other).unwrap().unwrap();
        for copy in ["-2", "-3"] {
            package(folder.path(), "mine");
            let again = SetAside::move_other(&package_dir, &other).unwrap().unwrap();
            let name = again.folder.display().to_string();
            assert_eq!(name, format!("{}{copy}", aside.folder.display()));
        }
        let kept = fs::read_to_string(aside.folder.join("component.wasm")).unwrap();
        assert_eq!(kept, "whole");
        package(folder.path(), "theirs");
        aside.put_back().unwrap_err();
        let there = fs::read_to_string(package_dir.join("manifest.json")).unwrap();
        assert_eq!(there, "theirs");
    }

    #[test]
    fn a_folder_without_a_manifest_stays() {
        let folder = tempfile::tempdir().unwrap();
        let package_dir = folder.path().join("homes-1");
        assert!(SetAside::move_other(&package_dir, "a").unwrap().is_none());
        fs::create_dir(&package_dir).unwrap();
        assert!(SetAside::move_other(&package_dir, "a").unwrap().is_none());
        assert!(package_dir.exists());
    }
}
