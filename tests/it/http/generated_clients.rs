//! Clients that four generators make from the published description, each used against a server of
//! the demo. A client values a home, a batch with options in both places, and a job. It reads an
//! error of a code that it does not know, and a result with such a reason.
//!
//! Each generator has a folder in tests/peers with its pinned version and the program that uses the
//! client. A generator of TypeScript comes with the compiler, which checks the types strictly.

use crate::common::node::Packages;
use crate::common::program::{repository, run};
use crate::common::python::{interpreter, run_to_success};
use crate::common::server::{Server, shared, start};
use crate::common::wire::{Mutation, proxy};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The line that each program prints when it has checked everything.
const DONE: &str = "a home, a batch, a job and unknown words";

fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn peers(name: &str) -> PathBuf {
    repository().join("tests/peers").join(name)
}

/// Returns an empty folder with the description.
fn work_folder(parent: &Path, name: &str) -> PathBuf {
    let folder = parent.join("clients").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("openapi.json"), run(["openapi"]).ok().stdout).unwrap();
    folder
}

/// Copies the files of a folder, but not its folders.
fn copy_files(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

/// Runs a program with the two addresses of a server and a key. At the second address an error code
/// and a reason are misspelt.
#[track_caller]
fn use_client(command: &mut Command) {
    let server: Server = shared("generated-clients", || start().with_series().go());
    let misspelt = ["address_not_found", "local_typical"]
        .into_iter()
        .fold(server.address, |address, word| {
            proxy(address, Mutation::Word(word.to_owned()))
        });
    for address in [server.address, misspelt] {
        command.arg(format!("http://{address}"));
    }
    command.arg(server.demo().key).env("NO_PROXY", "127.0.0.1");
    let output = run_to_success(command);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), DONE);
}

/// Generates a client in Python with a tool of `peer`, and uses it.
fn use_python_client(peer: &str, tool: &str, arguments: &[&str]) {
    let python = interpreter(&peers(peer), target());
    let folder = work_folder(target(), peer);
    let mut generate = Command::new(python.with_file_name(tool));
    // The generators call the formatter of their own environment.
    let path = std::env::var("PATH").unwrap();
    generate.env(
        "PATH",
        format!("{}:{path}", python.parent().unwrap().display()),
    );
    run_to_success(generate.args(arguments).current_dir(&folder));
    let mut program = Command::new(&python);
    program.arg(peers(peer).join("use_client.py")).arg(&folder);
    use_client(&mut program);
}

/// Generates a client in TypeScript, compiles it with the program of `peer`, and uses it.
fn use_typescript_client(peer: &str, tool: &str, arguments: &[&str]) {
    let source = peers("typescript");
    let packages = Packages::install(&source, target());
    // Modules are found from the folders above a program.
    let folder = work_folder(&packages.folder, peer);
    copy_files(&source, &folder);
    copy_files(&source.join(peer), &folder);
    run_to_success(packages.tool(tool).args(arguments).current_dir(&folder));
    let mut compiler = packages.tool("tsc");
    run_to_success(compiler.args(["--project", "."]).current_dir(&folder));
    use_client(packages.node().arg(folder.join("out/use_client.js")));
}

#[test]
fn a_client_of_openapi_python_client_values_homes() {
    use_python_client(
        "openapi-python-client",
        "openapi-python-client",
        &[
            "generate",
            "--fail-on-warning",
            "--meta=none",
            "--path=openapi.json",
            "--output-path=domesday_client",
        ],
    );
}

#[test]
fn models_of_datamodel_code_generator_value_homes() {
    use_python_client(
        "datamodel-code-generator",
        "datamodel-codegen",
        &[
            "--input=openapi.json",
            "--input-file-type=openapi",
            "--output=domesday_models.py",
            "--output-model-type=pydantic_v2.BaseModel",
            "--formatters=builtin",
        ],
    );
}

#[test]
fn types_of_openapi_typescript_value_homes() {
    let arguments = ["openapi.json", "--output", "schema.ts"];
    use_typescript_client("openapi-typescript", "openapi-typescript", &arguments);
}

#[test]
fn a_client_of_hey_api_values_homes() {
    use_typescript_client("hey-api", "openapi-ts", &["--silent", "--no-log-file"]);
}

#[test]
fn redocly_finds_nothing_in_the_description() {
    let packages = Packages::install(&peers("typescript"), target());
    let folder = work_folder(target(), "redocly");
    let mut redocly = packages.tool("redocly");
    redocly.args(["lint", "openapi.json", "--format", "json"]);
    redocly.env("REDOCLY_TELEMETRY", "off");
    redocly.env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
    let output = redocly.current_dir(&folder).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert_eq!(report["problems"], serde_json::json!([]));
    assert_eq!(report["totals"]["errors"], 0);
}

/// A generated client keeps the words that it does not know, because no answer has a closed list.
/// Only the words that tell results apart are fixed.
#[test]
fn no_schema_of_an_answer_has_an_enumeration() {
    let document: Value = serde_json::from_str(&run(["openapi"]).ok().stdout).unwrap();
    let mut names = Vec::new();
    for operation in document["paths"].as_object().unwrap().values() {
        for route in operation.as_object().unwrap().values() {
            references(&document, &route["responses"], &mut names);
        }
    }
    assert!(names.contains(&"Reason".to_owned()) && names.contains(&"Code".to_owned()));
    for name in names {
        let schema = document["components"]["schemas"][&name].to_string();
        assert!(!schema.contains("\"enum\""), "{name}: {schema}");
    }
}

/// Collects the names of the schemas that a part of the document reaches.
fn references(document: &Value, part: &Value, names: &mut Vec<String>) {
    match part {
        Value::Object(members) => {
            if let Some(name) = members.get("$ref").and_then(Value::as_str)
                && let Some(name) = name.strip_prefix("#/components/schemas/")
                && !names.iter().any(|known| known == name)
            {
                names.push(name.to_owned());
                references(document, &document["components"]["schemas"][name], names);
            }
            for member in members.values() {
                references(document, member, names);
            }
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| references(document, item, names)),
        _ => {}
    }
}
