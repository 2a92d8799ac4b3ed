//! `domesday release profile` from outside: rows of a batch, and the files that it writes.

use crate::common::demo::{RELEASE, house, scottish};
use crate::common::program::{ProcessOutput, releases, run};
use serde_json::json;
use std::fs;

/// Profiles the demo's release.
fn profile(options: &[&str]) -> ProcessOutput {
    let folder = releases().display().to_string();
    let command = ["release", "profile", RELEASE, "--releases", &folder];
    run(command.into_iter().chain(options.iter().copied()))
}

#[test]
fn rows_of_a_batch_are_profiled_and_a_refused_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (rows, folded, svg) = (path("rows.json"), path("fuel.folded"), path("fuel.svg"));
    let body = json!({"requests": [house(), scottish(), house()]});
    fs::write(&rows, body.to_string()).unwrap();
    let options = ["--rows", &rows, "--folded", &folded, "--svg", &svg];
    let profile = profile(&options).ok();
    let lines: Vec<&str> = profile.stdout.lines().collect();
    assert!(
        lines[0].starts_with(&format!("{RELEASE}: 2 rows, ")),
        "{}",
        lines[0]
    );
    assert!(
        lines[1].starts_with("1 rows do not run the release; row 2: "),
        "{}",
        lines[1]
    );

    // The stacks hold the fuel of both rows, which are the same.
    let stacks = fs::read_to_string(folded).unwrap();
    let fuel = |line: &str| -> u64 { line.rsplit_once(' ').unwrap().1.parse().unwrap() };
    let whole: u64 = stacks.lines().map(fuel).sum();
    let told = lines[0].split_once("rows, ").unwrap().1;
    let told = told.split_once(' ').unwrap().0.replace(',', "");
    assert_eq!(
        whole.to_string(),
        (2 * told.parse::<u64>().unwrap()).to_string()
    );
    assert!(
        stacks.lines().any(|line| line.starts_with("value;")),
        "{stacks}"
    );
    assert!(fs::read_to_string(svg).unwrap().contains("<title>value: "));
}

#[test]
fn a_file_without_a_row_to_run_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.json").display().to_string();
    let profile = || profile(&["--rows", &rows]).refused();
    assert!(profile().contains("cannot read"));
    fs::write(&rows, json!({"requests": []}).to_string()).unwrap();
    assert!(profile().contains("is not the body of a batch: The list of requests is empty"));
    fs::write(&rows, json!({"requests": [scottish()]}).to_string()).unwrap();
    assert!(profile().contains("since no row runs the release: "));
}
