//! The client in TypeScript. Its types are those of the description, and it compiles strictly. Its
//! own suite passes on each runtime that it supports, against a server of the demo. The suite types
//! the examples of its README and runs the table of retry cases.
//!
//! Node.js comes from PyPI, and Deno with the other packages from npm.

use crate::common::node::{Packages, node_of};
use crate::common::program::repository;
use crate::common::python::run_to_success;
use crate::common::server::{Server, shared, start};
use domesday_test_shared::once;
use std::path::{Path, PathBuf};
use std::process::Command;

fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn source() -> PathBuf {
    repository().join("clients/typescript")
}

/// Returns the installed packages of the client.
pub fn packages() -> Packages {
    Packages::install(&source(), target())
}

/// Returns the client's folder in a copy of `clients` and of the description, with the client and
/// its suite compiled.
pub fn compiled_client() -> PathBuf {
    let folder = once("typescript-client", |folder| {
        let packages = packages();
        // Git knows which files are the repository's, so that no build of a developer is copied.
        let mut list = Command::new("git");
        list.args(["ls-files", "-z", "--cached", "--others"]);
        list.args(["--exclude-standard", "clients", "docs/openapi.json"]);
        let output = run_to_success(list.current_dir(repository()));
        let names = String::from_utf8(output.stdout).unwrap();
        for name in names.split_terminator('\0') {
            let copy = folder.join(name);
            std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
            std::fs::copy(repository().join(name), copy).unwrap();
        }
        let client = folder.join("clients/typescript");
        let modules = packages.folder.join("node_modules");
        std::os::unix::fs::symlink(modules, client.join("node_modules")).unwrap();
        for project in ["tsconfig.json", "tests/tsconfig.json"] {
            let mut compiler = packages.tool("tsc");
            run_to_success(compiler.args(["--project", project]).current_dir(&client));
        }
    });
    folder.join("clients/typescript")
}

/// Returns the command of the program that calls through cut connections. It takes further
/// arguments.
pub fn cut_calls() -> Command {
    let mut calls = packages().node();
    calls.arg(compiled_client().join("out/tests/call_through_cuts.js"));
    calls
}

/// Returns the compiled suites in a folder of the client, sorted.
fn suites(client: &Path, folder: &str) -> Vec<PathBuf> {
    let mut suites: Vec<PathBuf> = std::fs::read_dir(client.join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".test.js"))
        .collect();
    suites.sort();
    assert!(!suites.is_empty(), "{folder} has no suite");
    suites
}

/// Runs suites with the address and the key of a server of the demo.
#[track_caller]
fn run_suites(command: &mut Command, suites: &[PathBuf]) {
    let server: Server = shared("typescript-client", || start().with_series().go());
    command
        .args(suites)
        .env("DOMESDAY_URL", format!("http://{}", server.address))
        .env("DOMESDAY_KEY", server.demo().key)
        .env("NO_PROXY", "127.0.0.1");
    run_to_success(command);
}

#[test]
fn the_types_are_those_of_the_description() {
    let folder = target().join("clients/typescript-types");
    std::fs::create_dir_all(&folder).unwrap();
    let generated = folder.join("schema.ts");
    let mut generator = packages().tool("openapi-typescript");
    generator.arg(repository().join("docs/openapi.json"));
    run_to_success(generator.arg("--output").arg(&generated));
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert!(
        read(&generated) == read(&source().join("src/schema.ts")),
        "clients/typescript/src/schema.ts is stale. Run `npm run generate` in its folder."
    );
}

#[test]
fn the_suite_passes_on_node_with_the_examples_of_the_readme() {
    let client = compiled_client();
    let mut all = suites(&client, "out/tests");
    all.extend(suites(&client, "out/tests/node"));
    run_suites(packages().node().arg("--test"), &all);
}

#[test]
fn the_suite_passes_on_the_oldest_node_that_is_supported() {
    let client = compiled_client();
    let mut node = Command::new(node_of("node-20", target()));
    run_suites(node.arg("--test"), &suites(&client, "out/tests"));
}

#[test]
fn the_suite_passes_on_deno() {
    let client = compiled_client();
    let mut deno = packages().tool("deno");
    deno.args([
        "test",
        "--allow-net=127.0.0.1,domesday.invalid",
        "--allow-read",
    ]);
    deno.args(["--allow-env", "--no-prompt"]);
    deno.env("DENO_DIR", target().join("deno"));
    deno.env("DENO_NO_UPDATE_CHECK", "1");
    run_suites(deno.current_dir(&client), &suites(&client, "out/tests"));
}
