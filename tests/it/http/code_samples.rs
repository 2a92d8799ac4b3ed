//! The samples of the description run unchanged, against a server of the demo.

use crate::common::client::Client;
use crate::common::program::repository;
use crate::common::python::{interpreter, run_to_success};
use crate::common::server::{Server, shared, start};
use crate::typescript_client::{compiled_client, packages};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Returns the samples of one language, each with the id of its route.
fn samples(client: &Client, language: &str) -> Vec<(String, String)> {
    let document = client.get("/openapi.json").ok();
    let mut found = Vec::new();
    for operation in document["paths"].as_object().unwrap().values() {
        for operation in operation.as_object().unwrap().values() {
            let samples = operation["x-codeSamples"].as_array().unwrap();
            let sample = samples.iter().find(|sample| sample["lang"] == language);
            let source = sample.unwrap()["source"].as_str().unwrap();
            let id = operation["operationId"].as_str().unwrap();
            found.push((id.to_owned(), source.to_owned()));
        }
    }
    assert!(found.len() >= 20, "{found:?}");
    found
}

/// Returns the server of the samples and a job of it.
fn served() -> (Server, String) {
    let server = shared("code-samples", || start().with_series().go());
    let client = server.demo();
    let example = client.get("/openapi.json").ok();
    let job = &example["paths"]["/v3/valuation-jobs"]["post"]["requestBody"]["content"];
    let job = &job["application/json"]["examples"]["job"]["value"];
    let submitted = client.post("/v3/valuation-jobs", job).json();
    let id = submitted["job_id"].as_str().unwrap().to_owned();
    (server, id)
}

fn run(command: &mut Command, (server, job): &(Server, String)) -> String {
    let output = run_to_success(
        command
            .env("DOMESDAY_URL", format!("http://{}", server.address))
            .env("DOMESDAY_KEY", server.demo().key)
            .env("DOMESDAY_JOB", job)
            .env("NO_PROXY", "127.0.0.1"),
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn each_sample_of_curl_runs() {
    let served = served();
    for (id, source) in samples(&served.0.demo(), "shell") {
        let printed = run(Command::new("sh").args(["-c", &source]), &served);
        let answer: Value = serde_json::from_str(&printed).unwrap();
        assert!(answer.get("error").is_none(), "{id}: {printed}");
    }
}

#[test]
fn each_sample_of_the_client_in_python_runs() {
    let served = served();
    let client = repository().join("clients/python");
    let python = interpreter(&client, Path::new(env!("CARGO_TARGET_TMPDIR")));
    for (id, source) in samples(&served.0.demo(), "python") {
        let mut program = Command::new(&python);
        program.env("PYTHONPATH", client.join("src"));
        program.env("PYTHONDONTWRITEBYTECODE", "1");
        let printed = run(program.args(["-c", &source]), &served);
        assert!(!printed.is_empty(), "{id}");
    }
}

#[test]
fn each_sample_of_the_client_in_typescript_compiles_strictly_and_runs() {
    let served = served();
    let (client, packages) = (compiled_client(), packages());
    // The client's folder knows the package by its name, as a reader does.
    let folder = client.join("out/code-samples");
    std::fs::create_dir_all(&folder).unwrap();
    let options = json!({"types": ["node"], "rootDir": ".", "outDir": "."});
    let config = json!({
        "extends": "../../tsconfig.json", "compilerOptions": options, "include": ["*.ts"], "exclude": [],
    });
    std::fs::write(folder.join("tsconfig.json"), config.to_string()).unwrap();
    let samples = samples(&served.0.demo(), "typescript");
    for (id, source) in &samples {
        std::fs::write(folder.join(format!("{id}.ts")), source).unwrap();
    }
    let mut compiler = packages.tool("tsc");
    run_to_success(compiler.arg("--project").arg(&folder));
    for (id, _) in &samples {
        let mut node = packages.node();
        let printed = run(node.arg(folder.join(format!("{id}.js"))), &served);
        assert!(!printed.is_empty(), "{id}");
    }
}
