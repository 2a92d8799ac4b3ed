//! A model in Python becomes a release like any other: built, checked, replayed to the bit and
//! served.
//!
//! componentize-py is installed from PyPI, in the version that sdk/python/requirements.txt pins,
//! into an environment under the target folder.

use crate::common::demo::SNAPSHOT;
use crate::common::packages::Releases;
use crate::common::program::{ProcessOutput, domesday, repository, run_command};
use crate::common::python;
use crate::common::server::start;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

const ID: &str = "python-1";
/// componentize-py compiles an interpreter of some eighteen megabytes, and the build what comes of
/// it.
const TIMEOUT: Duration = Duration::from_secs(600);

fn componentize() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let interpreter = python::interpreter(&repository().join("sdk/python"), target);
    interpreter.with_file_name("componentize-py")
}

fn release(arguments: &[&str], releases: &Path) -> ProcessOutput {
    let mut command = domesday();
    command.args(arguments).arg("--releases").arg(releases);
    command.env("DOMESDAY_COMPONENTIZE_PY", componentize());
    // The server's data folder: some eighteen megabytes are compiled once for all of them.
    command.arg("--compiled").arg(data(releases));
    run_command(command, TIMEOUT)
}

fn data(releases: &Path) -> PathBuf {
    releases.join("data")
}

#[test]
fn the_example_is_built_checked_replayed_and_served() {
    let releases = Releases::without_release();
    let key = releases.path().join("my.key").display().to_string();
    let status = domesday()
        .args(["release", "keygen", &key])
        .status()
        .unwrap();
    assert!(status.success());
    fs::copy(format!("{key}.pub"), releases.path().join("keys/my.pub")).unwrap();
    let model = repository().join("models/python_price_per_m2");
    let built = release(
        &[
            "release",
            "build",
            "--release-id",
            ID,
            "--snapshot",
            SNAPSHOT,
            "--sign-with",
            &key,
            "--max-backtest-rows",
            "20",
            "--without-check",
            "--model",
            &model.display().to_string(),
        ],
        releases.path(),
    );
    eprintln!("{}", built.ok().stdout);
    let manifest = fs::read(releases.release(ID).join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest["body"]["profile"], "wasi");
    assert!(!model.join("__pycache__").exists());

    let checked = release(
        &[
            "release",
            "check",
            ID,
            "--homes",
            "40",
            "--adversarial-rows",
            "300",
        ],
        releases.path(),
    );
    let output = checked.ok().stdout;
    assert!(output.contains(", profile wasi\n"), "{output}");
    for check in [
        "fixtures",
        "answers",
        "order",
        "adversarial",
        "cost",
        "backtest",
    ] {
        assert!(output.contains(&format!("passed      {check}")), "{output}");
    }
    eprintln!("{output}");

    let replayed = release(&["replay", ID, "--snapshot"], releases.path()).ok();
    assert!(replayed.stdout.contains("identical to the bit"));
    eprintln!("{}", replayed.stdout);

    let server = start()
        .releases(releases.path())
        .data(&data(releases.path()))
        .with(&["--release", ID])
        .go();
    let answer = server.demo().post(
        "/v3/value",
        &json!({
            "property": {
                "valuation_date": "2026-10-15", "postcode": "QA1 1AF", "building_number_or_name": "15",
                "street": "Badger Yard Gardens", "type": "S", "subtype": "house_semi_detached",
                "title_tenure": "freehold"
            },
            "occupancy": {"status": "owner_occupied"},
            "size": {"floor_area_m2": 104, "bedrooms": 3}
        }),
    );
    let body = answer.json();
    assert_eq!(body["status"], "valued", "{body}");
    assert_eq!(body["release_id"], ID);
}

#[test]
fn invalid_python_models_are_refused() {
    let releases = Releases::without_release();
    let folder = TempDir::new().unwrap();
    let example = repository().join("models/python_price_per_m2/release.toml");
    let settings = fs::read_to_string(example).unwrap();
    let build = |settings: String| {
        fs::write(folder.path().join("release.toml"), settings).unwrap();
        let model = folder.path().display().to_string();
        let all = [
            "release",
            "build",
            "--release-id",
            ID,
            "--snapshot",
            SNAPSHOT,
            "--model",
            &model,
        ];
        release(&all, releases.path()).refused()
    };
    let refused = build(settings.clone());
    assert!(refused.contains("model.py does not exist"), "{refused}");
    let refused = build(settings.replace("\"model\"", "\"../model\""));
    assert!(
        refused.contains("not a valid name of a Python module"),
        "{refused}"
    );
    fs::write(folder.path().join("model.py"), "import no_such_module\n").unwrap();
    let refused = build(settings);
    assert!(refused.contains("no_such_module"), "{refused}");
    assert!(!releases.release(ID).exists());
}
