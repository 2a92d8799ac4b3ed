//! `domesday release backtest`: how far off a release is on sales that it had not seen.

use crate::common::demo::RELEASE;
use crate::common::program::{ProcessOutput, releases, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// Returns the back-test in the demo's package, of sales that the release was not trained on.
fn packaged() -> (String, Value) {
    let path = releases().join("valuation").join(RELEASE);
    let text = fs::read_to_string(path.join("backtest.json")).unwrap();
    let report = serde_json::from_str(&text).unwrap();
    (text, report)
}

/// Returns the options that set its window.
fn window() -> [String; 4] {
    let report = packaged().1;
    let day = |which: &str| report["subject"][which].as_str().unwrap().to_owned();
    [
        "--from".to_owned(),
        day("from"),
        "--to".to_owned(),
        day("to"),
    ]
}

fn backtest(arguments: &[&str]) -> ProcessOutput {
    let folder = releases().display().to_string();
    let mut all = vec!["release", "backtest", RELEASE, "--releases", &folder];
    all.extend(arguments);
    run(all)
}

/// Runs a back-test, and returns its output and its JSON file.
fn backtest_and_read(more: &[&str]) -> (String, String) {
    let temp_dir = tempfile::tempdir().unwrap();
    let file = temp_dir.path().join("backtest.json").display().to_string();
    let window = window();
    let window: Vec<&str> = window.iter().map(String::as_str).collect();
    // Most tests are not of the probe, which takes most of the time.
    let probe: &[&str] = match more.contains(&"--leakage-probe") {
        true => &[],
        false => &["--leakage-probe", "0"],
    };
    let output = backtest(&[&window[..], probe, more, &["--json", &file]].concat()).ok();
    (output.stdout, fs::read_to_string(file).unwrap())
}

fn json(more: &[&str]) -> Value {
    serde_json::from_str(&backtest_and_read(more).1).unwrap()
}

fn number(value: &Value, at: &str) -> f64 {
    value.pointer(at).unwrap().as_f64().unwrap()
}

fn groups<'a>(report: &'a Value, by: &str) -> &'a Vec<Value> {
    let divisions = report["divisions"].as_array().unwrap();
    let division = divisions.iter().find(|division| division["by"] == by);
    division.unwrap()["groups"].as_array().unwrap()
}

#[test]
fn the_figures_of_the_demo_are_of_their_size() {
    let report = json(&[]);
    assert_eq!(report["format"], 2);
    assert_eq!(report["subject"]["release_id"], RELEASE);
    assert_eq!(report["subject"]["synthetic"], true);
    let overall = &report["overall"];
    assert!(number(overall, "/sales") > 300.0);
    assert!(number(overall, "/hit_rate") > 0.95);
    assert!((0.03..0.12).contains(&number(overall, "/accuracy/mdape")));
    let within = |percent: u32| number(overall, &format!("/accuracy/within_{percent}"));
    assert!(within(5) < within(10) && within(10) < within(20));
    let (coverage, nominal) = (
        number(overall, "/ranges/coverage"),
        number(overall, "/ranges/nominal"),
    );
    assert!((coverage - nominal).abs() < 0.1, "{coverage}");
    for floor in [0, 1] {
        let floor = &overall["floors"][floor];
        assert_eq!(floor["verdict"], "beaten", "{floor}");
        let rows = |which: &str| number(floor, &format!("/like_for_like/{which}/rows"));
        assert_eq!(rows("release"), rows("floor"));
    }
}

#[test]
fn the_packaged_report_matches_the_command_exactly() {
    let (text, report) = packaged();
    assert_eq!(report["leakage_probe"]["passed"], true);
    // The made-up registers have a sale on its day.
    let lag = ["--evidence-lag", "0"];
    let sample = ["--leakage-probe", "50", "--sample", "20000"];
    let (output, again) = backtest_and_read(&[&lag[..], &sample].concat());
    assert!(text == again, "{again}");
    assert!(
        output.contains("passed: another future changed no answer"),
        "{output}"
    );
}

#[test]
fn a_training_window_is_refused_or_marked() {
    let report = packaged().1;
    let last = report["subject"]["learnt"]["calibrated_through"]
        .as_str()
        .unwrap();
    let day = &["--from", last, "--to", last];
    let output = backtest(day).refused();
    let after = report["subject"]["from"].as_str().unwrap();
    assert!(
        output.contains(&format!("trained on sales up to {last}")),
        "{output}"
    );
    assert!(
        output.contains(&format!("Begin at {after} or later")),
        "{output}"
    );
    // A window that ends before is no better.
    let before = &["--from", "2022-01-01", "--to", "2022-02-01"];
    assert!(backtest(before).refused().contains("--allow-overlap"));
    let more = ["--allow-overlap", "--leakage-probe", "0"];
    let output = backtest(&[&before[..], &more].concat()).ok().stdout;
    assert!(output.contains("WARNING"), "{output}");
    assert!(output.contains("these figures are too good"), "{output}");
}

#[test]
fn groups_divide_the_rows_and_small_ones_have_no_figures() {
    let report = json(&[]);
    let all = number(&report, "/overall/sales");
    for by in ["type", "authority", "postcode_area", "price", "month"] {
        let sum: f64 = groups(&report, by)
            .iter()
            .map(|g| number(g, "/sales"))
            .sum();
        assert_eq!(sum, all, "{by}");
        for group in groups(&report, by) {
            let figured = number(group, "/valued") >= 30.0;
            assert_eq!(group["accuracy"].is_object(), figured, "{group}");
            let figured = number(group, "/sales") >= 30.0;
            assert_eq!(group["hit_rate"].is_number(), figured, "{group}");
        }
    }
    let valued: f64 = groups(&report, "confidence")
        .iter()
        .map(|g| number(g, "/sales"))
        .sum();
    assert_eq!(valued, number(&report, "/overall/valued"));
    let authorities = groups(&report, "authority");
    assert!(authorities.iter().all(|group| group["name"].is_string()));
}

#[test]
fn the_same_window_gives_the_same_bytes() {
    assert!(backtest_and_read(&["--sample", "150"]) == backtest_and_read(&["--sample", "150"]));
}

#[test]
fn a_sample_is_taken_evenly() {
    let report = json(&["--sample", "100"]);
    let (sales, every) = (
        number(&report, "/overall/sales"),
        number(&report, "/subject/taken_every"),
    );
    assert!(sales <= 100.0 && every > 1.0);
    let asked =
        number(&report, "/subject/sales_in_window") - number(&report, "/subject/not_askable");
    assert_eq!(sales, (asked / every).ceil());
}

#[test]
fn a_lag_hides_the_last_days_and_costs_accuracy_or_nothing() {
    let (now, late) = (json(&[]), json(&["--evidence-lag", "400"]));
    assert_eq!(late["subject"]["evidence_lag_days"], 400);
    let mdape = |report: &Value| number(report, "/overall/accuracy/mdape");
    assert!(
        mdape(&late) > mdape(&now),
        "{} {}",
        mdape(&late),
        mdape(&now)
    );
}

#[test]
fn a_value_as_at_the_first_of_the_month_sees_less() {
    let (day, month) = (json(&[]), json(&["--as-at", "month"]));
    assert_eq!(month["subject"]["as_at"], "month");
    assert_eq!(day["overall"]["sales"], month["overall"]["sales"]);
    assert_ne!(day["overall"]["accuracy"], month["overall"]["accuracy"]);
}

/// A part of the demo's sales is asked about in other ways anyway. Here that part is all of them.
#[test]
fn other_requests_have_the_figures_of_the_report_s_own_sample_of_them() {
    let stored = json(&[]);
    assert_eq!(stored["subject"].get("request"), None);
    for (request, words) in [
        ("area", "Asked about with floor area and bedrooms"),
        ("bedrooms", "Asked about with bedrooms alone"),
    ] {
        let (summary, text) = backtest_and_read(&["--request", request]);
        let report: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(report["subject"]["request"], request);
        assert_eq!(report["shapes"], Value::Array(Vec::new()));
        assert!(summary.contains(words), "{summary}");
        let sales = |report: &Value| number(&report["overall"], "/sales");
        let left_out = report["subject"]["not_stated"].as_f64().unwrap_or(0.0);
        assert_eq!(left_out > 0.0, request == "area", "{left_out}");
        assert_eq!(sales(&report) + left_out, sales(&stored));
        let shapes = stored["shapes"].as_array().unwrap();
        let sample = shapes.iter().find(|shape| shape["shape"] == request);
        let sample = sample.unwrap();
        assert_eq!(report["overall"]["sales"], sample["sales"]);
        // The sample is compared on the sales that requests with stored data value too.
        let rows = |value: &Value| number(value, "/accuracy/rows");
        let apart = rows(&report["overall"]) - rows(sample);
        assert!((0.0..=3.0).contains(&apart), "{apart} of {request}");
        let mdape = |value: &Value| number(value, "/accuracy/mdape");
        let apart = mdape(&report["overall"]) - mdape(sample);
        assert!(apart.abs() < 0.002, "{apart} of {request}");
    }
}

#[test]
fn an_invalid_window_is_refused() {
    let output = backtest(&["--from", "2026-09-30", "--to", "2026-09-01"]).refused();
    assert!(
        output.contains("--from 2026-09-30 is after --to 2026-09-01"),
        "{output}"
    );
    let output = backtest(&["--from", "2031-01-01", "--to", "2031-02-01"]).refused();
    assert!(
        output.contains("the snapshot's latest sale is of 2026-"),
        "{output}"
    );
    let folder = releases().display().to_string();
    let output = run(["release", "backtest", "nowhere-1", "--releases", &folder]
        .into_iter()
        .map(str::to_owned)
        .chain(window()))
    .refused();
    assert!(output.contains("no release \"nowhere-1\""), "{output}");
}

#[test]
fn unwritable_outputs_fail_before_the_work() {
    let temp_dir = tempfile::tempdir().unwrap();
    let file = temp_dir.path().join("b.json").display().to_string();
    // Of a window that is refused, since the outputs come first.
    let day = ["--from", "2031-01-01", "--to", "2031-02-01"];
    let refused = |more: &[&str]| backtest(&[&day[..], more].concat()).refused();
    let output = refused(&["--json", &file, "--rows", "/nowhere/b.csv"]);
    assert!(output.contains("/nowhere/b.csv"), "{output}");
    let output = refused(&["--json", &file, "--rows", &file]);
    assert!(
        output.contains("--json and --rows are one file"),
        "{output}"
    );
    assert!(!temp_dir.path().join("b.json").exists());
}

/// The rows hold the input of the report, so a reader can compute another figure.
#[test]
fn the_rows_give_the_figures_of_the_report() {
    let temp_dir = tempfile::tempdir().unwrap();
    let path = temp_dir.path().join("rows.csv");
    let report = json(&["--rows", &path.display().to_string()]);
    let mut file = csv::Reader::from_path(&path).unwrap();
    let rows: Vec<BTreeMap<String, String>> = file.deserialize().map(Result::unwrap).collect();
    assert_eq!(rows.len() as f64, number(&report, "/overall/sales"));
    let pounds = |row: &BTreeMap<String, String>, name: &str| row[name].parse::<f64>().unwrap();
    let valued: Vec<_> = rows
        .iter()
        .filter(|row| row["outcome"] == "valued")
        .collect();
    let mut errors: Vec<f64> = valued
        .iter()
        .map(|row| (pounds(row, "estimate_gbp") / pounds(row, "price_gbp") - 1.0).abs())
        .collect();
    errors.sort_by(f64::total_cmp);
    let half = errors.len() / 2;
    let median = match errors.len() % 2 {
        0 => (errors[half - 1] + errors[half]) / 2.0,
        _ => errors[half],
    };
    assert!((median - number(&report, "/overall/accuracy/mdape")).abs() < 1e-6);
    // Where the evidence is thin there is a value and no range.
    let ranged = valued.iter().filter(|row| !row["lower_gbp"].is_empty());
    let holds: Vec<bool> = ranged
        .map(|row| {
            (pounds(row, "lower_gbp")..=pounds(row, "upper_gbp"))
                .contains(&pounds(row, "price_gbp"))
        })
        .collect();
    let coverage = holds.iter().filter(|holds| **holds).count() as f64 / holds.len() as f64;
    assert!((coverage - number(&report, "/overall/ranges/coverage")).abs() < 1e-6);
}
