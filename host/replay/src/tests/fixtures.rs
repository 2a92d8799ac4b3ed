//! The fixtures of the demo's release.

use domesday_engine::config::Allocation;
use domesday_engine::{Runtime, fixture};
use domesday_package::Trust;
use domesday_replay::{FixtureReplay, FixtureReport, ReplayError};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Returns the folder of releases that a fresh checkout serves, and its release's id.
fn demo() -> (PathBuf, String) {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../releases");
    let mut releases = std::fs::read_dir(root.join("valuation")).unwrap();
    let name = releases.next().unwrap().unwrap().file_name();
    (root, name.to_str().unwrap().to_owned())
}

fn run(fixtures: Option<&Path>, with_snapshot: bool) -> Result<FixtureReport, ReplayError> {
    let (root, release) = demo();
    let replay = FixtureReplay {
        root: &root,
        release: &release,
        fixtures,
        with_snapshot,
    };
    let runtime = Runtime::new(Allocation::OnDemand).unwrap();
    replay.run(&Trust::Unsigned, &runtime, &mut |_, _, _| {})
}

#[test]
fn the_fixtures_of_the_demo_are_identical_and_agree_with_its_snapshot() {
    let report = run(None, true).unwrap();
    assert!(report.rows > 0);
    assert_eq!(report.identical, report.rows);
    assert!(report.mismatches.is_empty(), "{:?}", report.mismatches);
    assert!(report.snapshot.is_some());
}

#[test]
fn a_fixture_of_another_release_is_a_difference_and_a_lost_file_an_error() {
    let (root, release) = demo();
    let own = root.join("valuation").join(release).join("fixtures.jsonl");
    let text = std::fs::read_to_string(own).unwrap();
    let mut fixtures = fixture::read(text.as_bytes()).unwrap();
    // The first home with the outcome of another.
    let first = &fixtures[0].result;
    let other = fixtures.iter().find(|other| other.result != *first);
    fixtures[0].result = other.unwrap().result.clone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changed.jsonl");
    fixture::write(&fixtures[..1], File::create(&path).unwrap()).unwrap();
    let report = run(Some(&path), false).unwrap();
    assert_eq!((report.rows, report.identical), (1, 0));
    assert_eq!(report.snapshot, None);
    assert!(report.mismatches[0].field.starts_with("/result"));

    let absent = run(Some(&folder.path().join("absent")), false);
    assert!(matches!(absent, Err(ReplayError::Open { .. })));
    for invalid in [&b"{}\n"[..], b"\xff\n"] {
        std::fs::write(&path, invalid).unwrap();
        assert!(matches!(
            run(Some(&path), false),
            Err(ReplayError::Invalid { .. })
        ));
    }
}

#[test]
fn fixtures_that_cannot_be_read_are_not_called_invalid() {
    // A folder can be opened, and not be read.
    let folder = tempfile::tempdir().unwrap();
    let refused = run(Some(folder.path()), false);
    assert!(matches!(refused, Err(ReplayError::Open { .. })));
}
