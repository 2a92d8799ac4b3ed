//! `domesday compare`: two releases on the same homes.

use crate::common::demo::RELEASE;
use crate::common::guest::component;
use crate::common::packages::Releases;
use crate::common::program::{ProcessOutput, releases, run, run_into};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// A release of the same snapshot that says so much a square metre everywhere.
const PLAIN: &str = "plain-1";
/// One that goes wrong on homes of some numbers of bedrooms, and says 200,000 pounds of all others.
const MISBEHAVING: &str = "misbehaving-1";
/// The demo's, its limits so low that it fails on every row.
const STARVED: &str = "starved-1";

/// Returns the demo's release with others beside it, made once a run.
fn compared_releases() -> &'static Releases {
    static MADE: OnceLock<Releases> = OnceLock::new();
    MADE.get_or_init(|| {
        Releases::shared("compare", |target| {
            target.add_snapshot();
            target.add_demo();
            target.add(PLAIN, component("guest-plain"));
            target.add(MISBEHAVING, component("guest-misbehaving"));
            let demo = releases().join("valuation").join(RELEASE);
            let bytes = fs::read(demo.join("component.wasm")).unwrap();
            target.add_changed(STARVED, bytes, |body| body.fuel_per_row = 1_000);
        })
    })
}

fn compare(folder: &Path, a: &str, b: &str, more: &[&str]) -> ProcessOutput {
    let folder = folder.display().to_string();
    let mut all = vec!["compare", a, b, "--releases", &folder];
    for id in [PLAIN, MISBEHAVING, STARVED] {
        all.extend(["--allow-unsigned", id]);
    }
    all.extend(more);
    run(all)
}

/// Compares two releases, and returns the output, the JSON and the page.
fn compare_and_read(a: &str, b: &str, more: &[&str]) -> (String, Value, String) {
    let temp_dir = tempfile::tempdir().unwrap();
    let (json, page) = (
        temp_dir.path().join("c.json"),
        temp_dir.path().join("c.html"),
    );
    let (json_path, page_path) = (json.display().to_string(), page.display().to_string());
    let outputs = ["--json", &json_path, "--report", &page_path];
    let ran = compare(compared_releases().path(), a, b, &[more, &outputs].concat()).ok();
    let text = fs::read_to_string(json).unwrap();
    (
        ran.stdout,
        serde_json::from_str(&text).unwrap(),
        fs::read_to_string(page).unwrap(),
    )
}

fn number(value: &Value, at: &str) -> f64 {
    value
        .pointer(at)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("{at}"))
}

#[test]
fn a_release_against_itself_changes_nothing() {
    let (output, found, page) = compare_and_read(RELEASE, RELEASE, &["--sample", "120"]);
    assert!(
        output.contains("by evidence of more than 60 days before it"),
        "{output}"
    );
    assert_eq!(found["subject"]["rows"]["evidence_lag_days"], 60);
    assert!(output.contains("B says the same as A on all"), "{output}");
    assert!(output.contains("No row changes status."), "{output}");
    let rows = number(&found, "/overall/rows");
    assert!(rows > 80.0);
    assert_eq!(number(&found, "/identical"), rows);
    assert_eq!(number(&found, "/overall/change/moved"), 0.0);
    assert_eq!(number(&found, "/overall/accuracy/b_nearer"), 0.5);
    assert_eq!(number(&found, "/cost/fuel/ratio"), 1.0);
    // Neither is always the first to ask for the evidence.
    let time = number(&found, "/cost/micros/ratio");
    assert!((0.5..2.0).contains(&time), "{time}");
    assert_eq!(found["movers"].as_array().unwrap().len(), 0);
    assert_eq!(found["warnings"].as_array().unwrap().len(), 0);
    assert!(page.contains("B says the same as A on all"));
}

#[test]
fn only_sales_that_neither_release_trained_on_are_compared() {
    let (_, found, _) = compare_and_read(RELEASE, PLAIN, &["--evidence-lag", "0"]);
    let text = fs::read_to_string(
        releases()
            .join("valuation")
            .join(RELEASE)
            .join("backtest.json"),
    );
    let backtest: Value = serde_json::from_str(&text.unwrap()).unwrap();
    for (day, of) in [("first", "from"), ("last", "to")] {
        assert_eq!(found["subject"]["rows"][day], backtest["subject"][of]);
    }
    // The same sales, valued as the back-test values them.
    assert_eq!(found["overall"]["rows"], backtest["overall"]["sales"]);
    assert_eq!(
        found["overall"]["valued"]["a"],
        backtest["overall"]["valued"]
    );
}

#[test]
fn another_model_differs_in_change_error_ranges_and_cost() {
    let (output, found, page) = compare_and_read(RELEASE, PLAIN, &[]);
    let rows = number(&found, "/overall/rows");
    assert_eq!(number(&found, "/identical"), 0.0);
    assert!(output.contains(&format!(
        "B says something else than A on {rows} of {rows} rows."
    )));
    let change = &found["overall"]["change"];
    assert!(number(change, "/over_5") > 0.5, "{change}");
    assert!(number(change, "/tenth") < number(change, "/ninetieth"));
    // A rule of thumb is further from prices than the demo, and its ranges are as wide as a barn.
    let both = &found["overall"]["accuracy"];
    assert!(number(both, "/accuracy/b/mdape") > number(both, "/accuracy/a/mdape"));
    assert!(number(both, "/interval/1") < 0.5, "{both}");
    assert!(output.contains("B is the worse"), "{output}");
    assert_eq!(number(&found, "/overall/ranges/b/coverage"), 1.0);
    assert!(number(&found, "/overall/width/b") > 50.0);
    assert!(number(&found, "/cost/fuel/ratio") < 0.5);
    assert_eq!(found["movers"].as_array().unwrap().len(), 10);
    let furthest = found["movers"][0]["row"].as_str().unwrap();
    assert!(page.contains(furthest) && output.contains(furthest));
    assert!(furthest.starts_with("sale "), "{furthest}");
    // The postcode of a sale is its cluster, and is not written.
    let mover = found["movers"][0].as_object().unwrap();
    assert!(mover.contains_key("postcode_area") && !mover.contains_key("postcode"));
}

#[test]
fn both_orders_of_releases_mirror_each_other() {
    let window = [
        "--from",
        "2026-06-01",
        "--to",
        "2026-09-30",
        "--sample",
        "60",
    ];
    let (_, forward, _) = compare_and_read(RELEASE, PLAIN, &window);
    let (_, back, _) = compare_and_read(PLAIN, RELEASE, &window);
    for (one, other) in [("a", "b"), ("b", "a")] {
        for at in [
            "/overall/valued",
            "/overall/accuracy/accuracy",
            "/overall/width",
            "/cost/fuel/spread",
        ] {
            let of = |found: &Value, side: &str| found.pointer(&format!("{at}/{side}")).cloned();
            assert_eq!(of(&forward, one), of(&back, other), "{at}");
        }
    }
    assert_eq!(forward["flips"]["rows"], back["flips"]["rows"]);
}

#[test]
fn a_failing_release_shows_as_flips_with_the_reason() {
    let (output, found, page) = compare_and_read(RELEASE, STARVED, &["--sample", "40"]);
    assert!(output.contains("to failed (fuel spent)"), "{output}");
    assert!(output.contains("No row is valued by both."), "{output}");
    assert_eq!(found["overall"]["valued"]["b"], 0);
    assert!(found["overall"]["change"].is_null());
    assert!(!found["flips"]["named"].as_array().unwrap().is_empty());
    assert!(page.contains("failed: fuel spent"));
    assert!(!page.contains("NaN"));
}

/// Returns the path of the fixtures in the demo's package.
fn fixtures() -> String {
    let package = releases().join("valuation").join(RELEASE);
    package.join("fixtures.jsonl").display().to_string()
}

#[test]
fn subjects_of_fixtures_are_valued_anew() {
    let (output, found, _) = compare_and_read(RELEASE, RELEASE, &[&fixtures()]);
    assert!(
        output.contains("The subjects of the fixtures fixtures.jsonl"),
        "{output}"
    );
    assert!(output.contains("B says the same as A on all"), "{output}");
    assert!(found["overall"]["accuracy"].is_null());
    assert_eq!(found["subject"]["rows"]["from"], "fixtures");
    // Bedrooms decide what this one does. It values a home whose bedrooms are unknown.
    let folder = tempfile::tempdir().unwrap();
    let unknown = folder.path().join("fixtures.jsonl");
    let without_bedrooms = |line: &str| {
        let mut fixture: Value = serde_json::from_str(line).unwrap();
        fixture["subject"]["size"]["bedrooms"] = Value::Null;
        format!("{fixture}\n")
    };
    let text = fs::read_to_string(fixtures()).unwrap();
    fs::write(
        &unknown,
        text.lines().map(without_bedrooms).collect::<String>(),
    )
    .unwrap();
    let unknown = unknown.display().to_string();
    let (_, found, _) = compare_and_read(RELEASE, MISBEHAVING, &[&unknown]);
    let verdict = found["verdict"].to_string();
    assert!(
        verdict.contains("These rows have no known price"),
        "{verdict}"
    );
}

#[test]
fn training_overlap_is_reported_first() {
    let early = [
        "--from",
        "2023-01-01",
        "--to",
        "2023-02-01",
        "--sample",
        "20",
    ];
    let (output, found, page) = compare_and_read(RELEASE, PLAIN, &early);
    assert!(
        output.contains("WARNING: A: The window holds sales that the release was trained on"),
        "{output}"
    );
    assert_eq!(found["warnings"].as_array().unwrap().len(), 1);
    let warning = page.find("class=\"warning\"").unwrap();
    assert!(warning < page.find("class=\"figures\"").unwrap());
}

#[test]
fn invalid_comparisons_are_refused() {
    let folder = releases();
    let output = compare(&folder, RELEASE, "nowhere-1", &[]).refused();
    assert!(output.contains("no release \"nowhere-1\""), "{output}");
    let output = compare(&folder, RELEASE, RELEASE, &["/nowhere/f.jsonl"]).refused();
    assert!(output.contains("the fixtures /nowhere/f.jsonl"), "{output}");
    let backwards = ["--from", "2026-09-30", "--to", "2026-09-01"];
    let output = compare(&folder, RELEASE, RELEASE, &backwards).refused();
    assert!(
        output.contains("--from 2026-09-30 is after --to 2026-09-01"),
        "{output}"
    );
    let later = ["--from", "2031-01-01", "--to", "2031-02-01"];
    let output = compare(&folder, RELEASE, RELEASE, &later).refused();
    assert!(output.contains("has sales up to 2026-"), "{output}");
    // No training data is that late, and the message does not ask for a window that was given.
    let output = compare(&folder, RELEASE, RELEASE, &later[..2]).refused();
    assert!(
        output.contains("--from 2031-01-01") && output.contains("has sales up to 2026-"),
        "{output}"
    );
    assert!(!output.contains("trained on"), "{output}");
    let both = [fixtures(), "--sample".to_owned(), "3".to_owned()];
    let both: Vec<&str> = both.iter().map(String::as_str).collect();
    assert_eq!(compare(&folder, RELEASE, RELEASE, &both).code, Some(2));
}

#[test]
fn unwritable_outputs_fail_before_the_work() {
    let temp_dir = tempfile::tempdir().unwrap();
    let path = |name: &str| temp_dir.path().join(name).display().to_string();
    let (json, nowhere, page) = (path("c.json"), path("none/c.html"), path("c.html"));
    // Of a release that is not there, since the outputs come first.
    let refused = |more: &[&str]| compare(&releases(), RELEASE, "nowhere-1", more).refused();
    let output = refused(&["--json", &json, "--report", &nowhere]);
    assert!(output.contains("none/c.html"), "{output}");
    let output = refused(&["--json", &json, "--report", &json]);
    assert!(
        output.contains("--report and --json are one file") && output.contains("c.json"),
        "{output}"
    );
    assert!(!Path::new(&json).exists());
    // A failed comparison leaves the existing file unchanged.
    fs::write(&json, "an earlier one").unwrap();
    let output = refused(&["--json", &json, "--report", &page]);
    assert!(output.contains("no release \"nowhere-1\""), "{output}");
    assert_eq!(fs::read_to_string(&json).unwrap(), "an earlier one");
    assert!(!Path::new(&page).exists());
}

#[test]
fn a_closed_pipe_costs_no_file_and_a_full_disk_is_reported() {
    let temp_dir = tempfile::tempdir().unwrap();
    let page = temp_dir.path().join("c.html");
    let page_path = page.display().to_string();
    let folder = releases().display().to_string();
    let all = ["compare", RELEASE, RELEASE, "--releases", &folder];
    let all = [&all[..], &["--sample", "20", "--report", &page_path]].concat();
    let ran = run_into("| true", &all).ok();
    assert_eq!(ran.stderr, "");
    assert!(fs::read_to_string(&page).unwrap().contains("</html>"));
    fs::remove_file(&page).unwrap();
    let output = run_into(">/dev/full", &all).refused();
    assert!(
        output.contains("standard output: No space left"),
        "{output}"
    );
    assert!(fs::read_to_string(&page).unwrap().contains("</html>"));
    // As with every other command.
    let list = ["release", "list", "--releases", &folder];
    assert_eq!(run_into("| true", list).ok().stderr, "");
    let output = run_into(">/dev/full", list).refused();
    assert!(
        output.contains("standard output: No space left"),
        "{output}"
    );
}
