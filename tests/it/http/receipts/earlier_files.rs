//! Files of a journal that another follows. A test cannot write 64 MB of receipts, so it divides a
//! file between two receipts.

use crate::common::demo::house;
use crate::common::server::{Server, start};
use crate::receipts::{files, lines, report, value};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A time of the file system is as old as this.
const CLOCK_TICK: Duration = Duration::from_millis(20);
/// Time limit for a probe to see damage or its end.
const LIMIT: Duration = Duration::from_secs(10);

/// A data folder with fifteen receipts in seven files, of two or three each.
fn divided_journal() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = serve(&data);
    let client = server.demo();
    for _ in 0..15 {
        value(&client);
    }
    server.stop();
    let first = &files(&data)[0];
    let text = std::fs::read_to_string(first).unwrap();
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    let ends = [3, 5, 7, 9, 11, 13, 15];
    for (begin, end) in std::iter::once(0).chain(ends).zip(ends) {
        let name = format!("receipts-{:012}.jsonl", begin + 1);
        std::fs::write(first.with_file_name(name), lines[begin..end].concat()).unwrap();
    }
    assert_eq!(files(&data).len(), ends.len());
    (folder, data)
}

fn serve(data: &Path) -> Server {
    start().data(data).with(&["--receipts", "all"]).go()
}

/// Returns the reason why no server starts on a data folder.
fn refusal(data: &Path) -> String {
    start().data(data).with(&["--receipts", "all"]).refused()
}

/// Gives every later file a later change. A disk that loses bits changes no time.
fn touch_later_files(data: &Path, path: &Path) {
    std::thread::sleep(CLOCK_TICK);
    for later in files(data).iter().filter(|later| **later > *path) {
        let permissions = std::fs::metadata(later).unwrap().permissions();
        std::fs::set_permissions(later, permissions).unwrap();
    }
}

#[track_caller]
fn await_ready(server: &Server, is_ready: bool) {
    let client = server.demo();
    let started = Instant::now();
    while (client.get("/readyz").status == 200) != is_ready {
        assert!(started.elapsed() < LIMIT, "ready: {}", !is_ready);
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[track_caller]
fn assert_nothing_is_valued(server: &Server) {
    let refused = server.demo().post("/v3/simple-value", &house());
    assert_eq!((refused.status, &*refused.refusal().1), (503, "overloaded"));
}

/// The place of the damage that [`alter_first_file`] does.
const DAMAGE: &str = "receipts-000000000001.jsonl, line 2: receipt 2 was altered";

/// Alters the second receipt of the first file, and returns the file's sound text.
fn alter_first_file(path: &Path) -> String {
    let sound = std::fs::read_to_string(path).unwrap();
    let mut altered: Vec<_> = sound.split_inclusive('\n').map(str::to_owned).collect();
    altered[1] = altered[1].replace(r#""tenant":"demo""#, r#""tenant":"dema""#);
    std::fs::write(path, altered.concat()).unwrap();
    sound
}

#[test]
fn an_earlier_file_that_was_altered_is_refused_at_the_start() {
    let (_folder, data) = divided_journal();
    std::thread::sleep(CLOCK_TICK);
    alter_first_file(&files(&data)[0]);
    let refused = refusal(&data);
    assert!(refused.contains(DAMAGE), "{refused}");
}

#[test]
fn a_damaged_earlier_file_stops_valuations_until_it_is_put_back() {
    let (_folder, data) = divided_journal();
    let path = &files(&data)[0];
    let sound = alter_first_file(path);
    touch_later_files(&data, path);
    let server = serve(&data);
    await_ready(&server, false);
    assert_nothing_is_valued(&server);
    server.await_log(|line| {
        line["error"]
            .as_str()
            .is_some_and(|error| error.contains(DAMAGE))
    });
    std::fs::write(path, sound).unwrap();
    await_ready(&server, true);
    value(&server.demo());
    server.stop();
    assert_eq!(lines(&data).len(), 16);
    assert_eq!(report(&data, &[])["proved"], true);
}

#[test]
fn an_earlier_file_that_is_deleted_under_a_running_host_stops_valuations() {
    let (folder, data) = divided_journal();
    let server = serve(&data);
    value(&server.demo());
    let all = files(&data);
    // The last that another follows is one of the newest five, which were read before the start.
    for path in [&all[0], &all[1], &all[all.len() - 2]] {
        let away = folder.path().join("away");
        std::fs::copy(path, &away).unwrap();
        std::fs::remove_file(path).unwrap();
        await_ready(&server, false);
        assert_nothing_is_valued(&server);
        std::fs::copy(&away, path).unwrap();
        await_ready(&server, true);
        value(&server.demo());
    }
    server.stop();
    assert_eq!(report(&data, &[])["proved"], true);
}

#[test]
fn a_missing_file_between_others_is_refused_at_the_start() {
    let (_folder, data) = divided_journal();
    std::fs::remove_file(&files(&data)[1]).unwrap();
    let refused = refusal(&data);
    let place = "receipts-000000000006.jsonl, line 1: expected receipt 4, found receipt 6";
    assert!(refused.contains(place), "{refused}");
}

#[test]
fn damage_in_one_of_the_newest_five_files_is_refused_at_the_start() {
    let (_folder, data) = divided_journal();
    for path in files(&data).iter().rev().take(5) {
        let sound = std::fs::read_to_string(path).unwrap();
        let altered = sound.replacen(r#""tenant":"demo""#, r#""tenant":"dema""#, 1);
        std::fs::write(path, altered).unwrap();
        touch_later_files(&data, path);
        let refused = refusal(&data);
        let place = format!("{}, line 1: receipt", path.display());
        assert!(refused.contains(&place), "{place} {refused}");
        std::fs::write(path, sound).unwrap();
    }
    serve(&data).stop();
}
