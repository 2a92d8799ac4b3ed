//! The client in Python. Its models are those of the description, and its types are strict, as mypy
//! and pyright see them. Its own suite passes against a server of the demo. The suite types the
//! examples of its README and runs the table of retry cases with the blocking and the async client.
//!
//! The pinned packages come from PyPI, and pyright from npm.

use crate::common::node::Packages;
use crate::common::program::repository;
use crate::common::python::{interpreter, run_to_success};
use crate::common::server::{Server, shared, start};
use std::path::{Path, PathBuf};
use std::process::Command;

fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn source() -> PathBuf {
    repository().join("clients/python")
}

/// Returns a command of the client's interpreter, in the client's folder. Caches are kept below the
/// target folder, so that a test leaves no file beside the sources.
fn python() -> Command {
    let mut python = Command::new(interpreter(&source(), target()));
    python
        .current_dir(source())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("MYPY_CACHE_DIR", target().join("clients/python-mypy"))
        .env("RUFF_NO_CACHE", "true");
    python
}

/// Returns the command of the program that calls through cut connections. It takes further
/// arguments.
pub fn cut_calls(client: &str) -> Command {
    let mut calls = python();
    calls.arg("tests/call_through_cuts.py").arg(client);
    calls.env("PYTHONPATH", "src");
    calls
}

/// Tests of the suite that have a test here.
const OWN_TESTS: [&str; 2] = [
    "tests/test_models.py::test_the_models_are_those_of_the_description",
    "tests/test_models.py::test_the_types_are_strict_and_the_code_is_clean",
];

#[test]
fn the_types_are_those_of_the_description() {
    let folder = target().join("clients/python-types");
    std::fs::create_dir_all(&folder).unwrap();
    let generated = folder.join("models.py");
    run_to_success(python().arg("generate").arg(&generated));
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert!(
        read(&generated) == read(&source().join("src/domesday_client/models.py")),
        "clients/python/src/domesday_client/models.py is stale. Run `generate` in clients/python."
    );
}

#[test]
fn the_suite_passes_with_the_examples_of_the_readme() {
    let server: Server = shared("python-client", || start().with_series().go());
    let mut suite = python();
    suite.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"]);
    for test in OWN_TESTS {
        suite.args(["--deselect", test]);
    }
    suite
        .env("DOMESDAY_URL", format!("http://{}", server.address))
        .env("DOMESDAY_KEY", server.demo().key)
        .env("NO_PROXY", "127.0.0.1");
    run_to_success(&mut suite);
}

#[test]
fn the_types_are_strict() {
    run_to_success(python().args(["-m", "mypy"]));
    let mut pyright =
        Packages::install(&repository().join("tests/peers/pyright"), target()).tool("pyright");
    pyright
        .arg("--pythonpath")
        .arg(interpreter(&source(), target()));
    run_to_success(pyright.current_dir(source()));
    run_to_success(python().args(["-m", "ruff", "check"]));
    run_to_success(python().args(["-m", "ruff", "format", "--check"]));
}
