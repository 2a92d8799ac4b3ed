//! From the publishers' downloads to a snapshot directory.
//!
//! The passes, each a file here: `places` (postcodes and authorities), `homes` (address file
//! and certificates to properties), `sales` (price paid data, joined to properties by
//! address), `figures` and `indices` (what is worked out ahead), and `write` (the tables).
//! Every pass reads rows one at a time and keeps compact seeds, which [`sort::sorted`] puts
//! in key order; a later pass sees only sorted seeds. So nothing depends on the order in
//! which files or rows were read.
//!
//! Where price paid or index files disagree about one and the same thing, the later file
//! wins: the one whose latest row is later, and between equals the one with the greater
//! SHA-256. Of certificates lodged twice under one key, and of address file rows with one
//! UPRN, the greater in order of content stays. Neither file names nor their order on the
//! command line play a part.

mod addresses;
mod authorities;
mod figures;
mod homes;
mod indices;
mod inputs;
mod join;
mod keys;
mod places;
mod publish;
mod rejects;
mod report;
mod sales;
mod settle;
mod sort;
mod sources;
mod write;

use crate::SnapshotError;
use domesday_registers::ReadError;
use domesday_registers::sources::Unreadable;
use std::io;
use std::path::{Path, PathBuf};

pub use domesday_registers::sources::{FileReport, Watch};
pub use inputs::Inputs;
pub use report::{HomesReport, PlacesReport, Report, SalesReport};

/// Names of the files in a snapshot directory.
pub const SNAPSHOT_FILE: &str = "snapshot.redb";
/// The build report, as JSON.
pub const REPORT_FILE: &str = "report.json";
/// Rows that were not taken: file, line, reason, value.
pub const REJECTS_FILE: &str = "rejects.csv";

/// Why a snapshot could not be built. Damaged rows are no reason: they are rejected and counted.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A file is not what it was given as.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A published snapshot never changes.
    #[error("{} exists already; a snapshot is never overwritten", path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// Two different texts have one fingerprint. It has not been seen; the file format must change.
    #[error("two different {what} have the fingerprint {fingerprint:016x}")]
    Collision {
        /// What they are.
        what: &'static str,
        /// Their fingerprint.
        fingerprint: u64,
    },
    /// The tables could not be written.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

impl From<Unreadable> for BuildError {
    fn from(Unreadable { path, source }: Unreadable) -> BuildError {
        BuildError::Io { path, source }
    }
}

impl BuildError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> BuildError + '_ {
        |source| BuildError::Io {
            path: path.to_owned(),
            source,
        }
    }
}

/// Builds a snapshot into `directory`, which must not exist yet.
///
/// Everything is written under a neighbouring name and renamed when complete, so that no
/// half-built snapshot is ever found under `directory`.
///
/// # Errors
/// See [`BuildError`].
pub fn build(
    snapshot_id: &str,
    inputs: &Inputs,
    directory: &Path,
    watch: &mut Watch<'_>,
) -> Result<Report, BuildError> {
    let staged = publish::Staged::begin(directory)?;
    let rejects = rejects::RejectsFile::create(&staged.path(REJECTS_FILE))?;
    let mut sources = sources::Sources::list(inputs, rejects, watch)?;

    let authorities = authorities::read(&mut sources)?;
    let places = places::read(&mut sources, &authorities)?;
    let mut homes = homes::read(&mut sources, &places, &authorities)?;
    let read = sales::read(&mut sources, &homes)?;
    let indices = indices::read(&mut sources)?;

    sources.tell("join", 0, 3);
    let settled = settle::settle(read)?;
    sources.tell("join", 1, 3);
    let joined = join::join(settled, &mut homes, &places);
    sources.tell("join", 2, 3);
    let figures = figures::compute(&joined);
    sources.tell("join", 3, 3);
    let addresses = addresses::list(&mut homes, &joined);

    let contents = write::Contents {
        places: &places,
        homes: &homes,
        addresses: &addresses,
        sales: &joined,
        figures: &figures,
        indices: &indices,
    };
    let (files, rejects) = sources.finish();
    rejects.finish()?;
    let database = staged.path(SNAPSHOT_FILE);
    let identity = write::write(&database, snapshot_id, &files, &contents, watch)?;
    let report = Report {
        identity,
        files,
        places: places.report,
        homes: homes.report,
        sales: joined.report,
    };
    publish::write_json(&staged.path(REPORT_FILE), &report)?;
    staged.publish()?;
    Ok(report)
}
