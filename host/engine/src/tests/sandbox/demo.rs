//! The demo of this repository: its recorded rows, and the evidence of its snapshot.

use domesday_engine::evidence::SnapshotEvidence;
use domesday_engine::fixture::{self, Fixture};
use domesday_property::Snapshot;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::Arc;

/// Returns the path of a file of the demo.
pub fn demo(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../releases")
        .join(file)
}

/// Returns the rows that are recorded of the demo's release.
pub fn homes() -> Vec<Fixture> {
    recorded_rows("valuation/synthetic-hedonic-2027-05")
}

/// Returns the rows that are recorded of a release.
pub fn recorded_rows(release: &str) -> Vec<Fixture> {
    let lines = demo(release).join("fixtures.jsonl");
    fixture::read(BufReader::new(File::open(lines).unwrap())).unwrap()
}

/// Returns the evidence of the demo's snapshot.
pub fn demo_evidence() -> Arc<SnapshotEvidence> {
    let snapshot = Snapshot::open(&demo("property/synthetic-2026-09/snapshot.redb")).unwrap();
    Arc::new(SnapshotEvidence::new(Arc::new(snapshot)))
}
