//! The README's two commands compile each dependency once, and the program holds no part of the
//! tests.

use crate::common::program::{TIMEOUT, repository, run_command};
use std::collections::BTreeSet;
use std::process::Command;

/// Returns the dependencies of a build, each with its version and its features.
fn dependencies(build: &[&str]) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(repository());
    command.args(["tree", "--offline", "--prefix", "none", "--no-dedupe"]);
    command.args(["--format", "{p} {f}"]).args(build);
    let tree = run_command(command, TIMEOUT).ok().stdout;
    tree.lines().map(str::to_owned).collect()
}

#[test]
fn the_program_alone_and_the_workspace_share_every_compiled_dependency() {
    let program = dependencies(&["--package", env!("CARGO_PKG_NAME"), "--edges", "no-dev"]);
    let workspace = dependencies(&["--workspace"]);
    assert!(program.len() > 100, "{program:#?}");
    let twice: Vec<_> = program.difference(&workspace).collect();
    assert!(
        twice.is_empty(),
        "the workspace builds these with other features; add those to \
         host/workspace_hack/Cargo.toml: {twice:#?}"
    );
}

/// Features of our crates that a program may be built with, by crate. A feature for tests would be
/// another.
const FEATURES: [(&str, &str); 4] = [
    (
        "domesday-cli",
        "builders,default,mimalloc,object-storage,oci,otlp,postgres",
    ),
    ("domesday-series", "build,default"),
    ("domesday-server", "default,otlp"),
    ("domesday-state", "default,postgres"),
];

#[test]
fn the_program_holds_no_feature_for_tests_and_no_crate_of_theirs() {
    let program = dependencies(&["--package", env!("CARGO_PKG_NAME"), "--edges", "no-dev"]);
    let mut own = BTreeSet::new();
    for line in program.iter().filter(|line| line.starts_with("domesday-")) {
        let mut words = line.trim_end_matches("(*)").split_whitespace();
        let name = words.next().unwrap();
        assert!(!name.starts_with("domesday-test"), "{line}");
        let features = words.next_back().filter(|word| !word.ends_with(')'));
        let allowed = FEATURES.iter().find(|(crate_name, _)| *crate_name == name);
        assert_eq!(features, allowed.map(|(_, features)| *features), "{line}");
        own.insert(name);
    }
    assert!(own.len() > 15, "{own:?}");
}

/// Returns the names of variables in the sources of these folders.
fn variables(folders: &[&str]) -> BTreeSet<String> {
    let mut command = Command::new("git");
    command.current_dir(repository());
    command.args(["grep", "-hoE", "DOMESDAY_[A-Z_]+", "--"]);
    command.args(folders);
    let found = run_command(command, TIMEOUT).ok().stdout;
    found.lines().map(str::to_owned).collect()
}

/// A hook by the environment would hold the name of its variable.
#[test]
fn the_program_reads_no_variable_of_the_tests() {
    let product = variables(&["host", "models", "sdk"]);
    let tests = variables(&["tests"]);
    let of_tests: Vec<&String> = tests.difference(&product).collect();
    assert!(of_tests.len() > 5, "{of_tests:?}");
    let program = std::fs::read(env!("CARGO_BIN_EXE_domesday")).unwrap();
    // Texts may follow each other without a mark between them.
    let start = b"DOMESDAY_";
    let places = (0..program.len()).filter(|&at| program[at..].starts_with(start));
    let places: Vec<usize> = places.collect();
    let has = |name: &str| {
        let mut places = places.iter();
        places.any(|&at| program[at..].starts_with(name.as_bytes()))
    };
    assert!(has("DOMESDAY_LISTEN"), "{}", places.len());
    let begins_another = |name: &str| product.iter().any(|other| other.starts_with(name));
    let read: Vec<_> = of_tests
        .into_iter()
        .filter(|name| !begins_another(name) && has(name))
        .collect();
    assert!(read.is_empty(), "{read:?}");
}
