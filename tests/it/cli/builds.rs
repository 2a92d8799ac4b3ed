//! The README's two commands compile each dependency once.

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
