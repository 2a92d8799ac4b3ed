//! The file of fixtures that `domesday replay --export` writes.

use anyhow::{Context, bail};
use domesday_engine::fixture;
use domesday_engine::fixture::Fixture;
use domesday_package::{Sha256Digest, parent_directory, persist_durably};
use std::collections::BTreeSet;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::slice;
use tempfile::NamedTempFile;

/// A file of fixtures, readable by its owner alone. It appears whole or not at all.
pub struct FixtureFile<'a> {
    path: &'a Path,
    file: BufWriter<NamedTempFile>,
    /// The release of the first fixture. A file names no release, so the others have the same.
    release: Option<String>,
    /// The names of the receipts' rows.
    names: BTreeSet<String>,
    /// The digests of the receipts' lines, each under the name of its own row.
    lines: BTreeSet<Sha256Digest>,
    result: anyhow::Result<()>,
}

impl<'a> FixtureFile<'a> {
    pub fn begin(path: &'a Path) -> anyhow::Result<FixtureFile<'a>> {
        // Temporary files are 0600 from their first byte.
        let file = NamedTempFile::new_in(parent_directory(path));
        let file = file.with_context(|| format!("cannot create {}", path.display()))?;
        Ok(FixtureFile {
            path,
            file: BufWriter::new(file),
            release: None,
            names: BTreeSet::new(),
            lines: BTreeSet::new(),
            result: Ok(()),
        })
    }

    /// Adds the fixture of receipt `sequence`. After a failure it adds nothing.
    pub fn add(&mut self, release: &str, sequence: u64, fixture: &Fixture) {
        if self.result.is_ok() {
            self.result = self.write(release, sequence, fixture);
        }
    }

    /// Writes a fixture under a name that its file has not yet. A job's row that ran again after a
    /// crash has two receipts, and a reader refuses two rows of one name.
    fn write(&mut self, release: &str, sequence: u64, fixture: &Fixture) -> anyhow::Result<()> {
        let first = self.release.get_or_insert_with(|| release.to_owned());
        if first.as_str() != release {
            bail!(
                "its fixtures would be of {first} and {release}, and a file is replayed on one \
                 release. Choose one: domesday replay RELEASE --journal …"
            );
        }
        let mut line = Vec::new();
        fixture::write(slice::from_ref(fixture), &mut line)?;
        if !self.lines.insert(Sha256Digest::of(&line)) {
            return Ok(());
        }
        if !self.names.insert(fixture.row.clone()) {
            let renamed = Fixture {
                row: format!("{}#{sequence}", fixture.row),
                ..fixture.clone()
            };
            line.clear();
            fixture::write(slice::from_ref(&renamed), &mut line)?;
        }
        Ok(self.file.write_all(&line)?)
    }

    /// Puts the file in its place. An older one stays after a failure.
    ///
    /// # Errors
    /// There is no fixture, or one could not be added or written.
    pub fn finish(self) -> anyhow::Result<()> {
        let subject = || format!("cannot write {}", self.path.display());
        self.result.with_context(subject)?;
        if self.names.is_empty() {
            bail!("{}: no receipt was proved. The report says why", subject());
        }
        let file = self.file.into_inner().map_err(|error| error.into_error());
        let file = file.with_context(subject)?;
        persist_durably(file, self.path).with_context(subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Reads the fixtures of the release that a fresh checkout serves.
    fn read_fixtures() -> Vec<Fixture> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../releases/valuation");
        let release = fs::read_dir(root).unwrap().next().unwrap().unwrap();
        let text = fs::read(release.path().join("fixtures.jsonl")).unwrap();
        fixture::read(text.as_slice()).unwrap()
    }

    #[test]
    fn a_row_that_ran_again_is_written_once_or_under_another_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fixtures.jsonl");
        let mut fixture = read_fixtures().remove(0);
        let mut file = FixtureFile::begin(&path).unwrap();
        for sequence in [1, 2] {
            file.add("r-1", sequence, &fixture);
        }
        // The host was updated between its crashes.
        fixture.engine = "another engine".to_owned();
        for sequence in [3, 4] {
            file.add("r-1", sequence, &fixture);
        }
        file.finish().unwrap();
        let text = fs::read(&path).unwrap();
        let names: Vec<_> = fixture::read(text.as_slice())
            .unwrap()
            .into_iter()
            .map(|row| row.row)
            .collect();
        assert_eq!(names, [fixture.row.clone(), format!("{}#3", fixture.row)]);
    }

    #[test]
    fn no_fixture_and_fixtures_of_two_releases_leave_the_older_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fixtures.jsonl");
        fs::write(&path, "an older file").unwrap();
        let refused = FixtureFile::begin(&path).unwrap().finish().unwrap_err();
        let refused = refused.to_string();
        assert!(refused.contains("no receipt was proved"), "{refused}");
        let fixtures = read_fixtures();
        let mut file = FixtureFile::begin(&path).unwrap();
        file.add("r-1", 1, &fixtures[0]);
        file.add("r-2", 2, &fixtures[1]);
        let refused = format!("{:#}", file.finish().unwrap_err());
        assert!(refused.contains("of r-1 and r-2"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "an older file");
    }
}
