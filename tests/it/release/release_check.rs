//! `domesday release check`: a plain release passes every check, and each check is seen to fail.

use crate::check_run::{CheckRun, LONG, PLAIN, QUICK, changed, plain, write_copy};
use crate::common::demo::{RELEASE, SNAPSHOT};
use crate::common::packages::{Releases, copy_tree};
use crate::common::program::{releases, repository, run};
use domesday_package::{
    Draft, Monotone, PropertyBody, Sha256Digest, Source, TrainingWindow, Trust, open, write,
};
use serde_json::Value;
use std::fs;
use std::path::Path;

const TWIN: &str = "plain-twin-1";

/// Returns the plain release with its valuation dates in a year in which it goes wrong.
fn in_year(year: u16) -> Releases {
    changed(plain().path(), PLAIN, |body, _| {
        body.valuation_date.from = format!("{year}-06-01").parse().unwrap();
        body.valuation_date.to = format!("{year}-07-31").parse().unwrap();
    })
}

#[test]
fn a_plain_release_passes_every_check() {
    // A reference that is valued by the same code: no place is apart from it.
    let with_twin = changed(plain().path(), PLAIN, |_, _| {});
    write_copy(plain().path(), PLAIN, with_twin.path(), TWIN, |_, _| {});
    let strict = ["--strict", "--reference", TWIN, "--allow-unsigned", TWIN];
    let checked = CheckRun::plain(&with_twin, &[&LONG[..], &strict].concat());
    let all = [
        "admission",
        "fixtures",
        "snapshot",
        "answers",
        "order",
        "monotone",
        "adversarial",
        "ranges",
        "cost",
        "dates",
        "small_changes",
        "attributes",
        "own_sale",
        "spread",
        "places",
        "patterns",
        "reference",
        "backtest",
        "coverage",
        "request_shapes",
    ];
    assert_eq!(
        checked.with_verdict("passed"),
        all,
        "{}",
        checked.ran.stdout
    );
    assert_eq!(checked.ran.code, Some(0));
    assert_eq!(checked.report["passed"], true);
    assert!(
        checked
            .ran
            .stdout
            .contains("20 passed, 0 failed, 0 not judged")
    );
    let admission = &checked.entry("admission")["figures"];
    assert_eq!(admission["fuel_per_row"], 1_000_000);
    assert_eq!(admission["interface"], "domesday:valuation@1.0.0");
    let inputs = &checked.entry("monotone")["figures"]["inputs"];
    assert_eq!(inputs[0]["input"], "floor_area_m2");
    assert_eq!(inputs[0]["broken"], 0);
    assert!(inputs[1]["homes_probed"].as_u64().unwrap() <= 50);
    let worst = &checked.entry("cost")["figures"]["worst_fuel"][0];
    assert!(worst["used"].as_u64().unwrap() > 0 && worst["row"].is_string());
}

#[test]
fn the_demo_passes_every_check_with_a_verdict() {
    let checked = CheckRun::of(&releases(), RELEASE, &[]);
    assert_eq!(checked.ran.code, Some(0), "{:#?}", checked.ran);
    assert_eq!(
        checked.with_verdict("not_judged"),
        ["monotone", "reference"],
        "{}",
        checked.ran.stdout
    );
    assert!(
        checked
            .ran
            .stdout
            .contains("the manifest declares no input")
    );
    // A sale that stayed among those near by would keep some estimates where they are.
    let reaction = &checked.entry("own_sale")["figures"][0];
    let reacted = reaction["share_reacted"].as_f64().unwrap();
    assert!(reacted > 0.95, "{reaction}");
    assert!(
        checked
            .ran
            .stdout
            .contains("Not judged is not passed. Give --strict to fail the release for:\n  monotone: the manifest declares no input. Declare the inputs")
    );
    let imports = checked.entry("admission")["figures"]["imports"].to_string();
    assert!(
        imports.contains("domesday:valuation/evidence@1.0.0"),
        "{imports}"
    );
}

#[test]
fn a_refused_component_ends_the_check() {
    let import = "wasi:clocks/monotonic-clock@0.2.0";
    let text =
        format!(r#"(component (import "{import}" (instance (export "now" (func (result u64))))))"#);
    let curious = changed(plain().path(), PLAIN, |_, files| {
        files.insert("component.wasm".to_owned(), wat::parse_str(text).unwrap());
    });
    let checked = CheckRun::plain(&curious, &[]);
    checked.assert_failed(&["admission"], import);
    assert_eq!(checked.report["checks"].as_array().unwrap().len(), 1);
}

/// Changes the fixtures, line by line.
fn with_fixtures(from: &Path, id: &str, change: impl Fn(&mut Value)) -> Releases {
    changed(from, id, |_, files| {
        let lines = files.get_mut("fixtures.jsonl").unwrap();
        let text = String::from_utf8(std::mem::take(lines)).unwrap();
        for line in text.lines() {
            let mut fixture = serde_json::from_str(line).unwrap();
            change(&mut fixture);
            lines.extend(format!("{fixture}\n").bytes());
        }
    })
}

#[test]
fn one_bit_of_a_fixture_fails_on_both_engines() {
    let other = with_fixtures(plain().path(), PLAIN, |fixture| {
        if fixture["row"] == "home-02" {
            let estimate = &mut fixture["result"]["outcome"]["estimate"];
            let bits = estimate.as_f64().unwrap().to_bits() ^ 1;
            *estimate = f64::from_bits(bits).into();
        }
    });
    let checked = CheckRun::plain(&other, &[]);
    checked.assert_failed(
        &["fixtures"],
        "pooled: row \"home-02\": /result/outcome/estimate",
    );
    checked.assert_failed(&["fixtures"], "on demand: row \"home-02\"");
}

#[test]
fn invalid_fixtures_fail() {
    let other = changed(plain().path(), PLAIN, |_, files| {
        files.insert("fixtures.jsonl".to_owned(), b"{}\n".to_vec());
    });
    CheckRun::plain(&other, &[]).assert_failed(
        &["fixtures"],
        "line 1 is not a fixture, at column 2: missing field `row`",
    );
}

#[test]
fn a_recorded_prediction_that_the_component_does_not_give_fails_on_both_engines() {
    let row = r#"{"row":"expected-1","inputs":[1.0,null],"expected":2.0,"prediction":2.0}"#;
    // The plain release has no export that predicts.
    let other = changed(plain().path(), PLAIN, |_, files| {
        let line = format!("{row}\n").into_bytes();
        files.insert("predictions.jsonl".to_owned(), line);
    });
    let checked = CheckRun::plain(&other, &[]);
    let text = "row \"expected-1\": /prediction was a prediction and is ";
    checked.assert_failed(&["fixtures"], &format!("pooled: {text}"));
    checked.assert_failed(&["fixtures"], &format!("on demand: {text}"));
}

#[test]
fn other_evidence_of_the_snapshot_fails() {
    // A release is not shown a sale's postcode, so that its outcome stays the same.
    let other = with_fixtures(&releases(), RELEASE, |fixture| {
        for exchange in fixture["evidence"].as_array_mut().unwrap() {
            if let Some(sale) = exchange.pointer_mut("/answer/with/0/postcode") {
                *sale = "QA9 9ZZ".into();
            }
        }
    });
    let checked = CheckRun::of(other.path(), RELEASE, &QUICK);
    checked.assert_failed(&["snapshot"], "/answer/with/0/postcode was");
}

#[test]
fn a_trap_on_an_ordinary_home_fails_and_names_it() {
    let checked = CheckRun::plain(&in_year(2047), &[]);
    checked.assert_failed(&["answers", "adversarial"], "the release trapped");
}

#[test]
fn a_trap_on_an_adversarial_input_fails_and_names_it() {
    let checked = CheckRun::plain(&in_year(2041), &[]);
    checked.assert_failed(&["adversarial"], "floor area 2000.0: the release trapped");
}

#[test]
fn a_range_beside_its_estimate_fails_and_names_the_row() {
    let checked = CheckRun::plain(&in_year(2042), &[]);
    checked.assert_failed(
        &["adversarial", "ranges"],
        "floor area 2000.0: range does not contain the estimate in order",
    );
}

#[test]
fn an_input_that_goes_the_other_way_fails_and_names_the_worst_home() {
    let checked = CheckRun::plain(&in_year(2043), &[]);
    checked.assert_failed(&["monotone", "attributes"], "floor_area_m2 up: broken by ");
    let worst = &checked.entry("monotone")["figures"]["inputs"][0]["worst"];
    assert!(
        worst["home"].as_str().unwrap().starts_with("sale "),
        "{worst}"
    );
    let by = worst["by"].as_f64().unwrap();
    // From half the area to twice, less what the last sale holds back.
    assert!((0.7..0.76).contains(&by), "{worst}");
    assert_eq!(
        checked.entry("monotone")["figures"]["inputs"][1]["broken"],
        0
    );
}

#[test]
fn a_row_that_uses_over_half_of_the_stack_fails() {
    let checked = CheckRun::plain(&in_year(2044), &[]);
    checked.assert_failed(&["cost"], "over half of the stack:");
}

#[test]
fn a_row_that_uses_over_half_of_the_fuel_fails_and_is_named() {
    let checked = CheckRun::plain(&in_year(2045), &[]);
    checked.assert_failed(&["cost"], "over half of the fuel:");
    let worst = &checked.entry("cost")["figures"]["worst_fuel"][0];
    assert!(
        worst["row"].as_str().unwrap().contains("floor area 2000.0"),
        "{worst}"
    );
    assert!(worst["used"].as_u64().unwrap() > 500_000);
}

#[test]
fn a_row_that_uses_over_half_of_the_memory_fails_and_is_named() {
    let checked = CheckRun::plain(&in_year(2046), &[]);
    checked.assert_failed(&["cost"], "over half of the memory:");
    let worst = &checked.entry("cost")["figures"]["worst_memory_growth"][0];
    assert!(
        worst["row"].as_str().unwrap().contains("floor area 2000.0"),
        "{worst}"
    );
}

#[test]
fn another_back_test_than_the_packages_fails_and_names_the_line() {
    let other = changed(plain().path(), PLAIN, |_, files| {
        let text = String::from_utf8(files["backtest.json"].clone()).unwrap();
        let changed = text.replacen("\"mdape\": 0.", "\"mdape\": 0.0", 1);
        assert_ne!(text, changed);
        files.insert("backtest.json".to_owned(), changed.into_bytes());
    });
    CheckRun::plain(&other, &[]).assert_failed(&["backtest"], "the package says \"mdape\"");
}

#[test]
fn ranges_that_hold_too_many_prices_fail() {
    let other = changed(plain().path(), PLAIN, |body, _| body.nominal_coverage = 0.8);
    let checked = CheckRun::plain(&other, &LONG);
    // The package's back-test told of another nominal coverage, too.
    checked.assert_failed(&["backtest", "coverage"], "sales all: 100.0 %");
    let groups = checked.entry("coverage")["figures"]["groups"]
        .as_array()
        .unwrap();
    assert!(groups.len() > 3);
    assert!(
        groups
            .iter()
            .all(|group| group["rows"].as_u64().unwrap() >= 60)
    );
}

#[test]
fn a_training_window_is_refused() {
    let folder = releases().display().to_string();
    let refused = run(["release", "check", RELEASE, "--releases", &folder]
        .into_iter()
        .chain(LONG))
    .refused();
    assert!(refused.contains("trained on sales up to"), "{refused}");
    let usage = run(["release", "check", RELEASE, "--from", "2026-01-01"]);
    assert_eq!(usage.code, Some(2), "{usage:#?}");
}

/// The figures would be too good, whether the back-test says so or not.
#[test]
fn a_back_test_on_training_sales_fails_and_coverage_is_not_judged_on_it() {
    let other = changed(plain().path(), PLAIN, |body, files| {
        let text = String::from_utf8(files["backtest.json"].clone()).unwrap();
        let report: Value = serde_json::from_str(&text).unwrap();
        let last = report["subject"]["to"].as_str().unwrap().parse().unwrap();
        body.model.parameters_sha256 = Some(Sha256Digest::of(b"parameters"));
        body.model.training_window = Some(TrainingWindow {
            fitted_through: last,
            calibrated_through: last,
        });
    });
    let checked = CheckRun::plain(&other, &[]);
    checked.assert_failed(&["backtest"], "trained on sales up to");
    assert!(checked.with_verdict("not_judged").contains(&"coverage"));
}

#[test]
fn a_window_without_a_sale_is_not_judged() {
    let checked = CheckRun::plain(plain(), &["--from", "2026-10-01", "--to", "2026-12-31"]);
    assert_eq!(checked.ran.code, Some(0), "{:#?}", checked.ran);
    let coverage = checked.entry("coverage");
    assert_eq!(coverage["verdict"], "not_judged");
    let text = coverage["summary"].as_str().unwrap();
    assert!(text.contains("holds no sale of 2026-10-01"), "{text}");
}

#[test]
fn the_table_of_the_page_is_one_that_a_release_may_declare() {
    let page = fs::read_to_string(repository().join("docs/how-to/check-a-release.md")).unwrap();
    let block = page.split("```toml\n").nth(1).unwrap();
    let table: toml::Table = block.split("```").next().unwrap().parse().unwrap();
    let declared: Vec<Monotone> = table["monotone"].clone().try_into().unwrap();
    assert_eq!(declared.len(), 1);
    assert_eq!((declared[0].may_break, declared[0].homes), (0.02, 500));
}

/// The made-up registers, called real, where a back-test shows sales on their day.
#[test]
fn evidence_without_a_lag_on_real_registers_is_warned_of_and_fails_nothing() {
    let early = changed(plain().path(), PLAIN, |_, files| {
        let stored = files.get_mut("backtest.json").unwrap();
        let text = String::from_utf8(std::mem::take(stored)).unwrap();
        let text = text.replace(r#""evidence_lag_days": 60"#, r#""evidence_lag_days": 0"#);
        *stored = text.into_bytes();
    });
    let snapshot = early.snapshot();
    let package = open(&snapshot, &Trust::Unsigned).unwrap();
    let mut body: PropertyBody = package.body().unwrap();
    assert!(body.synthetic);
    body.synthetic = false;
    let real = tempfile::tempdir().unwrap();
    let draft = Draft {
        id: package.manifest().id.clone(),
        created: "2026-10-01T00:00:00Z".parse().unwrap(),
        body,
        files: package
            .manifest()
            .files
            .keys()
            .map(|name| {
                (
                    name.clone(),
                    Source::Path(package.path(name.as_str()).unwrap()),
                )
            })
            .collect(),
    };
    write(real.path(), draft).unwrap();
    fs::remove_dir_all(&snapshot).unwrap();
    copy_tree(&real.path().join(SNAPSHOT), &snapshot);
    let checked = CheckRun::plain(&early, &["--allow-unsigned", SNAPSHOT]);
    let warning = checked.report["warnings"][0].as_str().unwrap();
    assert!(warning.contains("shows evidence after 0 days"), "{warning}");
    assert!(checked.ran.stdout.contains(&format!("WARNING: {warning}")));
    // The back-test is of 60 days of lag and of made-up registers, so only that differs.
    assert_eq!(checked.with_verdict("failed"), ["backtest"]);
    let made_up = CheckRun::plain(plain(), &[]);
    assert_eq!(made_up.report["warnings"], serde_json::json!([]));
}
