//! The commands, as a person meets them.

mod data;
mod demo_tenant;
mod input_kinds;
mod keys;
pub(crate) mod making;
mod markets;
mod real_files;
mod running;
mod series;
mod sold_addresses;
mod usage;

use crate::common::program::{ProcessOutput, releases, run, run_into};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

#[test]
fn every_command_has_help() {
    for command in [
        "",
        "serve",
        "sandbox",
        "key",
        "key create",
        "key list",
        "key revoke",
        "tenant",
        "tenant list",
        "tenant plan",
        "tenant enable",
        "tenant disable",
        "jobs",
        "jobs pause",
        "jobs resume",
        "console",
        "console login",
        "backup",
        "restore",
        "status",
        "data",
        "data check",
        "data fetch",
        "property",
        "property build",
        "property update",
        "release",
        "release new",
        "release build",
        "release backtest",
        "release check",
        "release profile",
        "release sign",
        "release keygen",
        "release promote",
        "release publish",
        "release pull",
        "release list",
        "series",
        "series build",
        "series build markets",
        "series build rates",
        "series list",
        "replay",
        "journal",
        "journal keys",
        "journal erase",
        "journal head",
        "usage",
        "usage export",
        "compare",
        "shadow",
        "shadow start",
        "shadow stop",
        "shadow report",
        "demo-data",
        "file",
        "file sign",
        "file verify",
        "man",
        "completions",
    ] {
        let name = format!("help_{}", command.replace(' ', "_"));
        let help = run(command.split_whitespace().chain(["--help"]))
            .ok()
            .stdout;
        insta::assert_snapshot!(name, help);
    }
}

#[test]
fn invalid_arguments_are_a_usage_error() {
    for arguments in [
        &["value"][..],
        &["serve", "--port", "1"],
        &["key", "create"],
        &["serve", "--listen", "x"],
    ] {
        assert_eq!(run(arguments).code, Some(2), "{arguments:?}");
    }
}

#[test]
fn a_closed_pipe_is_no_error_of_a_command_that_writes_bytes() {
    let (_kept, data) = folder();
    create(&data, &["avm:value"]).ok();
    let export = format!("usage export --month 2026-11 --data {data}");
    for command in ["openapi", "completions bash", &export] {
        let ran = run_into("| true", command.split(' '));
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{command}");
    }
}

/// Returns an empty data folder for the key commands.
fn folder() -> (TempDir, String) {
    let temp_dir = tempfile::tempdir().unwrap();
    let data = temp_dir.path().display().to_string();
    (temp_dir, data)
}

fn create(data: &str, scopes: &[&str]) -> ProcessOutput {
    let mut arguments = vec!["key", "create", "--tenant", "customer", "--data", data];
    for scope in scopes {
        arguments.extend(["--scope", scope]);
    }
    run(arguments)
}

/// Returns every file under a folder.
fn bytes_under(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(bytes_under(&path));
        } else {
            found.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    found
}

#[test]
fn the_releases_are_listed_each_opened_and_proved() {
    let folder = releases().display().to_string();
    let list = run(["release", "list", "--releases", &folder]).ok().stdout;
    assert_eq!(
        list,
        "synthetic-hedonic-2027-05\teffective 2026-10-01\tvalues 2026-10-01 to 2027-12-31\tsnapshot synthetic-2026-09\n\
         synthetic-markets-2026-10\tmarkets\t594 series, 160516 observations\tinvented\n\
         synthetic-rates-2026-10\trates\t16094 series, 341013 observations\tinvented\n"
    );
}
