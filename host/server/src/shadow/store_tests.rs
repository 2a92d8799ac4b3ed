//! The selection and the limit of stored pairs.

use super::*;
use domesday_evaluation::compare::header::{ComparedRelease, Header, Source};
use domesday_evaluation::compare::paired::{ComparedOutcome, Side};
use domesday_evaluation::compare::sides::Sides;
use domesday_evaluation::report::TrainingData;
use domesday_registers::codes::PropertyType;
use std::os::unix::fs::PermissionsExt;

fn header() -> FolderHeader {
    let release = || ComparedRelease {
        release_id: "made-up".to_owned(),
        model: "made-up".to_owned(),
        model_version: "1".to_owned(),
        snapshot_id: "made-up".to_owned(),
        snapshot_content: String::new(),
        latest_sale: None,
        nominal_coverage: 0.8,
        bands: Vec::new(),
        training_data: TrainingData::Nothing,
    };
    let releases = Sides {
        a: release(),
        b: release(),
    };
    let rows = Source::Fixtures {
        file: String::new(),
    };
    FolderHeader {
        header: Header {
            releases,
            rows,
            least_rows: 30,
        },
        authorities: Default::default(),
    }
}

fn row(at: i64) -> StoredPair {
    let side = || Side {
        outcome: ComparedOutcome::Referred {
            reason: "short_lease".to_owned(),
        },
        fuel: 7,
        micros: 1.5,
    };
    let pair = PairedRow {
        row: String::new(),
        property_type: PropertyType::Flat,
        authority: String::new(),
        postcode_area: "ZZ".to_owned(),
        postcode: None,
        price: None,
        sides: Sides {
            a: side(),
            b: side(),
        },
    };
    StoredPair {
        at,
        share: Some(0.5),
        pair,
    }
}

/// Returns the times of the stored rows and the number of removed rows.
fn times(folder: &Path) -> (Vec<i64>, u64) {
    let rows = rows(folder).unwrap();
    let replaced = Counts::read(folder).unwrap().replaced;
    (rows.iter().map(|row| row.at).collect(), replaced)
}

#[test]
fn the_latest_rows_are_kept_and_no_more_than_twice_as_many_as_a_file_has() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("candidate");
    let mut store = PairStore::new(folder.clone());
    store.max_rows = 3;
    for at in 0..3 {
        store.append("current", &row(at), header).unwrap();
    }
    assert_eq!(times(&folder.join("current")), (vec![0, 1, 2], 0));
    // A restarted host continues with the stored rows.
    let mut store = PairStore::new(folder.clone());
    store.max_rows = 3;
    for at in 3..5 {
        store.append("current", &row(at), header).unwrap();
    }
    // Two files, and no row removed yet.
    assert_eq!(times(&folder.join("current")), (vec![0, 1, 2, 3, 4], 0));
    for at in 5..8 {
        store.append("current", &row(at), header).unwrap();
    }
    assert_eq!(times(&folder.join("current")), (vec![3, 4, 5, 6, 7], 3));
    // Rows beside another release are separate.
    store.append("next", &row(9), header).unwrap();
    store.append("current", &row(10), header).unwrap();
    assert_eq!(times(&folder.join("next")), (vec![9], 0));
    assert_eq!(times(&folder.join("current")).0.last(), Some(&10));
    let mode = |name: &str| {
        let path = folder.join("current").join(name);
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!((mode(CURRENT_FILE), mode(HEADER_FILE)), (0o600, 0o600));
}

#[test]
fn a_line_that_was_cut_off_costs_itself_alone() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("current");
    let mut store = PairStore::new(temporary.path().to_owned());
    store.append("current", &row(1), header).unwrap();
    let mut text = fs::read(folder.join(CURRENT_FILE)).unwrap();
    text.extend_from_slice(b"{\"at\": 2, \"pai");
    fs::write(folder.join(CURRENT_FILE), text).unwrap();
    assert_eq!(times(&folder).0, [1]);
    PairStore::new(temporary.path().to_owned())
        .append("current", &row(3), header)
        .unwrap();
    assert_eq!(times(&folder).0, [1, 3]);
}

#[test]
fn a_folder_that_is_deleted_is_made_again() {
    let temporary = tempfile::tempdir().unwrap();
    let candidate = temporary.path().join("candidate");
    let folder = candidate.join("current");
    let mut store = PairStore::new(candidate.clone());
    store.append("current", &row(1), header).unwrap();
    fs::remove_dir_all(&candidate).unwrap();
    store.append("current", &row(2), header).unwrap();
    assert_eq!(times(&folder).0, [2]);
    assert!(folder.join(HEADER_FILE).exists());
    // The same with the file alone.
    fs::remove_file(folder.join(CURRENT_FILE)).unwrap();
    store.append("current", &row(3), header).unwrap();
    assert_eq!(times(&folder).0, [3]);
}

#[test]
fn rows_that_are_left_out_are_counted_over_lives_of_the_host() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("current");
    for life in 0..2 {
        let mut store = PairStore::new(temporary.path().to_owned());
        store.count_excluded("current", (ExclusionReason::Dropped, 3), 60 + life, header);
        store.count_excluded(
            "current",
            (ExclusionReason::HostFailure, 1),
            60 + life,
            header,
        );
        store.count_excluded(
            "next",
            (ExclusionReason::OutsideDates, 1),
            60 + life,
            header,
        );
        store.write_counts().unwrap();
        // Written counts are not added again.
        store.write_counts().unwrap();
    }
    let counts = Counts::read(&folder).unwrap();
    assert_eq!((counts.since, counts.replaced), (Some(60), 0));
    assert_eq!(
        (counts.left_out.dropped, counts.left_out.host_failure),
        (6, 2)
    );
    assert_eq!(counts.left_out.outside_dates, 0);
    let next = Counts::read(&temporary.path().join("next")).unwrap();
    assert_eq!(next.left_out.outside_dates, 2);
    // No row, and still a report.
    assert!(rows(&folder).unwrap().is_empty() && folder.join(HEADER_FILE).exists());
}

#[test]
fn counts_survive_a_failed_write() {
    let temporary = tempfile::tempdir().unwrap();
    let candidate = temporary.path().join("candidate");
    fs::write(&candidate, "in the way").unwrap();
    let mut store = PairStore::new(candidate.clone());
    store.append("current", &row(1), header).unwrap_err();
    store.count_excluded("current", (ExclusionReason::WriteFailed, 1), 1, header);
    store.write_counts().unwrap_err();
    fs::remove_file(&candidate).unwrap();
    store.count_excluded("current", (ExclusionReason::WriteFailed, 1), 1, header);
    store.write_counts().unwrap();
    let counts = Counts::read(&candidate.join("current")).unwrap();
    assert_eq!(counts.left_out.write_failed, 2);
}

#[test]
fn a_folder_that_is_deleted_keeps_no_other_from_being_written() {
    let temporary = tempfile::tempdir().unwrap();
    let mut store = PairStore::new(temporary.path().to_owned());
    store.count_excluded("current", (ExclusionReason::Dropped, 1), 1, header);
    store.count_excluded("next", (ExclusionReason::Dropped, 2), 1, header);
    fs::remove_dir_all(temporary.path().join("current")).unwrap();
    store.write_counts().unwrap();
    let next = Counts::read(&temporary.path().join("next")).unwrap();
    assert_eq!(next.left_out.dropped, 2);
}
