//! The console in a browser: each page's main task by clicks, at a desk, and on a telephone in the
//! dark. Without Debian's chromium the test prints that it was skipped. `DOMESDAY_CONSOLE_WAYS=4`,
//! which `scripts/test full` sets, adds a telephone without scripts, a desk in the dark, a map on a
//! telephone, and maps of pictures.

use super::{link, reports, start_with_console};
use crate::common::program::repository;
use crate::common::python::{interpreter, run_to_success};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's Chromium.
pub(super) const CHROMIUM: &str = "/usr/bin/chromium";

/// Returns the interpreter for the programs that drive a browser, and their folder.
pub(super) fn console_python() -> (PathBuf, PathBuf) {
    let folder = repository().join("tests/peers/console");
    let python = interpreter(&folder, Path::new(env!("CARGO_TARGET_TMPDIR")));
    (python, folder)
}

/// Returns the number of ways to look at each page.
pub(super) fn console_ways() -> usize {
    match std::env::var("DOMESDAY_CONSOLE_WAYS").as_deref() {
        Ok("4") => 4,
        Ok("2") | Err(_) => 2,
        Ok(other) => panic!("DOMESDAY_CONSOLE_WAYS is {other}, and can be 2 or 4"),
    }
}

#[test]
fn each_page_does_its_task_in_a_browser_without_a_fault() {
    if !Path::new(CHROMIUM).exists() {
        println!("skipped: the console in a browser needs Debian's chromium");
        return;
    }
    let (python, folder) = console_python();
    let outer = reports::folder();
    let reports = outer.path().join("reports").display().to_string();
    let server = start_with_console()
        .with(&["--receipts", "all", "--console-reports", &reports])
        .go();
    let ways = console_ways();
    // One for each way to look at it.
    let links: Vec<String> = (0..ways).map(|_| link(&server, &["--operator"])).collect();
    let shots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("console");
    std::fs::create_dir_all(&shots).unwrap();
    let mut browser = Command::new(python);
    browser.arg(folder.join("use_console.py")).arg(&shots);
    let output = run_to_success(browser.args(&links));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        printed.contains(&format!("every page, ways: {ways}")),
        "{printed}"
    );
    println!("screenshots are in {}", shots.display());
    server.stop();
}

#[test]
fn the_reference_is_drawn_and_asks_no_other_origin() {
    if !Path::new(CHROMIUM).exists() {
        println!("skipped: the reference in a browser needs Debian's chromium");
        return;
    }
    let (python, folder) = console_python();
    let server = start_with_console().go();
    let shots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("console");
    std::fs::create_dir_all(&shots).unwrap();
    let mut browser = Command::new(python);
    browser.arg(folder.join("read_reference.py")).arg(&shots);
    let output = run_to_success(browser.arg(format!("http://{}", server.address)));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("the reference, 2 windows"), "{printed}");
    server.stop();
}
