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

/// The demo's release with others beside it, made once a run.
fn beside() -> &'static Releases {
    static MADE: OnceLock<Releases> = OnceLock::new();
    MADE.get_or_init(|| {
        Releases::shared("compare", |made| {
            made.add_snapshot();
            made.add_demo();
            made.add(PLAIN, component("guest-plain"));
            made.add(MISBEHAVING, component("guest-misbehaving"));
            let demo = releases().join("valuation").join(RELEASE);
            let bytes = fs::read(demo.join("component.wasm")).unwrap();
            made.add_changed(STARVED, bytes, |body| body.fuel_per_row = 1_000);
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

/// What was said, the JSON and the page.
fn reported(a: &str, b: &str, more: &[&str]) -> (String, Value, String) {
    let kept = tempfile::tempdir().unwrap();
    let (json, page) = (kept.path().join("c.json"), kept.path().join("c.html"));
    let (json_path, page_path) = (json.display().to_string(), page.display().to_string());
    let outputs = ["--json", &json_path, "--report", &page_path];
    let ran = compare(beside().path(), a, b, &[more, &outputs].concat()).ok();
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
    let (said, found, page) = reported(RELEASE, RELEASE, &["--sample", "120"]);
    assert!(said.contains("B says the same as A on all"), "{said}");
    assert!(said.contains("No row changes status."), "{said}");
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
fn the_sales_are_those_that_neither_learnt_from() {
    let (_, found, _) = reported(RELEASE, PLAIN, &[]);
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
fn another_model_is_told_by_change_nearness_ranges_and_cost() {
    let (said, found, page) = reported(RELEASE, PLAIN, &[]);
    let rows = number(&found, "/overall/rows");
    assert_eq!(number(&found, "/identical"), 0.0);
    assert!(said.contains(&format!(
        "B says something else than A on {rows} of {rows} rows."
    )));
    let change = &found["overall"]["change"];
    assert!(number(change, "/over_5") > 0.5, "{change}");
    assert!(number(change, "/tenth") < number(change, "/ninetieth"));
    // A rule of thumb is further from prices than the demo, and its ranges are as wide as a barn.
    let both = &found["overall"]["accuracy"];
    assert!(number(both, "/accuracy/b/mdape") > number(both, "/accuracy/a/mdape"));
    assert!(number(both, "/interval/1") < 0.5, "{both}");
    assert!(said.contains("B is the worse"), "{said}");
    assert_eq!(number(&found, "/overall/ranges/b/coverage"), 1.0);
    assert!(number(&found, "/overall/width/b") > 50.0);
    assert!(number(&found, "/cost/fuel/ratio") < 0.5);
    assert_eq!(found["movers"].as_array().unwrap().len(), 10);
    let furthest = found["movers"][0]["row"].as_str().unwrap();
    assert!(page.contains(furthest) && said.contains(furthest));
    assert!(furthest.starts_with("sale "), "{furthest}");
}

#[test]
fn both_ways_round_are_each_other_s_mirror() {
    let window = [
        "--from",
        "2026-06-01",
        "--to",
        "2026-09-30",
        "--sample",
        "60",
    ];
    let (_, there, _) = reported(RELEASE, PLAIN, &window);
    let (_, back, _) = reported(PLAIN, RELEASE, &window);
    for (one, other) in [("a", "b"), ("b", "a")] {
        for at in [
            "/overall/valued",
            "/overall/accuracy/accuracy",
            "/overall/width",
            "/cost/fuel/spread",
        ] {
            let of = |found: &Value, side: &str| found.pointer(&format!("{at}/{side}")).cloned();
            assert_eq!(of(&there, one), of(&back, other), "{at}");
        }
    }
    assert_eq!(there["flips"]["rows"], back["flips"]["rows"]);
}

#[test]
fn a_release_that_fails_is_told_as_flips_with_the_reason() {
    let (said, found, page) = reported(RELEASE, STARVED, &["--sample", "40"]);
    assert!(said.contains("to failed (fuel spent)"), "{said}");
    assert!(said.contains("No row is valued by both."), "{said}");
    assert_eq!(found["overall"]["valued"]["b"], 0);
    assert!(found["overall"]["change"].is_null());
    assert!(!found["flips"]["named"].as_array().unwrap().is_empty());
    assert!(page.contains("failed: fuel spent"));
    assert!(!page.contains("NaN"));
}

/// Fixtures with the rows of the demo's package.
fn fixtures() -> String {
    let package = releases().join("valuation").join(RELEASE);
    package.join("fixtures.jsonl").display().to_string()
}

#[test]
fn subjects_of_fixtures_are_valued_anew() {
    let (said, found, _) = reported(RELEASE, RELEASE, &[&fixtures()]);
    assert!(
        said.contains("The subjects of the fixtures fixtures.jsonl"),
        "{said}"
    );
    assert!(said.contains("B says the same as A on all"), "{said}");
    assert!(found["overall"]["accuracy"].is_null());
    assert_eq!(found["subject"]["rows"]["from"], "fixtures");
    // Bedrooms decide what this one does.
    let (_, found, _) = reported(RELEASE, MISBEHAVING, &[&fixtures()]);
    let verdict = found["verdict"].to_string();
    assert!(verdict.contains("What was paid is not known"), "{verdict}");
}

#[test]
fn what_was_learnt_from_is_said_first() {
    let early = [
        "--from",
        "2023-01-01",
        "--to",
        "2023-02-01",
        "--sample",
        "20",
    ];
    let (said, found, page) = reported(RELEASE, PLAIN, &early);
    assert!(
        said.contains("WARNING: A: The window holds sales that the release learnt from"),
        "{said}"
    );
    assert_eq!(found["warnings"].as_array().unwrap().len(), 1);
    let warning = page.find("class=\"warning\"").unwrap();
    assert!(warning < page.find("class=\"figures\"").unwrap());
}

#[test]
fn what_cannot_be_compared_is_said() {
    let folder = releases();
    let said = compare(&folder, RELEASE, "nowhere-1", &[]).refused();
    assert!(said.contains("no release \"nowhere-1\""), "{said}");
    let said = compare(&folder, RELEASE, RELEASE, &["/nowhere/f.jsonl"]).refused();
    assert!(said.contains("the fixtures /nowhere/f.jsonl"), "{said}");
    let backwards = ["--from", "2026-09-30", "--to", "2026-09-01"];
    let said = compare(&folder, RELEASE, RELEASE, &backwards).refused();
    assert!(
        said.contains("--from 2026-09-30 is after --to 2026-09-01"),
        "{said}"
    );
    let later = ["--from", "2031-01-01", "--to", "2031-02-01"];
    let said = compare(&folder, RELEASE, RELEASE, &later).refused();
    assert!(said.contains("has sales up to 2026-"), "{said}");
    // Nothing was learnt from that late, and the message does not ask for a window that was given.
    let said = compare(&folder, RELEASE, RELEASE, &later[..2]).refused();
    assert!(
        said.contains("--from 2031-01-01") && said.contains("has sales up to 2026-"),
        "{said}"
    );
    assert!(!said.contains("learnt"), "{said}");
    let both = [fixtures(), "--sample".to_owned(), "3".to_owned()];
    let both: Vec<&str> = both.iter().map(String::as_str).collect();
    assert_eq!(compare(&folder, RELEASE, RELEASE, &both).code, Some(2));
}

#[test]
fn what_cannot_be_written_is_said_before_the_work() {
    let kept = tempfile::tempdir().unwrap();
    let path = |name: &str| kept.path().join(name).display().to_string();
    let (json, nowhere, page) = (path("c.json"), path("none/c.html"), path("c.html"));
    // Of a release that is not there, since the outputs come first.
    let refused = |more: &[&str]| compare(&releases(), RELEASE, "nowhere-1", more).refused();
    let said = refused(&["--json", &json, "--report", &nowhere]);
    assert!(said.contains("none/c.html"), "{said}");
    let said = refused(&["--json", &json, "--report", &json]);
    assert!(
        said.contains("--report and --json are one file") && said.contains("c.json"),
        "{said}"
    );
    assert!(!Path::new(&json).exists());
    // What was there stays where nothing comes of the work.
    fs::write(&json, "an earlier one").unwrap();
    let said = refused(&["--json", &json, "--report", &page]);
    assert!(said.contains("no release \"nowhere-1\""), "{said}");
    assert_eq!(fs::read_to_string(&json).unwrap(), "an earlier one");
    assert!(!Path::new(&page).exists());
}

#[test]
fn a_reader_who_has_gone_costs_no_file_and_a_full_disk_is_told() {
    let kept = tempfile::tempdir().unwrap();
    let page = kept.path().join("c.html");
    let page_path = page.display().to_string();
    let folder = releases().display().to_string();
    let all = ["compare", RELEASE, RELEASE, "--releases", &folder];
    let all = [&all[..], &["--sample", "20", "--report", &page_path]].concat();
    let ran = run_into("| true", &all).ok();
    assert_eq!(ran.stderr, "");
    assert!(fs::read_to_string(&page).unwrap().contains("</html>"));
    fs::remove_file(&page).unwrap();
    let said = run_into(">/dev/full", &all).refused();
    assert!(said.contains("standard output: No space left"), "{said}");
    assert!(fs::read_to_string(&page).unwrap().contains("</html>"));
    // As with every other command.
    let list = ["release", "list", "--releases", &folder];
    assert_eq!(run_into("| true", list).ok().stderr, "");
    let said = run_into(">/dev/full", list).refused();
    assert!(said.contains("standard output: No space left"), "{said}");
}
