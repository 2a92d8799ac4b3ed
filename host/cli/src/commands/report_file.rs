//! Report files. A command opens them at its beginning and writes them at its end. So a path that
//! cannot be written fails before the work.

use anyhow::{Context, bail};
use domesday_evaluation::compare::comparison::Comparison;
use domesday_evaluation::compare::html::page;
use domesday_evaluation::compare::summary::summary;
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// An open file. Its previous content stays until [`ReportFile::write`]. If that is never called,
/// dropping it removes a file that `open` created.
pub struct ReportFile {
    path: PathBuf,
    file: File,
    /// True if dropping it removes the file.
    remove_on_drop: bool,
}

impl ReportFile {
    /// Opens a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn open(path: &Path) -> anyhow::Result<ReportFile> {
        let mut options = OpenOptions::new();
        options.write(true);
        let remove_on_drop = !path.exists();
        let file = options.create(remove_on_drop).truncate(false).open(path);
        Ok(ReportFile {
            file: file.with_context(|| format!("cannot create or open {}", path.display()))?,
            path: path.to_owned(),
            remove_on_drop,
        })
    }

    /// Opens the file, if there is a path.
    ///
    /// # Errors
    /// As [`ReportFile::open`].
    pub fn open_optional(path: Option<&Path>) -> anyhow::Result<Option<ReportFile>> {
        path.map(ReportFile::open).transpose()
    }

    /// Replaces the content with a document as indented JSON.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_json(self, document: &impl Serialize) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec_pretty(document)?;
        text.push(b'\n');
        self.write(&text)
    }

    /// Replaces the content.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.remove_on_drop = false;
        let write = |file: &mut File| {
            // A pipe or a terminal holds nothing that could be cut.
            if file.metadata()?.is_file() {
                file.set_len(0)?;
            }
            file.write_all(bytes)
        };
        write(&mut self.file).with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Returns the device and inode of a regular file, and `None` for a device.
    fn identity(&self) -> anyhow::Result<Option<(u64, u64)>> {
        let metadata = self.file.metadata();
        let metadata = metadata.with_context(|| format!("cannot read {}", self.path.display()))?;
        Ok(metadata.is_file().then(|| (metadata.dev(), metadata.ino())))
    }
}

impl Drop for ReportFile {
    fn drop(&mut self) {
        if self.remove_on_drop {
            // Nobody could do anything about it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The options of a command that reports a comparison.
#[derive(Debug, clap::Args)]
pub struct ReportFileArgs {
    /// Write an HTML report with plots.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write all metrics as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The open files of [`ReportFileArgs`].
pub struct OpenReportFiles {
    report: Option<ReportFile>,
    json: Option<ReportFile>,
}

impl ReportFileArgs {
    /// Opens the files, before any work is done for them. Their content stays until they are
    /// written.
    ///
    /// # Errors
    /// A file cannot be written, or both paths name one file.
    pub fn open(&self) -> anyhow::Result<OpenReportFiles> {
        let files = OpenReportFiles {
            report: ReportFile::open_optional(self.report.as_deref())?,
            json: ReportFile::open_optional(self.json.as_deref())?,
        };
        check_distinct(&[("--report", &files.report), ("--json", &files.json)])?;
        Ok(files)
    }
}

impl OpenReportFiles {
    /// Writes the files, and then prints the comparison.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(self, comparison: &Comparison) -> anyhow::Result<()> {
        if let Some(json) = self.json {
            json.write_json(comparison)?;
        }
        if let Some(report) = self.report {
            let page = page(comparison).context("cannot make the page of the comparison")?;
            report.write(page.as_bytes())?;
        }
        print!("{}", summary(comparison));
        Ok(())
    }
}

/// Refuses two options that name one file, by whichever paths.
///
/// # Errors
/// The two options.
pub fn check_distinct(outputs: &[(&str, &Option<ReportFile>)]) -> anyhow::Result<()> {
    let mut seen: Vec<(&str, (u64, u64))> = Vec::new();
    for (option, output) in outputs {
        let Some(output) = output else { continue };
        let Some(identity) = output.identity()? else {
            continue;
        };
        if let Some((other, _)) = seen.iter().find(|(_, other)| *other == identity) {
            bail!(
                "{other} and {option} are one file, {}: name two",
                output.path.display()
            );
        }
        seen.push((option, identity));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_written_whole_or_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        fs::write(&old, "what was there before").unwrap();
        let open = |path: &Path| ReportFile::open(path).unwrap();
        drop((open(&old), open(&new)));
        assert_eq!(fs::read(&old).unwrap(), b"what was there before");
        assert!(!new.exists());
        for path in [&old, &new] {
            open(path).write(b"short").unwrap();
            assert_eq!(fs::read(path).unwrap(), b"short");
        }
        assert!(ReportFile::open(&folder.path().join("nowhere/x")).is_err());
    }

    #[test]
    fn one_file_by_two_names_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        fs::write(&one, "").unwrap();
        std::os::unix::fs::symlink(&one, &other).unwrap();
        let open = |path: &Path| Some(ReportFile::open(path).unwrap());
        let (a, b) = (open(&one), open(&other));
        let result = check_distinct(&[("--a", &a), ("--b", &None), ("--c", &b)]);
        assert!(result.unwrap_err().to_string().contains("--a and --c"));
        let (a, b) = (open(Path::new("/dev/null")), open(Path::new("/dev/null")));
        check_distinct(&[("--a", &a), ("--b", &b)]).unwrap();
    }
}
