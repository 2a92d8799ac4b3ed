//! The order in which a journal makes its files durable, as a library between the program and its
//! disk writes it down.

use crate::common::faults::call_log;
use crate::common::server::{Server, start};
use crate::receipts::{files, value};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A data folder, and the log of the calls of its servers.
struct LoggedHost {
    folder: TempDir,
}

impl LoggedHost {
    fn new() -> LoggedHost {
        LoggedHost {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn data(&self) -> PathBuf {
        // The folder's own path, as a call by descriptor shows it.
        self.folder.path().canonicalize().unwrap().join("data")
    }

    fn journal(&self) -> PathBuf {
        self.data().join("above/journal")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("calls")
    }

    fn serve(&self) -> Server {
        let _ = std::fs::remove_file(self.log());
        let journal = self.journal().display().to_string();
        let receipts = ["--receipts", "all", "--receipts-self-contained"];
        start()
            .data(&self.data())
            .with(&receipts)
            .with(&["--journal", &journal])
            .environment("LD_PRELOAD", &call_log(self.folder.path()))
            .environment("DOMESDAY_CALLS", &self.log())
            .go()
    }

    /// Returns the calls on these paths so far, in order.
    fn calls(&self, paths: &[&Path]) -> Vec<String> {
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        let calls = log.lines().filter(|line| {
            let path = line.split_once(' ').unwrap().1;
            paths.contains(&Path::new(path))
        });
        calls.map(str::to_owned).collect()
    }
}

fn call(name: &str, path: &Path) -> String {
    format!("{name} {}", path.display())
}

/// Asserts that each `before` is followed by an `after` ahead of the next `before`.
#[track_caller]
fn assert_followed(calls: &[String], before: &str, after: &str) {
    let mut open = None;
    let mut count = 0;
    for (at, call) in calls.iter().enumerate() {
        if call == before {
            assert_eq!(open, None, "no {after} before {at}: {calls:#?}");
            open = Some(at);
            count += 1;
        } else if call == after {
            open = None;
        }
    }
    assert_eq!(open, None, "no {after}: {calls:#?}");
    assert!(count > 0, "no {before}: {calls:#?}");
}

#[test]
fn new_folders_files_and_heads_are_durable_before_anything_rests_on_them() {
    let host = LoggedHost::new();
    let server = host.serve();
    let client = server.demo();
    let (journal, above, data) = (host.journal(), host.data().join("above"), host.data());
    // A new file of notes about packages would make the folder's names durable, too.
    std::fs::write(journal.join("snapshots.jsonl"), "").unwrap();
    let heads = journal.join("heads.jsonl");
    for count in 1..=2 {
        value(&client);
        let started = Instant::now();
        // A head replaces the file of heads within a second.
        while host.calls(&[&heads]).len() < count {
            assert!(started.elapsed() < Duration::from_secs(10), "no head");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    server.stop();
    let receipts = files_of(&journal).remove(0);
    let parent = data.parent().unwrap();
    let calls = host.calls(&[&journal, &above, &data, parent, &heads, &receipts]);
    assert_followed(&calls, &call("mkdir", &data), &call("sync", parent));
    assert_followed(&calls, &call("mkdir", &above), &call("sync", &data));
    assert_followed(&calls, &call("mkdir", &journal), &call("sync", &above));
    let synced = call("sync", &journal);
    assert_followed(&calls, &call("create", &receipts), &synced);
    assert_followed(&calls, &call("rename", &heads), &synced);
    // The name is durable before the first receipt is, which a client may be answered on.
    let at = |wanted: &str| calls.iter().position(|call| call == wanted).unwrap();
    let created = at(&call("create", &receipts));
    assert_eq!(calls[created + 1], synced, "{calls:#?}");
    assert!(at(&call("sync", &receipts)) > created);
}

#[test]
fn a_torn_group_is_durable_aside_before_its_file_is_cut() {
    let host = LoggedHost::new();
    let server = host.serve();
    value(&server.demo());
    server.stop();
    let journal = host.journal();
    let receipts = files_of(&journal).remove(0);
    let aside = receipts.with_extension("aside");
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&receipts)
        .unwrap();
    file.write_all(br#"{"sequence":2,"prev"#).unwrap();
    host.serve().stop();
    let calls = host.calls(&[&journal, &receipts, &aside]);
    let created = calls.iter().position(|it| *it == call("create", &aside));
    let after = &calls[created.unwrap()..];
    let expected = [
        call("create", &aside),
        call("sync", &aside),
        call("sync", &journal),
        call("cut", &receipts),
        call("sync", &receipts),
    ];
    assert_eq!(after[..5], expected, "{calls:#?}");
    // Nothing cut the file before.
    let cut = call("cut", &receipts);
    assert!(!calls[..created.unwrap()].contains(&cut), "{calls:#?}");
}

/// Returns the files of receipts in a journal's folder, in order.
fn files_of(journal: &Path) -> Vec<PathBuf> {
    // The folder is called `journal` in a folder that the helper takes for the data.
    files(journal.parent().unwrap())
}
