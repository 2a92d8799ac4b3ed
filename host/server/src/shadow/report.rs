//! Makes a comparison of stored pairs.

use super::exclusions::Counts;
use super::header::FolderHeader;
use super::store::{ABOUT, NOW, StoredPair, rows};
use anyhow::{Context, bail};
use chrono::{DateTime, SecondsFormat};
use domesday_evaluation::compare::comparison::Comparison;
use domesday_evaluation::compare::header::Source;
use domesday_evaluation::compare::paired::PairedRow;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// The folder of pairs in the data folder.
pub const FOLDER: &str = "shadow";

/// Compares a candidate with the release that `against` names, by default the latest one beside it.
///
/// # Errors
/// Nothing is stored of the two, or it cannot be read.
pub fn comparison(
    data: &Path,
    candidate: &str,
    against: Option<&str>,
) -> anyhow::Result<Comparison> {
    let all = data.join(FOLDER).join(candidate);
    let current = match against {
        Some(current) => current.to_owned(),
        None => latest(&all).with_context(|| nothing(data, candidate))?,
    };
    let folder = all.join(&current);
    let text = match fs::read(folder.join(ABOUT)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            bail!("{} beside {current}", nothing(data, candidate))
        }
        text => text.with_context(|| folder.display().to_string())?,
    };
    let mut about: FolderHeader =
        serde_json::from_slice(&text).with_context(|| folder.join(ABOUT).display().to_string())?;
    let kept = rows(&folder).with_context(|| folder.display().to_string())?;
    let counts = Counts::read(&folder).with_context(|| folder.display().to_string())?;
    let (Some(first), Some(last)) = (kept.first(), kept.last()) else {
        match counts.left_out.in_words() {
            Some(kinds) => bail!("no row of {candidate} beside {current} was compared: {kinds}"),
            None => bail!("{} beside {current}", nothing(data, candidate)),
        }
    };
    if let Source::Live {
        first: from,
        last: to,
        share,
        shares,
        truncated,
        counted_since,
        left_out,
    } = &mut about.header.rows
    {
        (*from, *to) = (time(first.at), time(last.at));
        *shares = Some(taken(&kept, *share));
        *truncated = counts.replaced > 0;
        (*counted_since, *left_out) = (counts.since.map(time), counts.left_out);
    }
    let pairs: Vec<PairedRow> = kept.into_iter().enumerate().map(named).collect();
    let names = &about.authorities;
    Ok(Comparison::of(about.header, &pairs, &|code| {
        names.get(code).cloned()
    }))
}

/// Returns the smallest and the largest sampling share. `share` is the share of rows without one.
fn taken(kept: &[StoredPair], share: f64) -> [f64; 2] {
    let shares = kept.iter().map(|row| row.share.unwrap_or(share));
    shares.fold([f64::INFINITY, 0.0], |[least, most], share| {
        [least.min(share), most.max(share)]
    })
}

fn nothing(data: &Path, candidate: &str) -> String {
    format!(
        "nothing was kept in {} of {candidate} as a shadow",
        data.display()
    )
}

/// Returns the release that the candidate ran beside last.
fn latest(folder: &Path) -> Option<String> {
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let written = |entry: &fs::DirEntry| -> SystemTime {
        let file = fs::metadata(entry.path().join(NOW));
        file.and_then(|file| file.modified())
            .unwrap_or(SystemTime::UNIX_EPOCH)
    };
    let last = entries.max_by_key(|entry| (written(entry), entry.file_name()))?;
    Some(last.file_name().to_string_lossy().into_owned())
}

fn named((at, kept): (usize, StoredPair)) -> PairedRow {
    PairedRow {
        row: format!("row {} of {}", at + 1, time(kept.at)),
        ..kept.pair
    }
}

fn time(seconds: i64) -> String {
    let at = DateTime::from_timestamp_secs(seconds).unwrap_or_default();
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}
