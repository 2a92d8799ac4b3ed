//! Releases of rates that lack a part, and the list of releases with their datasets.

use crate::common::program::{ProcessOutput, releases, run};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Writes the list of Bank Rate changes between two meetings, three months of the reversion rate,
/// and an OIS curve of the month after them.
fn write_sources(folder: &Path) {
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write(
        "changes.csv",
        "Date Changed,Rate\n08-May-25,4.25\n07-Aug-25,4\n",
    );
    write(
        "mortgages.csv",
        "DATE,IUMTLMV\n31 Jul 2025,6.9\n31 Aug 2025,6.8\n30 Sep 2025,6.8\n",
    );
    let months: Vec<String> = (1..=60).map(|month| month.to_string()).collect();
    let header = format!("ois_spot_curve,{}", months.join(","));
    let rates = vec!["4"; months.len()].join(",");
    write("curve.csv", &format!("{header}\n2025-10-09,{rates}\n"));
}

fn build(folder: &Path, id: &str, database: &[&str], more: &[&str]) -> ProcessOutput {
    let path = |name: &str| folder.join(name).display().to_string();
    let mut arguments: Vec<String> = ["series", "build", "rates", "--release-id", id]
        .map(String::from)
        .to_vec();
    arguments.push("--bank-csv".to_owned());
    arguments.extend(database.iter().map(|name| path(name)));
    arguments.extend(["--curves".to_owned(), path("curve.csv")]);
    arguments.extend(["--releases".to_owned(), path("releases")]);
    arguments.extend(more.iter().map(|text| (*text).to_owned()));
    run(arguments)
}

/// Returns the body of the manifest of a release of rates.
fn body(folder: &Path, id: &str) -> Value {
    let path = folder.join("releases/rates").join(id).join("manifest.json");
    let manifest: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    manifest["body"].clone()
}

/// Returns the entry of a dataset in a manifest.
fn entry(body: &Value, id: &str) -> Value {
    let datasets = body["datasets"].as_array().unwrap();
    let mut found = datasets.iter().filter(|entry| entry["dataset"] == id);
    found.next().unwrap().clone()
}

/// Returns the line of a dataset in a table.
#[track_caller]
fn line<'t>(table: &'t str, id: &str) -> &'t str {
    let mut lines = table.lines();
    lines
        .find(|line| line.split_whitespace().next() == Some(id))
        .unwrap_or_else(|| panic!("no {id} in {table}"))
}

const SOURCES: [&str; 2] = ["changes.csv", "mortgages.csv"];

#[test]
fn an_incomplete_release_says_which_datasets_lack_what() {
    let folder = tempfile::tempdir().unwrap();
    write_sources(folder.path());
    let output = build(folder.path(), "gaps", &SOURCES, &[]).ok();
    let body = body(folder.path(), "gaps");
    assert_eq!(body["datasets"].as_array().unwrap().len(), 22);
    let root = folder.path().join("releases").display().to_string();
    let list = run(["series", "list", "--unsigned", "--releases", &root]).ok();
    assert!(list.stdout.starts_with("gaps\trates\n"), "{}", list.stdout);
    for id in ["bank_rate_scenarios", "mortgage_reversion_scenarios"] {
        let entry = entry(&body, id);
        assert_eq!(entry["series"], 0, "{id}");
        assert_eq!(entry["to"], Value::Null, "{id}");
        let reason = entry["reason"].as_str().unwrap();
        assert!(reason.contains("IUDBEDR"), "{reason}");
        assert!(reason.contains("--complete-to 2025-10-09"), "{reason}");
        assert!(line(&output.stdout, id).ends_with(reason), "{id}");
        assert_eq!(line(&list.stdout, id), line(&output.stdout, id));
    }
    let spread = entry(&body, "mortgage_reversion_spread");
    assert_eq!(spread["from"], "2025-07");
    assert_eq!(spread["to"], "2025-08");
    let reason = spread["reason"].as_str().unwrap();
    assert!(reason.contains("--complete-to 2025-09-30"), "{reason}");
    // Short datasets have reasons too, in the manifest and in both tables.
    for (id, reason) in [
        (
            "bank_rate",
            "It ends 63 days before the newest observation, 2025-10-09. Give IUDBEDR",
        ),
        (
            "mortgage_benchmarks",
            "No file states these series: IUMZICQ, IUMBV34, ",
        ),
    ] {
        let entry = entry(&body, id);
        assert_eq!(entry["series"], 1, "{id}");
        let stated = entry["reason"].as_str().unwrap();
        assert!(stated.starts_with(reason), "{stated}");
        assert!(line(&output.stdout, id).ends_with(stated), "{id}");
        assert_eq!(line(&list.stdout, id), line(&output.stdout, id));
    }
    assert_eq!(entry(&body, "ois_spot_curve")["reason"], Value::Null);
}

#[test]
fn a_list_of_changes_that_is_complete_to_the_snapshot_fills_the_scenarios() {
    let folder = tempfile::tempdir().unwrap();
    write_sources(folder.path());
    let complete = ["--complete-to", "2025-10-09"];
    build(folder.path(), "whole", &SOURCES, &complete).ok();
    let body = body(folder.path(), "whole");
    for (id, last) in [
        ("bank_rate", "2025-08-07"),
        ("bank_rate_scenarios", "2025-10-09"),
        ("mortgage_reversion_scenarios", "2025-10-09"),
        ("mortgage_reversion_spread", "2025-09"),
    ] {
        let entry = entry(&body, id);
        assert_eq!(entry["to"], last, "{id}");
        assert_eq!(entry["reason"], Value::Null, "{id}");
    }
    let note = "The list of Bank Rate changes is complete to 2025-10-09.";
    assert_eq!(body["notes"], json!([note]));
    // Without a list the option would change nothing.
    let refusal = build(folder.path(), "none", &["mortgages.csv"], &complete).refused();
    assert!(refusal.contains("--complete-to 2025-10-09"), "{refusal}");
    // A list is complete to its last change at least.
    let early = ["--complete-to", "2025-01-01"];
    let refusal = build(folder.path(), "none", &SOURCES, &early).refused();
    assert!(refusal.contains("the list has a change on "), "{refusal}");
    assert!(!folder.path().join("releases/rates/none").exists());
}

#[test]
fn a_file_of_rates_without_a_value_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    write_sources(folder.path());
    fs::write(folder.path().join("empty.csv"), "DATE,IUDBEDR\n").unwrap();
    let refusal = build(folder.path(), "empty", &["empty.csv"], &[]).refused();
    assert!(
        refusal.contains("empty.csv") && refusal.contains("no value"),
        "{refusal}"
    );
    assert!(!folder.path().join("releases/rates/empty").exists());
}

#[test]
fn a_file_of_rates_that_may_give_a_wrong_number_stops_the_build() {
    let folder = tempfile::tempdir().unwrap();
    write_sources(folder.path());
    for (name, text, reason) in [
        (
            "comma.csv",
            "DATE,IUDBEDR\n01 Sep 2026,3,75\n",
            "comma.csv, line 2: the row has 3 cells and the table 2 columns",
        ),
        (
            "cut.csv",
            "DATE,IUDBEDR\n01 Sep 2026,3.75\n02 Sep 2026,3",
            "cut.csv, line 3: the last line has no line end",
        ),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
        let refusal = build(folder.path(), "wrong", &[name], &[]).refused();
        assert!(refusal.contains(reason), "{refusal}");
    }
    assert!(!folder.path().join("releases/rates/wrong").exists());
}

#[test]
fn an_unsigned_release_is_listed_with_its_datasets_and_the_reason_against_it() {
    let folder = tempfile::tempdir().unwrap();
    write_sources(folder.path());
    build(folder.path(), "new", &SOURCES, &[]).ok();
    let root = folder.path().join("releases").display().to_string();
    let unsigned = run(["series", "list", "--unsigned", "--releases", &root]).ok();
    let list = run(["series", "list", "--releases", &root]);
    assert_eq!(list.code, Some(1), "{list:?}");
    let (first, table) = list.stdout.split_once('\n').unwrap();
    assert!(first.starts_with("new\trates\tcannot be used: "), "{first}");
    assert!(first.contains("is not signed"), "{first}");
    assert_eq!(Some(table), unsigned.stdout.strip_prefix("new\trates\n"));
}

#[test]
fn the_releases_of_earlier_versions_are_listed_with_their_datasets() {
    let folder = releases().display().to_string();
    let list = run(["series", "list", "--releases", &folder]).ok().stdout;
    // Two releases, each with a header, and 7 and 22 datasets.
    assert_eq!(list.lines().count(), 2 + 2 + 7 + 22, "{list}");
    let rates = line(&list, "mortgage_reversion_spread");
    assert!(rates.contains("2026-08"), "{rates}");
    assert_eq!(line(&list, "dataset"), list.lines().nth(1).unwrap());
}
