//! A directory appears whole or not at all.

use super::BuildError;
use serde::Serialize;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A directory being filled beside its final name. It is removed unless it gets that name.
pub(crate) struct StagedSnapshot {
    staging: PathBuf,
    target: PathBuf,
    published: bool,
}

impl Drop for StagedSnapshot {
    fn drop(&mut self) {
        if !self.published {
            // The next build removes what remains.
            let _ = fs::remove_dir_all(&self.staging);
        }
    }
}

impl StagedSnapshot {
    /// Starts afresh and removes the rest of an interrupted build.
    pub(crate) fn begin(target: &Path) -> Result<StagedSnapshot, BuildError> {
        if target.symlink_metadata().is_ok() {
            return Err(BuildError::Exists {
                path: target.to_owned(),
            });
        }
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(".partial");
        let staging = target.with_file_name(name);
        if staging.exists() {
            fs::remove_dir_all(&staging).map_err(BuildError::io(&staging))?;
        }
        fs::create_dir_all(&staging).map_err(BuildError::io(&staging))?;
        Ok(StagedSnapshot {
            staging,
            target: target.to_owned(),
            published: false,
        })
    }

    /// Returns the directory under its name for now.
    pub(crate) fn folder(&self) -> &Path {
        &self.staging
    }

    /// Returns the path that a file of the directory is written to.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.staging.join(file)
    }

    /// Publishes the directory under its name.
    pub(crate) fn publish(mut self) -> Result<(), BuildError> {
        fs::rename(&self.staging, &self.target).map_err(BuildError::io(&self.target))?;
        self.published = true;
        // The rename lasts only once the folder that holds the name is on disk.
        let parent = match self.target.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let folder = File::open(parent).map_err(BuildError::io(parent))?;
        folder.sync_all().map_err(BuildError::io(parent))
    }
}

/// Writes a file of indented JSON.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), BuildError> {
    let text =
        serde_json::to_string_pretty(value).map_err(|error| BuildError::io(path)(error.into()))?;
    let mut file = File::create(path).map_err(BuildError::io(path))?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.write_all(b"\n"))
        .map_err(BuildError::io(path))?;
    file.sync_all().map_err(BuildError::io(path))
}
