//! The replay of a release's fixtures.

use domesday_engine::evidence::SnapshotEvidence;
use domesday_engine::fixture::{self, Fixture, FixtureError};
use domesday_engine::predictions::{self, RecordedPrediction};
use domesday_engine::replay::{Mismatch, agrees, replay};
use domesday_engine::{Release, Runtime};
use domesday_package::{Kind, Package, PackageError, PackageId, Trust, ValuationBody};
use domesday_registers::Progress;
use domesday_valuation::release_store::{ReleaseError, open_component, open_release};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Fixtures to replay on a release.
pub struct FixtureReplay<'a> {
    /// The folder of releases.
    pub root: &'a Path,
    /// The release's id.
    pub release: &'a str,
    /// The file of the fixtures, if not the release's own.
    pub fixtures: Option<&'a Path>,
    /// True if the recorded evidence is compared with the release's snapshot too.
    pub with_snapshot: bool,
}

/// The result of a replay of fixtures.
#[derive(Debug, Serialize)]
pub struct FixtureReport {
    /// The release's id.
    pub release_id: String,
    /// The engine that replayed them.
    pub engine: &'static str,
    /// The snapshot that the recorded evidence was compared with, if one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<PackageId>,
    /// The fixtures, and the model's recorded predictions where the fixtures are the release's own.
    pub rows: usize,
    /// Of these, with the same outcome to the bit.
    pub identical: usize,
    /// The first difference of each of the others.
    pub mismatches: Vec<Mismatch>,
}

/// Fixtures that cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The release cannot be opened.
    #[error(transparent)]
    Release(Box<ReleaseError>),
    /// The file cannot be opened or read.
    #[error("cannot open or read the fixtures {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file does not hold fixtures.
    #[error("invalid fixtures {}; record them with this release", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: FixtureError,
    },
    /// The package's recorded predictions cannot be read.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// The package's file does not hold recorded predictions.
    #[error("invalid recorded predictions {}", predictions::FILE)]
    InvalidPredictions(#[source] FixtureError),
}

/// A release's package, its manifest, its component, and its evidence where that is compared.
type OpenParts = (
    Package,
    ValuationBody,
    Release,
    Option<Arc<SnapshotEvidence>>,
);

impl From<ReleaseError> for ReplayError {
    fn from(error: ReleaseError) -> ReplayError {
        ReplayError::Release(Box::new(error))
    }
}

impl FixtureReplay<'_> {
    /// Runs the fixtures. A difference is a result.
    ///
    /// # Errors
    /// The release or the file of the fixtures cannot be opened or read.
    pub fn run(
        &self,
        trust: &Trust,
        runtime: &Runtime,
        progress: &mut Progress<'_>,
    ) -> Result<FixtureReport, ReplayError> {
        progress("opening the release", 0, 1);
        let (package, manifest, release, evidence) = self.open(trust, runtime)?;
        let fixtures = self.read(&manifest)?;
        // Fixtures of the caller's say nothing of the model's own rows.
        let expected = match self.fixtures {
            None => read_predictions(&package)?,
            Some(_) => Vec::new(),
        };
        let mut mismatches = Vec::new();
        for (at, fixture) in fixtures.iter().enumerate() {
            progress("replaying fixtures", at as u64, fixtures.len() as u64);
            let found = replay(&release, fixture).and_then(|()| match &evidence {
                Some(evidence) => agrees(&**evidence, fixture),
                None => Ok(()),
            });
            mismatches.extend(found.err());
        }
        if let Some(first) = fixtures.first() {
            let stand_in = Arc::new(first.subject.clone());
            let replayed = expected.iter().map(|row| row.replay(&release, &stand_in));
            mismatches.extend(replayed.filter_map(Result::err));
        }
        let rows = fixtures.len() + expected.len();
        Ok(FixtureReport {
            release_id: self.release.to_owned(),
            engine: Runtime::version(),
            snapshot: evidence.is_some().then_some(manifest.snapshot.id),
            rows,
            identical: rows - mismatches.len(),
            mismatches,
        })
    }

    /// Opens the release, and its snapshot where the evidence is compared with it.
    fn open(&self, trust: &Trust, runtime: &Runtime) -> Result<OpenParts, ReplayError> {
        let (root, id) = (self.root, self.release);
        if self.with_snapshot {
            let open = open_release(root, id, trust, runtime, &mut BTreeMap::new())?;
            let evidence = Some(open.evidence);
            return Ok((open.verified, open.manifest, open.release, evidence));
        }
        let open = open_component(root, id, trust, runtime)?;
        Ok((open.verified, open.manifest, open.release, None))
    }

    fn read(&self, manifest: &ValuationBody) -> Result<Vec<Fixture>, ReplayError> {
        let folder = || self.root.join(Kind::Valuation.as_str()).join(self.release);
        let path = match self.fixtures {
            Some(path) => path.to_owned(),
            None => folder().join(manifest.fixtures.as_str()),
        };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(source) => return Err(ReplayError::Open { path, source }),
        };
        fixture::read(BufReader::new(file)).map_err(|error| match error {
            // Text that is not UTF-8 is the file's own fault.
            FixtureError::Io(source) if source.kind() != ErrorKind::InvalidData => {
                ReplayError::Open { path, source }
            }
            source => ReplayError::Invalid { path, source },
        })
    }
}

/// Reads the recorded predictions of a package, if it has any.
fn read_predictions(package: &Package) -> Result<Vec<RecordedPrediction>, ReplayError> {
    if package.path(predictions::FILE).is_err() {
        return Ok(Vec::new());
    }
    let bytes = package.bytes(predictions::FILE)?;
    predictions::read(bytes.as_slice()).map_err(ReplayError::InvalidPredictions)
}
