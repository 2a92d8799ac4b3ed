//! Schemathesis, from the published description, against a server of the demo.
//!
//! It is installed from PyPI, in the version that tests/schemathesis/requirements.txt pins, into an
//! environment under the target folder.
#![allow(clippy::unwrap_used)]

mod common;

use common::program::{repository, run};
use common::server::start;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Bounds the whole run, seconds.
const TIME: &str = "35";

/// What it lists at the end: `Tested: 11` operations, all of them.
const TESTED: &str = "Tested: ";

/// The installed tool. It is installed once, and again when the pinned versions change.
fn schemathesis() -> PathBuf {
    let pinned = repository().join("tests/schemathesis/requirements.txt");
    let wanted = std::fs::read_to_string(&pinned).unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schemathesis");
    let installed = folder.join("installed");
    if std::fs::read_to_string(&installed).ok().as_ref() != Some(&wanted) {
        done(
            "python3 -m venv",
            Command::new("python3")
                .args(["-m", "venv", "--clear"])
                .arg(&folder),
        );
        let mut pip = Command::new(folder.join("bin/pip"));
        done(
            "pip install",
            pip.args(["install", "--quiet", "--disable-pip-version-check"])
                .arg("--requirement")
                .arg(&pinned),
        );
        std::fs::write(installed, wanted).unwrap();
    }
    folder.join("bin/schemathesis")
}

#[track_caller]
fn done(what: &str, command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| {
        panic!("{what} could not be run: {error}. This test needs Python 3 with venv and pip.")
    });
    assert!(
        output.status.success(),
        "{what} failed. This test needs Python 3 with venv and pip, and PyPI once.\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

#[test]
fn the_service_keeps_what_its_description_promises() {
    let tool = schemathesis();
    let server = start().go();
    let demo = server.demo();
    let folder = tempfile::TempDir::new().unwrap();
    let output = Command::new(tool)
        .current_dir(&folder)
        .arg("--config-file")
        .arg(repository().join("tests/schemathesis/schemathesis.toml"))
        .arg("run")
        .arg(format!("http://{}/openapi.json", server.address))
        .args(["--phases", "examples,coverage,fuzzing", "--max-time", TIME])
        .arg("--header")
        .arg(format!("Authorization: Bearer {}", demo.key))
        .env("NO_PROXY", "127.0.0.1")
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
    let document: Value = serde_json::from_str(&run(["openapi"]).ok().stdout).unwrap();
    let paths = document["paths"].as_object().unwrap().values();
    let operations: usize = paths.map(|path| path.as_object().unwrap().len()).sum();
    assert!(said.contains(&format!("{TESTED}{operations}\n")), "{said}");
}
