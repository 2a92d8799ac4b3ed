use super::*;
use std::os::unix::fs::PermissionsExt;

const ENTRIES: [&str; 3] = ["journal-of-backup", "ledger.key", "state.redb"];

fn source(name: &str) -> Sha256Digest {
    Sha256Digest::of(name.as_bytes())
}

/// Makes the content of a test.
fn make_content(staged: &StagedContent) {
    let content = staged.path();
    fs::create_dir(content.join(ENTRIES[0])).unwrap();
    fs::write(content.join(ENTRIES[0]).join("heads.jsonl"), "a head").unwrap();
    for name in &ENTRIES[1..] {
        fs::write(content.join(name), name).unwrap();
    }
}

/// Checks that the folder has the content of the test, and nothing else.
#[track_caller]
fn check_content(folder: &Path) {
    check_no_staged_content(folder).unwrap();
    let mut found = names(folder).unwrap();
    found.sort();
    assert_eq!(found, ENTRIES);
    let head = fs::read_to_string(folder.join(ENTRIES[0]).join("heads.jsonl"));
    assert_eq!(head.unwrap(), "a head");
    for name in &ENTRIES[1..] {
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), *name);
    }
}

#[test]
fn content_takes_its_place_in_an_absent_an_empty_and_a_fresh_folder() {
    let place = tempfile::tempdir().unwrap();
    let folders = ["above/absent", "empty", "fresh"].map(|name| place.path().join(name));
    make_directory(&folders[1]).unwrap();
    make_directory(&folders[2].join(LOST_FOUND)).unwrap();
    for folder in &folders {
        let staged = StagedContent::begin(folder, &source("a backup")).unwrap();
        make_content(&staged);
        staged.finish().unwrap();
        let _ = fs::remove_dir(folder.join(LOST_FOUND));
        check_content(folder);
        let mode = fs::metadata(folders[0].as_path()).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}

/// The process may end after each change of a name. The folder is refused until another one is
/// done, and nothing is lost or made twice.
#[test]
fn a_process_that_ends_at_any_moment_leaves_a_folder_that_is_refused_and_can_be_finished() {
    // Moments: nothing made, half made, whole, after each move, and after each removal.
    for moment in 0..8 {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("data");
        let mut staged = StagedContent::begin(&folder, &source("a backup")).unwrap();
        match moment {
            0 => {}
            1 => fs::write(staged.path().join(ENTRIES[2]), "ha").unwrap(),
            _ => {
                make_content(&staged);
                staged.record_whole().unwrap();
            }
        }
        let staging = folder.join(WHOLE);
        for name in ENTRIES.iter().take(usize::max(moment, 2) - 2) {
            fs::rename(staging.join(CONTENT).join(name), folder.join(name)).unwrap();
        }
        if moment >= 6 {
            fs::remove_dir(staging.join(CONTENT)).unwrap();
        }
        if moment == 7 {
            fs::remove_file(staging.join(SOURCE)).unwrap();
        }
        // A process that is killed removes nothing.
        staged.is_whole = true;
        drop(staged);
        let refused = check_no_staged_content(&folder).unwrap_err();
        assert!(matches!(refused, StagedContentError::Unfinished { .. }));

        let begun = StagedContent::begin(&folder, &source("a backup"));
        if moment == 7 {
            // Whose content it is was known no longer.
            let refused = begun.unwrap_err();
            assert!(
                matches!(refused, StagedContentError::Complete { .. }),
                "{refused}"
            );
            check_content(&folder);
            continue;
        }
        let staged = begun.unwrap();
        assert_eq!(staged.is_whole(), moment >= 2, "moment {moment}");
        if !staged.is_whole() {
            make_content(&staged);
        }
        staged.finish().unwrap();
        check_content(&folder);
    }
}

#[test]
fn whole_content_of_another_source_is_kept_and_refused() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("data");
    let mut staged = StagedContent::begin(&folder, &source("a backup")).unwrap();
    make_content(&staged);
    staged.record_whole().unwrap();
    drop(staged);
    let refused = StagedContent::begin(&folder, &source("another")).unwrap_err();
    assert!(
        matches!(refused, StagedContentError::OtherSource { .. }),
        "{refused}"
    );
    let staged = StagedContent::begin(&folder, &source("a backup")).unwrap();
    staged.finish().unwrap();
    check_content(&folder);
}

#[test]
fn content_that_is_dropped_leaves_what_was_there() {
    let place = tempfile::tempdir().unwrap();
    let [absent, empty] = ["absent", "empty"].map(|name| place.path().join(name));
    make_directory(&empty).unwrap();
    for folder in [&absent, &empty] {
        let staged = StagedContent::begin(folder, &source("a backup")).unwrap();
        make_content(&staged);
        drop(staged);
    }
    assert!(!absent.exists());
    assert!(names(&empty).unwrap().is_empty());
}

#[test]
fn a_folder_with_other_content_and_a_file_are_taken() {
    let place = tempfile::tempdir().unwrap();
    let (folder, file) = (place.path().join("data"), place.path().join("file"));
    make_directory(&folder).unwrap();
    fs::write(folder.join("state.redb"), "mine").unwrap();
    fs::write(&file, "").unwrap();
    for taken in [&folder, &file] {
        let error = StagedContent::begin(taken, &source("a backup")).unwrap_err();
        assert!(matches!(error, StagedContentError::Taken { .. }), "{error}");
    }
    assert_eq!(names(&folder).unwrap(), ["state.redb"]);
}

/// A file that came meanwhile is kept, and so is the content.
#[test]
fn a_name_that_is_taken_meanwhile_is_not_overwritten() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("data");
    let staged = StagedContent::begin(&folder, &source("a backup")).unwrap();
    make_content(&staged);
    let taken = folder.join(ENTRIES[2]);
    fs::write(&taken, "mine").unwrap();
    let error = staged.finish().unwrap_err();
    assert!(matches!(error, StagedContentError::Taken { path } if path == taken));
    assert_eq!(fs::read_to_string(&taken).unwrap(), "mine");
    check_no_staged_content(&folder).unwrap_err();
    fs::remove_file(&taken).unwrap();
    let staged = StagedContent::begin(&folder, &source("a backup")).unwrap();
    staged.finish().unwrap();
    check_content(&folder);
}

#[test]
fn two_processes_do_not_make_content_at_once() {
    let place = tempfile::tempdir().unwrap();
    let staged = StagedContent::begin(place.path(), &source("a backup")).unwrap();
    let refused = StagedContent::begin(place.path(), &source("a backup")).unwrap_err();
    assert!(
        matches!(refused, StagedContentError::Busy { .. }),
        "{refused}"
    );
    // The refused one removed nothing.
    make_content(&staged);
    staged.finish().unwrap();
    check_content(place.path());
}

#[test]
fn a_folder_whose_content_is_being_made_is_busy_and_not_broken_off() {
    let place = tempfile::tempdir().unwrap();
    let mut staged = StagedContent::begin(place.path(), &source("a backup")).unwrap();
    for _ in [UNFINISHED, WHOLE] {
        let refused = check_no_staged_content(place.path()).unwrap_err();
        assert!(
            matches!(refused, StagedContentError::Busy { .. }),
            "{refused}"
        );
        if !staged.is_whole() {
            make_content(&staged);
            staged.record_whole().unwrap();
        }
    }
    drop(staged);
    let refused = check_no_staged_content(place.path()).unwrap_err();
    assert!(
        matches!(refused, StagedContentError::Unfinished { .. }),
        "{refused}"
    );
}

#[test]
fn a_record_that_stands_alone_is_no_content() {
    let place = tempfile::tempdir().unwrap();
    make_directory(&place.path().join(WHOLE)).unwrap();
    let staged = StagedContent::begin(place.path(), &source("a backup")).unwrap();
    assert!(!staged.is_whole());
    make_content(&staged);
    staged.finish().unwrap();
    check_content(place.path());
}

/// A server would refuse the folder once it had its content.
#[test]
fn a_folder_that_others_may_write_into_is_refused() {
    for mode in [0o720, 0o702, 0o2770] {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("data");
        make_directory(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        let refused = StagedContent::begin(&folder, &source("a backup")).unwrap_err();
        assert!(
            matches!(refused, StagedContentError::OpenToOthers { mode: found, .. } if found == mode),
            "{refused}"
        );
        assert!(names(&folder).unwrap().is_empty());
    }
}
