//! Shares folders and processes among the tests of one run. One test makes a folder or starts a
//! process, and all others use it.
//!
//! cargo-nextest runs each test in a separate process, so a static shares nothing. A run is one
//! `cargo nextest run`, or one process of tests under `cargo test`. Its folder lies among the
//! temporary files. A small shell program watches the run: when the run ends, however it ended, the
//! program ends the shared processes and removes the folder.
#![allow(
    clippy::unwrap_used,
    reason = "a test ends where something unexpected happens"
)]

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::process::{CommandExt, parent_id};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// cargo-nextest sets it to one id for all tests of a run.
const RUN: &str = "NEXTEST_RUN_ID";

/// Returns the folder of this run.
///
/// # Panics
/// No folder can be made among the temporary files.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| match std::env::var(RUN) {
        Ok(run) => {
            let folder = std::env::temp_dir().join(format!("domesday-run-{run}"));
            match fs::create_dir(&folder) {
                Ok(()) => watch(&folder),
                Err(error) => assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}"),
            }
            folder
        }
        Err(_) => {
            let named = tempfile::Builder::new().prefix("domesday-run-").tempdir();
            let folder = named.unwrap().keep();
            watch(&folder);
            folder
        }
    })
}

/// Returns the process that lives as long as the run: nextest, or else this one.
pub fn runner() -> u32 {
    match std::env::var_os(RUN) {
        Some(_) => parent_id(),
        None => std::process::id(),
    }
}

/// Returns the folder of this name, which the run's first caller makes and fills.
///
/// Others wait for the first. Where `make` panics, the next caller makes the folder anew.
///
/// # Panics
/// The folder cannot be made.
pub fn once(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    once_while(name, |_| true, make)
}

/// Returns the folder of this name as [`once`] does, and makes it anew where it is not `good` any
/// more.
///
/// # Panics
/// The folder cannot be made.
pub fn once_while(
    name: &str,
    good: impl FnOnce(&Path) -> bool,
    make: impl FnOnce(&Path),
) -> PathBuf {
    let path = folder().join(name);
    let marker = folder().join(format!("{name}.made"));
    // A lock of a file holds between threads too, since each opens the file for itself.
    let lock = File::create(folder().join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    if marker.exists() && good(&path) {
        return path;
    }
    let _ = fs::remove_file(&marker);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir(&path).unwrap();
    make(&path);
    File::create(marker).unwrap();
    path
}

/// Ends this process with the run, and removes the folder that it worked in.
///
/// # Panics
/// The process cannot be noted.
pub fn end_with_run(process: u32, removed: &Path) {
    let notes = folder().join("processes");
    fs::create_dir_all(&notes).unwrap();
    let note = notes.join(process.to_string());
    fs::write(note, removed.as_os_str().as_encoded_bytes()).unwrap();
}

/// Starts the program that cleans up behind the run.
#[allow(clippy::zombie_processes, reason = "it outlives this process")]
fn watch(folder: &Path) {
    Command::new("sh")
        .args(["-c", include_str!("watch.sh"), "sh"])
        .arg(runner().to_string())
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // A signal that ends one test must not end the watcher.
        .process_group(0)
        .spawn()
        .unwrap();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_caller_creates_for_all() {
        let create = |text: &'static str| {
            once("first", |folder| {
                fs::write(folder.join("text"), text).unwrap();
            })
        };
        let texts: Vec<_> = ["one", "two"]
            .map(|text| std::thread::spawn(move || fs::read_to_string(create(text).join("text"))))
            .into_iter()
            .map(|thread| thread.join().unwrap().unwrap())
            .collect();
        assert_eq!(texts[0], texts[1]);
    }

    #[test]
    fn invalid_entries_are_recreated() {
        let create = |text: &str| {
            let folder = once_while(
                "anew",
                |folder| fs::read_to_string(folder.join("text")).unwrap() == "good",
                |folder| fs::write(folder.join("text"), text).unwrap(),
            );
            fs::read_to_string(folder.join("text")).unwrap()
        };
        assert_eq!(create("bad"), "bad");
        assert_eq!(create("good"), "good");
        assert_eq!(create("bad"), "good");
    }
}
