//! The folder of reports that the console shows: pages and figures of `domesday compare`, `domesday
//! release monitor` and `domesday shadow report`.
//!
//! Only plain files directly in the folder are read, each up to a bound. A link is not followed, so
//! that whoever may write a name there shows no other file of this host.

mod summary;

pub use summary::{ReportKind, ReportSummary};

use domesday_evaluation::compare::comparison::Comparison;
use domesday_evaluation::compare::header::Source;
use domesday_evaluation::monitor::MonitorReport;
use domesday_state::UnixMillis;
use rustix::fs::{Mode, OFlags};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The largest report that is read, bytes.
pub const MAX_BYTES: u64 = 4 << 20;
/// Reports that are listed, the latest first.
pub const MOST: usize = 100;

/// The folder, and the summaries of its files as they were read last.
pub struct ReportsFolder {
    path: PathBuf,
    /// By name. Listing locks it, so that many readers of the page parse each file once.
    known: Mutex<BTreeMap<String, (FileStamp, ReportSummary)>>,
}

/// The facts that change with the content of a file.
type FileStamp = (u64, u64, i64, i64);

/// A report that was read.
#[derive(Debug)]
pub enum Report {
    /// The figures of a comparison.
    Comparison(Box<Comparison>),
    /// The figures of a release in use.
    Monitor(Box<MonitorReport>),
    /// A page, as it is in the file.
    Page(String),
}

/// The reports of the folder.
pub struct Listing {
    /// Those that can be read, the latest first.
    pub reports: Vec<ReportSummary>,
    /// The reasons why others are left out.
    pub left_out: Vec<String>,
}

/// The reason why a report cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The path does not name a folder.
    #[error("{path} is not a folder; name the folder of the reports")]
    NoFolder {
        /// The path.
        path: PathBuf,
    },
    /// The name is that of no report.
    #[error("{name:?} is not the name of a report, which ends in .json or .html and has no folder")]
    Name {
        /// The name.
        name: String,
    },
    /// The name leads to something else than a file in the folder.
    #[error("{name:?} is a link or no file; copy the report itself into the folder")]
    NotAFile {
        /// The name.
        name: String,
    },
    /// The file is too large.
    #[error("{name:?} has {bytes} bytes, and a report has {MAX_BYTES} at most")]
    TooLarge {
        /// The name.
        name: String,
        /// Its bytes.
        bytes: u64,
    },
    /// The content is no report.
    #[error("{name:?} is not a report that this version reads; write it anew with this version")]
    Unknown {
        /// The name.
        name: String,
    },
    /// The file or the folder cannot be read.
    #[error("{path} cannot be read: {source}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl ReportsFolder {
    /// Opens the folder.
    ///
    /// # Errors
    /// `NoFolder` if the path is none.
    pub fn open(path: &Path) -> Result<ReportsFolder, ReportError> {
        if !path.is_dir() {
            return Err(ReportError::NoFolder {
                path: path.to_owned(),
            });
        }
        Ok(ReportsFolder {
            path: path.to_owned(),
            known: Mutex::default(),
        })
    }

    /// Lists the latest reports. Blocks.
    ///
    /// # Errors
    /// `Io` if the folder cannot be read.
    pub fn list(&self) -> Result<Listing, ReportError> {
        let io = |source| self.io_error(source);
        let mut files: Vec<(i64, String)> = Vec::new();
        let mut left_out = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(io)? {
            let entry = entry.map_err(io)?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            // Files of other kinds are not reports. They may lie there.
            if check_name(&name).is_err() || is_of_rounds(&name) {
                continue;
            }
            let metadata = entry.metadata().map_err(io)?;
            match metadata.is_file() {
                true => files.push((metadata.mtime(), name)),
                false => left_out.push(ReportError::NotAFile { name }.to_string()),
            }
        }
        files.sort_unstable_by(|one, other| other.cmp(one));
        if files.len() > MOST {
            let more = files.len() - MOST;
            left_out.push(format!(
                "{more} earlier reports; the latest {MOST} are listed"
            ));
            files.truncate(MOST);
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|name, _| files.iter().any(|(_, file)| file == name));
        let mut reports = Vec::new();
        for (_, name) in files {
            match self.summarize(&name, &mut known) {
                Ok(summary) => reports.push(summary),
                Err(error) => left_out.push(error.to_string()),
            }
        }
        Ok(Listing { reports, left_out })
    }

    /// Reads a report. Blocks.
    ///
    /// # Errors
    /// [`ReportError`] if the name or the file is none of a report.
    pub fn read(&self, name: &str) -> Result<Report, ReportError> {
        let (file, _) = self.open_file(name)?;
        self.parse(name, file)
    }

    /// Returns the summary of a report. It is read again if the file has changed.
    fn summarize(
        &self,
        name: &str,
        known: &mut BTreeMap<String, (FileStamp, ReportSummary)>,
    ) -> Result<ReportSummary, ReportError> {
        let (file, metadata) = self.open_file(name)?;
        let stamp = (
            metadata.ino(),
            metadata.size(),
            metadata.mtime(),
            metadata.mtime_nsec(),
        );
        if let Some((_, summary)) = known.get(name).filter(|(then, _)| *then == stamp) {
            return Ok(summary.clone());
        }
        let modified = UnixMillis(metadata.mtime().saturating_mul(1_000));
        let summary = ReportSummary::of(name, modified, &self.parse(name, file)?);
        known.insert(name.to_owned(), (stamp, summary.clone()));
        Ok(summary)
    }

    /// Opens a file of the folder, and follows no link.
    fn open_file(&self, name: &str) -> Result<(File, fs::Metadata), ReportError> {
        check_name(name)?;
        // A pipe would keep the thread waiting for a writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::open(self.path.join(name), flags, Mode::empty());
        let file = File::from(opened.map_err(|error| match error {
            rustix::io::Errno::LOOP => ReportError::NotAFile {
                name: name.to_owned(),
            },
            other => self.io_error(other.into()),
        })?);
        let metadata = file.metadata().map_err(|source| self.io_error(source))?;
        if !metadata.is_file() {
            return Err(ReportError::NotAFile {
                name: name.to_owned(),
            });
        }
        if metadata.len() > MAX_BYTES {
            return Err(ReportError::TooLarge {
                name: name.to_owned(),
                bytes: metadata.len(),
            });
        }
        Ok((file, metadata))
    }

    fn parse(&self, name: &str, file: File) -> Result<Report, ReportError> {
        let mut text = Vec::new();
        // A file may grow while it is read.
        let read = file.take(MAX_BYTES).read_to_end(&mut text);
        read.map_err(|source| self.io_error(source))?;
        let unknown = || ReportError::Unknown {
            name: name.to_owned(),
        };
        if !name.ends_with(".json") {
            return String::from_utf8(text)
                .map(Report::Page)
                .map_err(|_| unknown());
        }
        if let Ok(report) = serde_json::from_slice(&text) {
            return Ok(Report::Monitor(Box::new(report)));
        }
        let comparison = serde_json::from_slice(&text).map_err(|_| unknown())?;
        Ok(Report::Comparison(Box::new(comparison)))
    }

    fn io_error(&self, source: io::Error) -> ReportError {
        ReportError::Io {
            path: self.path.clone(),
            source,
        }
    }
}

impl Report {
    /// Returns its kind.
    pub fn kind(&self) -> ReportKind {
        match self {
            Report::Monitor(_) => ReportKind::Monitor,
            Report::Page(_) => ReportKind::Page,
            Report::Comparison(found) => match found.subject.rows {
                Source::Sales { .. } => ReportKind::SoldHomes,
                Source::Fixtures { .. } => ReportKind::Fixtures,
                Source::Live { .. } => ReportKind::Shadow,
            },
        }
    }
}

/// Checks that a name is one of a report in the folder itself.
fn check_name(name: &str) -> Result<(), ReportError> {
    let plain = !name.starts_with('.') && !name.contains(['/', '\0']);
    let known = name.ends_with(".json") || name.ends_with(".html");
    match plain && known {
        true => Ok(()),
        false => Err(ReportError::Name {
            name: name.to_owned(),
        }),
    }
}

/// Reports whether `domesday refresh` gives the name to its record or to the report of a round.
/// Each round writes one, so that they would take the places of the reports on releases.
fn is_of_rounds(name: &str) -> bool {
    let inner = name
        .strip_prefix("refresh-")
        .and_then(|name| name.strip_suffix(".json"));
    inner.is_some_and(|inner| {
        inner == "record" || inner.starts_with(|first: char| first.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests;
