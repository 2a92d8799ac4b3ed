//! Schemathesis, from the published description, against a server of the demo.
//!
//! It is installed from PyPI, in the version that tests/schemathesis/requirements.txt pins, into an
//! environment under the target folder.

use crate::common::program::{repository, run};
use crate::common::python;
use crate::common::server::start;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bounds the whole run, seconds.
const TIME: &str = "35";

/// The line of its summary that counts the tested operations, such as `Tested: 11`.
const TESTED: &str = "Tested: ";

/// Returns the path of the installed tool.
fn schemathesis() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let interpreter = python::interpreter(&repository().join("tests/schemathesis"), target);
    interpreter.with_file_name("schemathesis")
}

#[test]
fn the_service_conforms_to_its_description() {
    let tool = schemathesis();
    let server = start().with_series().go();
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
    let stdout = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}{errors}");
    let document: Value = serde_json::from_str(&run(["openapi"]).ok().stdout).unwrap();
    let paths = document["paths"].as_object().unwrap().values();
    let operations: usize = paths.map(|path| path.as_object().unwrap().len()).sum();
    assert!(
        stdout.contains(&format!("{TESTED}{operations}\n")),
        "{stdout}"
    );
}
