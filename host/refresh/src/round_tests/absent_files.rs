//! Rounds beside files that are arriving, cannot be read or are gone.

use super::*;
use std::os::unix::fs::symlink;
use std::time::Duration;

const PARTS: [Part; 2] = [Part::Markets, Part::Snapshot];

/// Returns the folders after a round of all parts. Another file of prices came, too.
fn world_after_a_round() -> World {
    let world = World::new();
    world.receive_all();
    world.receive(&["pp-2.csv"]);
    world.round(&[]);
    world
}

/// Writes a file of the inbox so that it changed just before the next round.
fn begin_to_write(world: &World, name: &str) {
    let path = world.config.inbox.join(name);
    fs::write(&path, "the beginning").unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    let written = file.metadata().unwrap().modified().unwrap();
    // A round begins an hour from now.
    file.set_modified(written + Duration::from_secs(3_600))
        .unwrap();
}

/// Runs two rounds that build nothing of the parts, and returns the note of the last one.
fn run_without_builds(world: &World, state: PartState) -> String {
    let mut note = String::new();
    // The file stays known after the first of them.
    for _ in 0..2 {
        let (report, ran) = world.round(&PARTS);
        assert_eq!(states(&report), PARTS.map(|part| (part, state)));
        assert_eq!(ran, [""; 0]);
        assert_eq!(report.result(), RoundResult::Attention);
        note.clone_from(&report.parts[0].notes[0]);
    }
    note
}

fn assert_builds(world: &World) {
    let (report, _) = world.round(&PARTS);
    use PartState::{Built, Proposed};
    let built = [(Part::Markets, Proposed), (Part::Snapshot, Built)];
    assert_eq!(states(&report), built, "{report:?}");
}

#[test]
fn a_part_waits_for_a_file_of_an_earlier_round_that_is_arriving_again() {
    let world = world_after_a_round();
    begin_to_write(&world, "pp-1.csv");
    let note = run_without_builds(&world, PartState::Waiting);
    assert!(note.ends_with("pp-1.csv is still arriving"), "{note}");
    fs::write(world.config.inbox.join("pp-1.csv"), "the whole").unwrap();
    assert_builds(&world);
}

#[test]
fn a_part_is_not_built_without_a_file_of_an_earlier_round_that_cannot_be_read() {
    let world = World::new();
    world.receive_all();
    let (target, link) = (
        world.folder.path().join("pp-2.csv"),
        world.config.inbox.join("pp-2.csv"),
    );
    fs::write(&target, "2").unwrap();
    symlink(&target, &link).unwrap();
    world.round(&[]);
    fs::remove_file(&target).unwrap();
    let note = run_without_builds(&world, PartState::Missing);
    assert!(note.ends_with("pp-2.csv cannot be read"), "{note}");
    // A person removes it.
    fs::remove_file(&link).unwrap();
    assert_builds(&world);
}

#[test]
fn a_part_whose_file_is_gone_waits_for_another_that_is_arriving() {
    let world = world_after_a_round();
    fs::remove_file(world.config.inbox.join("pp-2.csv")).unwrap();
    begin_to_write(&world, "pp-3.csv");
    let note = run_without_builds(&world, PartState::Waiting);
    assert!(note.contains("pp-2.csv is gone"), "{note}");
    fs::write(world.config.inbox.join("pp-3.csv"), "the whole").unwrap();
    assert_builds(&world);
}

#[test]
fn a_part_is_not_built_without_a_folder_that_is_empty_now() {
    let world = World::new();
    world.receive_all();
    let history = world.config.inbox.join("history");
    fs::create_dir(&history).unwrap();
    world.receive(&["history/pp-2.csv"]);
    world.round(&[]);
    fs::remove_file(history.join("pp-2.csv")).unwrap();
    let note = run_without_builds(&world, PartState::Missing);
    assert!(note.contains("its folder is empty"), "{note}");
    fs::remove_dir(&history).unwrap();
    assert_builds(&world);
}

#[test]
fn the_first_package_of_a_part_waits_for_all_that_arrives() {
    let world = World::new();
    world.receive_all();
    begin_to_write(&world, "download-2.csv");
    let note = run_without_builds(&world, PartState::Waiting);
    assert!(note.ends_with("download-2.csv is still arriving"), "{note}");
    fs::remove_file(world.config.inbox.join("download-2.csv")).unwrap();
    // Nothing tells which files it hides.
    let link = world.config.inbox.join("history");
    symlink(world.folder.path().join("none"), &link).unwrap();
    let note = run_without_builds(&world, PartState::Missing);
    assert!(note.contains("history"), "{note}");
    fs::remove_file(&link).unwrap();
    assert_builds(&world);
    // A later one is as long as the one before without them.
    begin_to_write(&world, "download-3.csv");
    world.receive(&["pp-4.csv"]);
    assert_builds(&world);
}
