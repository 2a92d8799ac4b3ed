//! The body of a release's manifest.

use domesday_package::{
    Body, BodyError, FilePath, Kind, Manifest, PackageId, Sha256Digest, Timestamp,
};
use serde::{Deserialize, Serialize};

use super::layout::LAYOUT_VERSION;
use super::{AREAS, OBSERVATIONS, SERIES};

/// The facts of a release beside its files, for either family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleaseBody {
    /// The release's id, which is the package's.
    pub release_id: PackageId,
    /// The version of the files' layout.
    pub layout: u32,
    /// The time of publication, if it is recorded.
    pub published_at: Option<Timestamp>,
    /// The first and last day that were exported, if the export was limited.
    pub preview_bounds: Option<PreviewBounds>,
    /// The files that it was built from, in the order of their names.
    pub sources: Vec<SourceFile>,
    /// Whether any of its values is invented.
    pub synthetic: bool,
    /// Notes to the reader, as sentences.
    pub notes: Vec<String>,
    /// The number of series.
    pub series: u64,
    /// The number of observations.
    pub observations: u64,
}

/// The limits of an export; each may be open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreviewBounds {
    /// The first period, as the contract writes it.
    pub from: Option<String>,
    /// The last period.
    pub to: Option<String>,
}

/// One publisher's file that went into a release.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceFile {
    /// The file's own name, without a directory. A member of an archive is `archive.zip!member`.
    pub name: String,
    /// SHA-256 of the file as read.
    pub sha256: Sha256Digest,
    /// Who published it.
    pub publisher: String,
    /// Under which terms.
    pub licence: String,
}

impl ReleaseBody {
    fn check(&self, manifest: &Manifest, files: &[&'static str]) -> Result<(), BodyError> {
        let rule =
            |holds: bool, field, rule| holds.then_some(()).ok_or(BodyError::Rule { field, rule });
        rule(
            self.release_id == manifest.id,
            "release_id",
            "must be the package's id",
        )?;
        rule(self.layout == LAYOUT_VERSION, "layout", "must be 1")?;
        BodyError::check_sources(self.sources.iter().map(|source| source.name.as_str()))?;
        for name in files {
            if !manifest.files.keys().any(|file| file.as_str() == *name) {
                let file: FilePath = name.parse().map_err(|_| BodyError::Rule {
                    field: "layout",
                    rule: "must name files",
                })?;
                return Err(BodyError::UnlistedFile {
                    field: "layout",
                    file,
                });
            }
        }
        Ok(())
    }
}

/// The body of a release of market statistics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MarketsBody(pub ReleaseBody);

impl Body for MarketsBody {
    const KIND: Kind = Kind::Markets;

    fn check(&self, manifest: &Manifest) -> Result<(), BodyError> {
        self.0.check(manifest, &[SERIES, OBSERVATIONS, AREAS])
    }
}

/// The body of a release of rates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RatesBody(pub ReleaseBody);

impl Body for RatesBody {
    const KIND: Kind = Kind::Rates;

    fn check(&self, manifest: &Manifest) -> Result<(), BodyError> {
        self.0.check(manifest, &[SERIES, OBSERVATIONS])
    }
}
