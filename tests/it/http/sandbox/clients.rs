//! The clients against the sandbox: the conformance command, and retries through the stub.

use super::sandbox;
use crate::common::program::repository;
use crate::common::python::{interpreter, run_to_success};
use crate::typescript_client::{compiled_client, packages};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Returns a command of the Python client's interpreter.
fn python() -> Command {
    let client = repository().join("clients/python");
    let mut python = Command::new(interpreter(&client, Path::new(env!("CARGO_TARGET_TMPDIR"))));
    python
        .env("PYTHONPATH", client.join("src"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("NO_PROXY", "127.0.0.1");
    python
}

#[test]
fn the_conformance_command_finds_no_fault() {
    let (server, client) = sandbox();
    let url = format!("http://{}", server.address);
    let mut command = python();
    command.args(["-m", "domesday_client.cli", "conformance", "--json"]);
    command.args(["--spend", "5", "--url", &url]);
    let output = run_to_success(command.env("DOMESDAY_KEY", &client.key));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let outcomes = |word: &str| -> Vec<&str> {
        let checks = report["checks"].as_array().unwrap().iter();
        let of_word = checks.filter(|check| check["outcome"] == word);
        of_word
            .map(|check| check["name"].as_str().unwrap())
            .collect()
    };
    assert!(outcomes("failed").is_empty(), "{report}");
    for check in ["value", "unknown_field", "idempotent_replay", "batch"] {
        assert!(outcomes("passed").contains(&check), "{check}: {report}");
    }
}

/// Runs the program of a customer, whose base address alone asks for faults.
fn run_customer(mut program: Command) {
    let (server, client) = sandbox();
    program
        .env("DOMESDAY_URL", format!("http://{}", server.address))
        .env("DOMESDAY_KEY", &client.key)
        .env("NO_PROXY", "127.0.0.1");
    let output = run_to_success(&mut program);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("processing_failed"), "{printed}");
}

#[test]
fn the_python_client_follows_its_rules_through_the_stub() {
    let mut customer = python();
    customer.arg(repository().join("tests/peers/sandbox/customer.py"));
    run_customer(customer);
}

#[test]
fn the_typescript_client_follows_its_rules_through_the_stub() {
    let program = repository().join("tests/peers/sandbox/customer.mjs");
    // Beside the client, which it then finds by its name.
    let copy = compiled_client().join("customer.mjs");
    std::fs::copy(program, &copy).unwrap();
    let mut customer = packages().node();
    customer.arg(copy);
    run_customer(customer);
}
