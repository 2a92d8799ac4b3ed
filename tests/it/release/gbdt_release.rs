//! Releases of gradient-boosted trees as a model team makes them. One has a model of XGBoost that
//! was trained elsewhere, and one has trees of LightGBM that the build trains.

use crate::common::demo::{SNAPSHOT, house_with};
use crate::common::packages::Releases;
use crate::common::program::{domesday, repository, run};
use crate::common::python;
use crate::common::server::start;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Compiling the model for the machine and for the sandbox, several times over.
const TIMEOUT: Duration = Duration::from_secs(900);

/// Builds a release of `models/gbdt` on the demo's snapshot, as this variable has it.
fn build(id: &str, variable: (&str, &Path)) -> Releases {
    try_build(id, variable).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Builds the same, or returns what the build printed.
fn try_build(id: &str, variable: (&str, &Path)) -> Result<Releases, String> {
    let built = Releases::without_release();
    let model = repository().join("models/gbdt");
    let mut command = domesday();
    command
        .args(["release", "build", "--release-id", id, "--snapshot", SNAPSHOT])
        .args(["--created", "2026-10-01T00:00:00Z", "--model"])
        .arg(model)
        .arg("--releases")
        .arg(built.path())
        // Less than by default, since what is tested is not how good the trees are.
        .args([
            "--max-feature-rows",
            "1500",
            "--max-calibration-rows",
            "400",
            "--max-backtest-rows",
            "300",
        ])
        .env_remove("DOMESDAY_GBDT")
        .env_remove("DOMESDAY_PYTHON")
        .env(variable.0, variable.1);
    let mut command = assert_cmd::Command::from_std(command);
    let output = command.timeout(TIMEOUT).output().unwrap();
    match output.status.success() {
        true => Ok(built),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn json_of(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Runs every check of a release, and asserts that each passes but the coverage. Ranges that 400
/// sales calibrate are off by more than the test of 206 others allows: they hold 87 instead of 80
/// %.
fn check(built: &Releases, id: &str) {
    let (folder, report) = (
        built.path().display().to_string(),
        built.path().join("check.json"),
    );
    let report = report.display().to_string();
    let ran = run([
        "release",
        "check",
        id,
        "--releases",
        &folder,
        "--allow-unsigned",
        id,
        "--json",
        &report,
        "--homes",
        "60",
        "--adversarial-rows",
        "400",
    ]);
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:#?}");
    let checks = json_of(report.as_ref());
    for check in checks["checks"].as_array().unwrap() {
        let failed = check["verdict"] == "failed";
        assert!(!failed || check["check"] == "coverage", "{check}");
    }
}

#[test]
fn a_model_of_xgboost_becomes_a_release_that_is_checked_and_served() {
    let id = "trees-of-xgboost-1";
    let team = repository().join("tests/gbdt_release");
    let built = build(id, ("DOMESDAY_GBDT", &team));
    let parameters = json_of(&built.release(id).join("parameters.json"));
    let brought = fs::read_to_string(team.join("model.json")).unwrap();
    assert_eq!(parameters["trees"], brought);
    assert_eq!(
        parameters["mapping"]["columns"].as_object().unwrap().len(),
        4
    );
    check(&built, id);
    assert_expected_rows_are_proved_again(&built, id);

    let server = start()
        .releases(built.path())
        .with(&["--allow-unsigned", id])
        .go();
    let request = house_with(json!({"include_comparables": true}));
    let body = server.demo().post("/v3/value", &request).ok();
    assert_eq!(body["release_id"], id, "{body}");
    assert_eq!(body["status"], "valued", "{body}");
    let (value, comparables) = (&body["valuation"], &body["comparables"]);
    let pounds = |value: &Value| value.as_u64().unwrap();
    let (estimate, range) = (pounds(&value["estimated_value_gbp"]), &value["range"]);
    assert!(pounds(&range["lower_value_gbp"]) <= estimate, "{body}");
    assert!(pounds(&range["upper_value_gbp"]) >= estimate, "{body}");
    assert_eq!(comparables.as_array().unwrap().len(), 5, "{body}");
}

/// The package keeps the rows that the team brought, and a check and a replay prove them.
fn assert_expected_rows_are_proved_again(built: &Releases, id: &str) {
    let parameters = json_of(&built.release(id).join("parameters.json"));
    let expected = parameters["expected"].as_array().unwrap();
    let recorded = fs::read_to_string(built.release(id).join("predictions.jsonl")).unwrap();
    let recorded: Vec<Value> = recorded
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(recorded.len(), expected.len());
    for (row, brought) in recorded.iter().zip(expected) {
        assert_eq!(row["inputs"], brought["inputs"]);
        assert_eq!(row["expected"], brought["prediction"]);
    }
    let report = json_of(&built.path().join("check.json"));
    let fixtures = &report["checks"].as_array().unwrap()[1];
    assert_eq!(fixtures["check"], "fixtures");
    assert_eq!(
        fixtures["figures"]["expected_predictions"],
        expected.len(),
        "{fixtures}"
    );
    let rows = fs::read_to_string(built.release(id).join("fixtures.jsonl")).unwrap();
    let folder = built.path().display().to_string();
    let replayed = run(["replay", id, "--releases", &folder, "--allow-unsigned", id]).ok();
    let all = rows.lines().count() + expected.len();
    let line = format!("{all} of {all} rows identical to the bit");
    assert!(replayed.stdout.starts_with(&line), "{replayed:#?}");
}

#[test]
fn the_training_script_makes_a_release_that_passes_all_checks_but_coverage() {
    let id = "trained-trees-1";
    // The script's own pins, and those of the library's tests.
    let pins = repository().join("models/gbdt/requirements.txt");
    let peers = repository().join("tests/peers/lightgbm");
    let of = |path: &Path| fs::read_to_string(path).unwrap();
    assert_eq!(of(&pins), of(&peers.join("requirements.txt")));
    let interpreter = python::interpreter(&peers, Path::new(env!("CARGO_TARGET_TMPDIR")));
    let built = build(id, ("DOMESDAY_PYTHON", &interpreter));
    let parameters = json_of(&built.release(id).join("parameters.json"));
    let trees = parameters["trees"].as_str().unwrap();
    assert!(
        trees.starts_with("tree\n") && trees.contains("Tree=5\n"),
        "{trees}"
    );
    let report = json_of(&built.release(id).join("backtest.json"));
    assert!(report["overall"].is_object(), "{report}");
    check(&built, id);
    assert_each_member_has_its_say(&built, id);
}

/// Values a home with a receipt, and asserts that its replay states each member's estimate and
/// weight, whose mean is the value.
fn assert_each_member_has_its_say(built: &Releases, id: &str) {
    let server = start()
        .releases(built.path())
        .with(&["--allow-unsigned", id, "--receipts", "all"])
        .go();
    let body = server.demo().post("/v3/value", &house_with(json!({}))).ok();
    let value = body["valuation"]["estimated_value_gbp"].as_f64().unwrap();
    let text = |path: &Path| path.display().to_string();
    let (journal, keys) = (server.data.join("journal"), server.data.join("keys.json"));
    run([
        "journal",
        "keys",
        "--data",
        &text(&server.data),
        "--out",
        &text(&keys),
    ])
    .ok();
    let replayed = run([
        "replay",
        "--releases",
        &text(built.path()),
        "--allow-unsigned",
        id,
        "--journal",
        &text(&journal),
        "--keys",
        &text(&keys),
        "--valuation",
        body["valuation_id"].as_str().unwrap(),
        "--json",
    ]);
    let report: Value = serde_json::from_str(&replayed.stdout).unwrap();
    assert_eq!(report["identical"], 1, "{report}");
    let shown = &report["model_inputs"][0];
    assert!(shown["inputs"]["reference"].is_f64(), "{shown}");
    let members = shown["members"].as_array().unwrap();
    let names: Vec<_> = members.iter().map(|member| &member["name"]).collect();
    assert_eq!(names, ["reference", "kriging", "trees"]);
    let of = |member: &Value, name: &str| member[name].as_f64().unwrap();
    let weights: f64 = members.iter().map(|member| of(member, "weight")).sum();
    assert!((weights - 1.0).abs() < 1e-9, "{shown}");
    let logs = members
        .iter()
        .map(|member| of(member, "weight") * of(member, "estimate_gbp").ln());
    let mean = logs.sum::<f64>().exp();
    // Values are whole pounds.
    assert!((mean - value).abs() <= 1.0, "{mean} {value}");
}

/// The build ends before it compiles or fits anything.
#[test]
fn a_model_that_no_release_can_hold_stops_the_build_and_is_not_replaced() {
    let team = tempfile::tempdir().unwrap();
    let own = repository().join("tests/gbdt_release");
    fs::copy(own.join("mapping.toml"), team.path().join("mapping.toml")).unwrap();
    for (name, expected) in [
        (
            "model.onnx",
            "model.onnx is a model that no release can hold",
        ),
        (
            "valuer.pkl",
            "valuer.pkl is a model that no release can hold",
        ),
        ("notes.md", "has no trained model"),
    ] {
        let file = team.path().join(name);
        fs::write(&file, [0x80]).unwrap();
        let refused = try_build("foreign-1", ("DOMESDAY_GBDT", team.path()))
            .err()
            .unwrap();
        assert!(refused.contains(expected), "{name}: {refused}");
        fs::remove_file(file).unwrap();
    }
}

#[test]
fn predictions_that_the_model_does_not_give_stop_the_build() {
    let team = tempfile::tempdir().unwrap();
    let own = repository().join("tests/gbdt_release");
    for name in ["mapping.toml", "model.json", "expected.csv"] {
        fs::copy(own.join(name), team.path().join(name)).unwrap();
    }
    let swapped = fs::read_to_string(own.join("mapping.toml")).unwrap();
    let swapped = swapped.replace(r#""flat", "terraced""#, r#""terraced", "flat""#);
    fs::write(team.path().join("mapping.toml"), swapped).unwrap();
    let refused = try_build("swapped-1", ("DOMESDAY_GBDT", team.path()))
        .err()
        .unwrap();
    assert!(refused.contains("the model predicts"), "{refused}");
    assert!(refused.contains("compare the categories"), "{refused}");
}
