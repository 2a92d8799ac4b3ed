//! The file of fixtures that `domesday replay --export` writes.

use anyhow::Context;
use domesday_engine::fixture;
use domesday_engine::fixture::{Fixture, FixtureError};
use domesday_package::{parent_directory, persist_durably};
use std::io::BufWriter;
use std::path::Path;
use tempfile::NamedTempFile;

/// A file of fixtures, readable by its owner alone. It appears whole or not at all.
pub struct FixtureFile<'a> {
    path: &'a Path,
    file: BufWriter<NamedTempFile>,
    result: Result<(), FixtureError>,
}

impl<'a> FixtureFile<'a> {
    pub fn begin(path: &'a Path) -> anyhow::Result<FixtureFile<'a>> {
        // Temporary files are 0600 from their first byte.
        let file = NamedTempFile::new_in(parent_directory(path));
        let file = file.with_context(|| format!("cannot create {}", path.display()))?;
        Ok(FixtureFile {
            path,
            file: BufWriter::new(file),
            result: Ok(()),
        })
    }

    pub fn add(&mut self, fixture: &Fixture) {
        if self.result.is_ok() {
            self.result = fixture::write(std::slice::from_ref(fixture), &mut self.file);
        }
    }

    pub fn finish(self) -> anyhow::Result<()> {
        let subject = || format!("cannot write {}", self.path.display());
        self.result.with_context(subject)?;
        let file = self.file.into_inner().map_err(|error| error.into_error());
        let file = file.with_context(subject)?;
        persist_durably(file, self.path).with_context(subject)
    }
}
