//! From a draft to a package.

use std::collections::BTreeMap;
use std::path::Path;

use domesday_package::{
    Body, Draft as PackageDraft, Manifest, PackageId, SigningKey, Source, Timestamp,
};

use super::draft::Draft;
use super::parquet_files;
use super::{BuildError, DraftErrorKind};
use crate::catalogue::Family;
use crate::package::layout::LAYOUT_VERSION;
use crate::package::{
    AREAS, MarketsBody, OBSERVATIONS, PreviewBounds, RatesBody, ReleaseBody, SERIES, SourceFile,
};

/// The facts of a release beside its series.
#[derive(Debug, Clone)]
pub struct Publication {
    /// The family of every series of the draft.
    pub family: Family,
    /// The release's id.
    pub release_id: PackageId,
    /// The build timestamp. `None`: midnight after the newest observation's last day, so that the
    /// same inputs give the same bytes.
    pub created: Option<Timestamp>,
    /// The time of publication, if it is to be recorded.
    pub published_at: Option<Timestamp>,
    /// The limits of the export, if it is limited.
    pub preview_bounds: Option<PreviewBounds>,
    /// The files that it is built from, in any order.
    pub sources: Vec<SourceFile>,
    /// True if any value is invented.
    pub synthetic: bool,
    /// Notes to the reader, as sentences.
    pub notes: Vec<String>,
}

/// Writes the release as `<packages>/<release_id>`, unsigned. The same draft and publication give
/// the same bytes.
///
/// # Errors
///
/// The draft contradicts itself or the catalogue, or has no observation. The files cannot be
/// written, or the id is published with other bytes.
pub fn write(
    packages_dir: &Path,
    draft: Draft,
    publication: Publication,
) -> Result<Manifest, BuildError> {
    write_signed(packages_dir, draft, publication, None)
}

/// Writes the release as [`write()`] does, signed where there is a key.
///
/// # Errors
///
/// As [`write()`].
pub fn write_signed(
    packages_dir: &Path,
    mut draft: Draft,
    publication: Publication,
    key: Option<&SigningKey>,
) -> Result<Manifest, BuildError> {
    draft.settle()?;
    if let Some(series) = draft
        .series
        .iter()
        .find(|series| series.key.dataset.family != publication.family)
    {
        return Err(BuildError::Draft {
            series: series.key.id(),
            kind: DraftErrorKind::Family,
        });
    }
    let newest = draft
        .series
        .iter()
        .filter_map(|series| {
            let last = series.rows.last()?;
            Some(last.period.last_day(series.key.dataset.frequency))
        })
        .max()
        .ok_or(BuildError::Empty)?;
    let created = match publication.created {
        Some(created) => created,
        None => format!("{}T00:00:00Z", crate::add_days(newest, 1))
            .parse()
            .map_err(|_| BuildError::Empty)?,
    };
    let mut sources = publication.sources;
    sources.sort();
    sources.dedup();
    let body = ReleaseBody {
        release_id: publication.release_id.clone(),
        layout: LAYOUT_VERSION,
        published_at: publication.published_at,
        preview_bounds: publication.preview_bounds,
        sources,
        synthetic: publication.synthetic,
        notes: publication.notes,
        series: draft.series.len() as u64,
        observations: draft.series.iter().map(|s| s.rows.len() as u64).sum(),
        datasets: draft.summaries(publication.family),
    };
    let mut files = BTreeMap::from([
        (SERIES, parquet_files::series(&draft)?),
        (
            OBSERVATIONS,
            parquet_files::observations(&draft, publication.family)?,
        ),
    ]);
    if publication.family == Family::Markets {
        files.insert(AREAS, parquet_files::areas(&draft)?);
    }
    let heads = (publication.release_id, created, key);
    match publication.family {
        Family::Markets => publish(packages_dir, heads, MarketsBody(body), files),
        Family::Rates => publish(packages_dir, heads, RatesBody(body), files),
    }
}

fn publish<B: Body>(
    packages_dir: &Path,
    (id, created, key): (PackageId, Timestamp, Option<&SigningKey>),
    body: B,
    files: BTreeMap<&'static str, Vec<u8>>,
) -> Result<Manifest, BuildError> {
    let files = files
        .into_iter()
        .filter_map(|(name, bytes)| Some((name.parse().ok()?, Source::Bytes(bytes))))
        .collect();
    let draft = PackageDraft {
        id,
        created,
        body,
        files,
    };
    Ok(domesday_package::write_signed(packages_dir, draft, key)?)
}
