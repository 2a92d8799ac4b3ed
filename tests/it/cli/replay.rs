//! `domesday replay`: the same bits, or the row and the field that differ.

use crate::common::demo::{RELEASE, SNAPSHOT, house};
use crate::common::packages::Releases;
use crate::common::program::{ProcessOutput, releases, run};
use crate::common::server::start;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Returns the demo's own fixtures.
fn fixtures() -> Vec<Value> {
    let path = releases()
        .join("valuation")
        .join(RELEASE)
        .join("fixtures.jsonl");
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Replays these lines on the demo's release.
fn replay(lines: &str, more: &[&str]) -> ProcessOutput {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), lines).unwrap();
    replay_file(file.path(), more)
}

fn replay_file(file: &Path, more: &[&str]) -> ProcessOutput {
    let (file, folder) = (file.display().to_string(), releases().display().to_string());
    let mut arguments = vec!["replay", RELEASE, &file, "--releases", &folder];
    arguments.extend(more);
    run(arguments)
}

fn own(more: &[&str]) -> ProcessOutput {
    let folder = releases().display().to_string();
    let mut arguments = vec!["replay", RELEASE, "--releases", &folder];
    arguments.extend(more);
    run(arguments)
}

fn lines(fixtures: &[Value]) -> String {
    fixtures
        .iter()
        .map(|fixture| format!("{fixture}\n"))
        .collect()
}

#[test]
fn compiled_code_is_cached_in_the_given_folder_and_reused() {
    let folder = tempfile::tempdir().unwrap();
    let cache_dir = folder.path().join("kept");
    let arguments = ["--compiled", &cache_dir.display().to_string()];
    let first = own(&arguments).ok();
    let entries = || {
        let entries = fs::read_dir(cache_dir.join("compiled")).unwrap();
        let entries = entries.map(|entry| entry.unwrap());
        let known =
            entries.map(|entry| (entry.path(), entry.metadata().unwrap().modified().unwrap()));
        known.collect::<Vec<_>>()
    };
    let known = entries();
    assert_eq!(known.len(), 1, "{known:?}");
    assert_eq!(own(&arguments).ok().stdout, first.stdout);
    assert_eq!(entries(), known, "compiled again");

    fs::set_permissions(&cache_dir, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = own(&arguments).refused();
    assert!(
        refused.contains("the folder of compiled code")
            && refused.contains("nobody else may write"),
        "{refused}"
    );
}

/// Flips the lowest bit of a number.
fn one_bit(number: &mut Value) {
    let bits = number.as_f64().unwrap().to_bits() ^ 1;
    *number = f64::from_bits(bits).into();
}

fn first_valued(fixtures: &[Value]) -> usize {
    fixtures
        .iter()
        .position(|fixture| fixture.pointer("/result/outcome/estimate").is_some())
        .unwrap()
}

#[test]
fn the_releases_own_fixtures_are_identical() {
    let rows = fixtures().len();
    assert!(rows >= 30, "{rows}");
    let output = own(&[]).ok().stdout;
    assert!(
        output.starts_with(&format!("{rows} of {rows} rows identical to the bit")),
        "{output}"
    );
}

#[test]
fn the_fixtures_hold_every_kind_of_outcome_that_the_demo_can_give() {
    let statuses: std::collections::BTreeSet<String> = fixtures()
        .iter()
        .filter_map(|fixture| {
            Some(
                fixture
                    .pointer("/result/outcome/status")?
                    .as_str()?
                    .to_owned(),
            )
        })
        .collect();
    assert!(
        statuses.contains("valued") && statuses.contains("referred"),
        "{statuses:?}"
    );
}

#[test]
fn the_snapshot_still_gives_the_recorded_answers() {
    let output = own(&["--snapshot"]).ok().stdout;
    let line = format!("Snapshot {SNAPSHOT} gives the recorded evidence of the identical rows");
    assert_eq!(output.lines().nth(1), Some(line.as_str()), "{output}");
    assert_eq!(own(&[]).ok().stdout.lines().count(), 1);
    let report: Value = serde_json::from_str(&own(&["--snapshot", "--json"]).ok().stdout).unwrap();
    assert_eq!(report["snapshot"], SNAPSHOT);
}

#[test]
fn json_output_reports_the_same_result() {
    let rows = fixtures().len();
    let report: Value = serde_json::from_str(&own(&["--json"]).ok().stdout).unwrap();
    assert_eq!(report["release_id"], RELEASE);
    assert_eq!(report["rows"], rows);
    assert_eq!(report["identical"], rows);
    assert_eq!(report["mismatches"], serde_json::json!([]));
    assert!(report["engine"].as_str().unwrap().contains("wasmtime"));
}

#[test]
fn it_runs_beside_a_server_of_the_same_release() {
    let server = start().go();
    own(&["--snapshot"]).ok();
    assert_eq!(server.demo().post("/v3/value", &house()).status, 200);
}

#[test]
fn it_needs_no_snapshot() {
    let releases = Releases::copy();
    fs::remove_dir_all(releases.path().join("property")).unwrap();
    let folder = releases.path().display().to_string();
    run(["replay", RELEASE, "--releases", &folder]).ok();
    let refusal = run(["replay", RELEASE, "--snapshot", "--releases", &folder]).refused();
    assert!(refusal.contains("property"), "{refusal}");
}

#[test]
fn one_bit_of_one_outcome_is_named_by_row_and_field() {
    let mut fixtures = fixtures();
    let at = first_valued(&fixtures);
    let row = fixtures[at]["row"].as_str().unwrap().to_owned();
    one_bit(
        fixtures[at]
            .pointer_mut("/result/outcome/estimate")
            .unwrap(),
    );
    let ran = replay(&lines(&fixtures), &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains(&row), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("/result/outcome/estimate"),
        "{}",
        ran.stdout
    );
    let identical = format!(
        "{} of {} rows identical",
        fixtures.len() - 1,
        fixtures.len()
    );
    assert!(ran.stdout.contains(&identical), "{}", ran.stdout);

    let report = replay(&lines(&fixtures), &["--json"]);
    assert_eq!(report.code, Some(1));
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    let mismatches = report["mismatches"].as_array().unwrap();
    assert_eq!(mismatches.len(), 1);
    assert_eq!(mismatches[0]["row"], row);
    assert_eq!(mismatches[0]["field"], "/result/outcome/estimate");
}

#[test]
fn one_bit_of_any_number_of_an_outcome_is_found() {
    let mut fixture = fixtures().remove(first_valued(&fixtures()));
    fixture["row"] = "the row".into();
    for field in [
        "/result/outcome/range/lower",
        "/result/outcome/range/upper",
        "/result/outcome/confidence",
        "/result/outcome/comparables/0/adjusted_price",
        "/result/outcome/comparables/0/similarity",
    ] {
        let mut changed = fixture.clone();
        one_bit(changed.pointer_mut(field).unwrap());
        let ran = replay(&changed.to_string(), &[]);
        assert_eq!(ran.code, Some(1), "{field}");
        assert!(
            ran.stdout.contains("the row") && ran.stdout.contains(field),
            "{ran:?}"
        );
    }
}

#[test]
fn another_subject_gives_another_outcome() {
    let mut fixture = fixtures().remove(first_valued(&fixtures()));
    let area = fixture.pointer_mut("/subject/size/floor_area_m2").unwrap();
    *area = (area.as_f64().unwrap_or(80.0) * 1.5).into();
    let ran = replay(&fixture.to_string(), &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("/result"), "{ran:?}");
}

#[test]
fn changed_evidence_is_found_by_its_outcome_and_by_the_snapshot() {
    let mut fixture = fixtures().remove(first_valued(&fixtures()));
    let row = fixture["row"].as_str().unwrap().to_owned();
    // Every recorded sale was dearer by half.
    let mut changed = 0;
    for exchange in fixture["evidence"].as_array_mut().unwrap() {
        let sales = exchange["answer"].as_object_mut().unwrap().values_mut();
        for sale in sales.filter_map(Value::as_array_mut).flatten() {
            let price = sale["price_gbp"].as_u64().unwrap();
            sale["price_gbp"] = (price + price / 2).into();
            changed += 1;
        }
    }
    assert!(changed > 0, "the fixture holds no sale");
    let ran = replay(&fixture.to_string(), &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.stdout.contains(&row) && ran.stdout.contains("/result/outcome/"),
        "{ran:?}"
    );
}

#[test]
fn evidence_that_the_snapshot_does_not_give_is_found() {
    let mut fixture = fixtures().remove(first_valued(&fixtures()));
    // The last sale of the last answer is the least telling; replayed alone it may pass unseen.
    let exchanges = fixture["evidence"].as_array_mut().unwrap();
    let (at, exchange) = exchanges
        .iter_mut()
        .enumerate()
        .find(|(_, exchange)| exchange["answer"].to_string().contains("price_gbp"))
        .unwrap();
    let answer = exchange["answer"].as_object_mut().unwrap();
    let sales = answer.values_mut().find_map(Value::as_array_mut).unwrap();
    sales.pop();
    let ran = replay(&fixture.to_string(), &["--snapshot"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let field = format!("/evidence/{at}/answer");
    assert!(
        ran.stdout.contains(&field) || ran.stdout.contains("/result"),
        "{ran:?}"
    );
}

#[test]
fn an_unrecorded_query_is_found() {
    let mut fixture = fixtures().remove(first_valued(&fixtures()));
    fixture["evidence"].as_array_mut().unwrap().pop().unwrap();
    assert_eq!(replay(&fixture.to_string(), &[]).code, Some(1));
    let mut more = fixtures().remove(first_valued(&fixtures()));
    let exchanges = more["evidence"].as_array_mut().unwrap();
    exchanges.push(exchanges[0].clone());
    let ran = replay(&more.to_string(), &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("questions"), "{ran:?}");
}

#[test]
fn an_unknown_field_is_refused_at_its_line() {
    let mut fixtures = fixtures();
    fixtures.truncate(3);
    for pointer in ["", "/subject", "/result/outcome"] {
        let mut changed = fixtures.clone();
        let at = if pointer.starts_with("/result") {
            first_valued(&changed)
        } else {
            1
        };
        changed[at].pointer_mut(pointer).unwrap()["colour"] = "blue".into();
        let refusal = replay(&lines(&changed), &[]).refused();
        let line = format!("line {}", at + 1);
        assert!(
            refusal.contains(&line) && refusal.contains("colour"),
            "{pointer}: {refusal}"
        );
    }
}

#[test]
fn two_rows_of_one_name_are_refused() {
    let first = fixtures().remove(0);
    let refusal = replay(&lines(&[first.clone(), first]), &[]).refused();
    assert!(refusal.contains("line 2"), "{refusal}");
}

#[test]
fn a_file_without_a_fixture_proves_nothing() {
    for text in ["", "\n\n"] {
        let refusal = replay(text, &[]).refused();
        assert!(refusal.contains("no fixture"), "{refusal}");
    }
}

#[test]
fn a_line_that_breaks_off_is_named() {
    let text = lines(&fixtures()[..2]);
    let refusal = replay(&text[..text.len() - 40], &[]).refused();
    assert!(refusal.contains("line 2"), "{refusal}");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let refusal = replay_file(Path::new("/nowhere/fixtures.jsonl"), &[]).refused();
    assert!(refusal.contains("/nowhere/fixtures.jsonl"), "{refusal}");
}

#[test]
fn a_missing_release_is_named() {
    let folder = releases().display().to_string();
    let refusal = run(["replay", "absent", "--releases", &folder]).refused();
    assert!(refusal.contains("absent"), "{refusal}");
}
