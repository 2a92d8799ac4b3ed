//! The rows of a profile: recorded ones, those of a batch, or homes of the snapshot.

use super::ProfileError;
use crate::check::sampled_homes;
use domesday_engine::evidence::{EvidenceSource, Exchange, RecordedEvidence};
use domesday_engine::fixture;
use domesday_engine::subject::Subject;
use domesday_valuation::pipeline::batch_subjects::batch_subjects;
use domesday_valuation::release_store::OpenRelease;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The rows that a profile runs.
#[derive(Clone, Debug)]
pub enum ProfiledRows {
    /// The fixtures of the package, on their recorded evidence.
    Fixtures,
    /// The body of a batch.
    Batch(PathBuf),
    /// At most as many homes of the snapshot.
    Homes(usize),
}

/// A row to run.
pub(super) struct ProfiledRow {
    pub(super) name: String,
    pub(super) subject: Arc<Subject>,
    source: Source,
}

enum Source {
    Recorded(Vec<Exchange>),
    Snapshot(Arc<dyn EvidenceSource>),
}

impl ProfiledRow {
    /// Returns evidence for one run of the row.
    pub(super) fn evidence(&self) -> Arc<dyn EvidenceSource> {
        match &self.source {
            Source::Recorded(exchanges) => Arc::new(RecordedEvidence::new(exchanges.clone())),
            Source::Snapshot(evidence) => evidence.clone(),
        }
    }
}

/// Rows to run, and those that the release does not value, with the reason.
pub(super) type Rows = (Vec<ProfiledRow>, Vec<(String, String)>);

/// Reads the rows.
///
/// # Errors
/// [`ProfileError`] if the file, the fixtures or the snapshot cannot be read.
pub(super) fn read(open: &Arc<OpenRelease>, rows: &ProfiledRows) -> Result<Rows, ProfileError> {
    match rows {
        ProfiledRows::Fixtures => {
            let bytes = open.verified.bytes(open.manifest.fixtures.as_str())?;
            let rows = fixture::read(Cursor::new(bytes))?.into_iter();
            let rows = rows.map(|fixture| ProfiledRow {
                name: fixture.row,
                subject: Arc::new(fixture.subject),
                source: Source::Recorded(fixture.evidence),
            });
            Ok((rows.collect(), Vec::new()))
        }
        ProfiledRows::Batch(path) => of_batch(open, path),
        ProfiledRows::Homes(most) => {
            let homes = sampled_homes(open, *most)?.into_iter();
            let rows = homes.map(|(name, subject)| on_snapshot(open, name, subject));
            Ok((rows.collect(), Vec::new()))
        }
    }
}

fn of_batch(open: &Arc<OpenRelease>, path: &Path) -> Result<Rows, ProfileError> {
    let body = std::fs::read(path).map_err(|source| ProfileError::File {
        path: path.to_owned(),
        source,
    })?;
    let batch = batch_subjects(open, &body).map_err(|error| ProfileError::NotABatch {
        path: path.to_owned(),
        problem: error
            .errors
            .first()
            .map_or_else(String::new, |first| first.message.to_string()),
    })?;
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    for row in batch {
        match row.subject {
            Ok(subject) => rows.push(on_snapshot(open, row.name, Arc::new(subject))),
            Err(reason) => left_out.push((row.name, reason)),
        }
    }
    Ok((rows, left_out))
}

fn on_snapshot(open: &OpenRelease, name: String, subject: Arc<Subject>) -> ProfiledRow {
    ProfiledRow {
        name,
        subject,
        source: Source::Snapshot(open.evidence.clone()),
    }
}
