//! Makes a comparison of stored pairs.

use super::exclusions::Counts;
use super::header::FolderHeader;
use super::store::{CURRENT_FILE, HEADER_FILE, StoredPair, rows};
use chrono::{DateTime, SecondsFormat};
use domesday_evaluation::compare::comparison::Comparison;
use domesday_evaluation::compare::header::Source;
use domesday_evaluation::compare::paired::PairedRow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The folder of pairs in the data folder.
pub const FOLDER: &str = "shadow";

/// The reason why there is no comparison.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The candidate never was a shadow on this host.
    #[error(
        "no rows of {candidate} as a shadow in {data}; run `domesday shadow start {candidate}` first"
    )]
    Nothing {
        /// The data folder.
        data: PathBuf,
        /// The candidate.
        candidate: String,
    },
    /// The candidate was no shadow of this release, or no row was compared.
    #[error(
        "no rows of {candidate} as a shadow beside {current} in {data}; name another --against"
    )]
    NothingBeside {
        /// The data folder.
        data: PathBuf,
        /// The candidate.
        candidate: String,
        /// The release beside which it would have run.
        current: String,
    },
    /// Every row was excluded.
    #[error(
        "no row of {candidate} beside {current} was compared: {kinds}. Wait until the shadow has \
         valued other requests"
    )]
    AllExcluded {
        /// The candidate.
        candidate: String,
        /// The release beside which it ran.
        current: String,
        /// The reasons and how often each applied.
        kinds: String,
    },
    /// A file or folder cannot be read.
    #[error("cannot read {path}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The header is damaged.
    #[error("invalid header of the shadow's rows in {path}")]
    Header {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: serde_json::Error,
    },
}

/// Compares a candidate with the release that it stood beside: the last one, or the one that
/// `against` names.
///
/// # Errors
/// Nothing is stored of the two, or it cannot be read.
pub fn comparison(
    data: &Path,
    candidate: &str,
    against: Option<&str>,
) -> Result<Comparison, ReportError> {
    let all = data.join(FOLDER).join(candidate);
    let current = match against {
        Some(current) => current.to_owned(),
        None => latest(&all).ok_or_else(|| ReportError::Nothing {
            data: data.to_owned(),
            candidate: candidate.to_owned(),
        })?,
    };
    let folder = all.join(&current);
    let io = |source| ReportError::Io {
        path: folder.clone(),
        source,
    };
    let nothing = || ReportError::NothingBeside {
        data: data.to_owned(),
        candidate: candidate.to_owned(),
        current: current.clone(),
    };
    let text = match fs::read(folder.join(HEADER_FILE)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(nothing());
        }
        text => text.map_err(io)?,
    };
    let mut header: FolderHeader =
        serde_json::from_slice(&text).map_err(|source| ReportError::Header {
            path: folder.join(HEADER_FILE),
            source,
        })?;
    let stored = rows(&folder).map_err(io)?;
    let counts = Counts::read(&folder).map_err(io)?;
    let (Some(first), Some(last)) = (stored.first(), stored.last()) else {
        return Err(match counts.left_out.in_words() {
            Some(kinds) => ReportError::AllExcluded {
                candidate: candidate.to_owned(),
                current,
                kinds,
            },
            None => nothing(),
        });
    };
    if let Source::Live {
        first: from,
        last: to,
        share,
        shares,
        truncated,
        counted_since,
        left_out,
    } = &mut header.header.rows
    {
        (*from, *to) = (time(first.at), time(last.at));
        *shares = Some(share_range(&stored, *share));
        *truncated = counts.replaced > 0;
        (*counted_since, *left_out) = (counts.since.map(time), counts.left_out);
    }
    let pairs: Vec<PairedRow> = stored.into_iter().enumerate().map(numbered_row).collect();
    let names = &header.authorities;
    Ok(Comparison::of(header.header, &pairs, &|code| {
        names.get(code).cloned()
    }))
}

/// Returns the smallest and the largest sampling share. `share` is the share of rows without one.
fn share_range(stored: &[StoredPair], share: f64) -> [f64; 2] {
    let shares = stored.iter().map(|row| row.share.unwrap_or(share));
    shares.fold([f64::INFINITY, 0.0], |[least, most], share| {
        [least.min(share), most.max(share)]
    })
}

/// Returns the release that the candidate stood beside last.
fn latest(folder: &Path) -> Option<String> {
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let last_write = |entry: &fs::DirEntry| -> SystemTime {
        let file = fs::metadata(entry.path().join(CURRENT_FILE));
        file.and_then(|file| file.modified())
            .unwrap_or(SystemTime::UNIX_EPOCH)
    };
    let last = entries.max_by_key(|entry| (last_write(entry), entry.file_name()))?;
    Some(last.file_name().to_string_lossy().into_owned())
}

fn numbered_row((at, stored): (usize, StoredPair)) -> PairedRow {
    PairedRow {
        row: format!("row {} of {}", at + 1, time(stored.at)),
        ..stored.pair
    }
}

fn time(seconds: i64) -> String {
    let at = DateTime::from_timestamp_secs(seconds).unwrap_or_default();
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}
