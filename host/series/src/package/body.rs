//! The body of a release's manifest.

use domesday_package::{
    Body, BodyError, FilePath, Kind, Manifest, PackageId, Sha256Digest, Timestamp,
};
use serde::{Deserialize, Serialize};

use super::layout::LAYOUT_VERSION;
use super::{AREAS, OBSERVATIONS, SERIES};
use crate::Period;
use crate::catalogue::Dataset;

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
    /// True if any of its values is invented.
    pub synthetic: bool,
    /// Notes to the reader, as sentences.
    pub notes: Vec<String>,
    /// The number of series.
    pub series: u64,
    /// The number of observations.
    pub observations: u64,
    /// Every dataset of the family. Absent in packages of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub datasets: Vec<DatasetSummary>,
}

/// The extent of one dataset in a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatasetSummary {
    /// Its id.
    pub dataset: String,
    /// The first period of any of its series, as the contract writes it.
    pub from: Option<String>,
    /// The last period of any of its series.
    pub to: Option<String>,
    /// The number of series.
    pub series: u64,
    /// The reason why it is empty or incomplete, and the inputs to give.
    pub reason: Option<String>,
}

impl DatasetSummary {
    /// Returns the summary of a dataset with the first and last period of its observations.
    pub fn new(
        dataset: &Dataset,
        series: usize,
        history: Option<(Period, Period)>,
        reason: Option<String>,
    ) -> DatasetSummary {
        DatasetSummary {
            dataset: dataset.id.to_owned(),
            from: history.map(|(first, _)| first.text(dataset.frequency)),
            to: history.map(|(_, last)| last.text(dataset.frequency)),
            series: series as u64,
            reason,
        }
    }
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
    /// Publisher of the source.
    pub publisher: String,
    /// Under which terms.
    pub licence: String,
}

impl ReleaseBody {
    /// Returns the reason why a dataset is empty or incomplete, if the builder stated one.
    pub fn reason(&self, dataset: &Dataset) -> Option<&str> {
        let mut all = self.datasets.iter();
        all.find(|summary| summary.dataset == dataset.id)?
            .reason
            .as_deref()
    }

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
