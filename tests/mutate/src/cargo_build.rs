//! How cargo builds the suites of a tree.

use crate::test_name::TestName;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The packages that unify the features of dependencies, as a build of the workspace does.
const FEATURES: [&str; 2] = ["domesday-cli", "domesday-workspace-hack"];

/// The reason why the suites were not built.
#[derive(Debug)]
pub struct NotBuilt(pub String);

/// Returns the packages and targets of these tests, as arguments of cargo. A few tests need few of
/// the workspace's packages.
///
/// # Errors
/// A test's name is none, or its package has no manifest.
pub fn targets(tree: &Path, tests: &[&str]) -> Result<Vec<String>> {
    let mut packages = BTreeSet::from(FEATURES.map(str::to_owned));
    let mut targets = BTreeSet::new();
    for test in tests {
        match TestName::of(test)? {
            TestName::Suite { suite, .. } => {
                targets.insert(format!("--test={suite}"));
            }
            TestName::Unit { file, .. } => {
                let (folder, _) = file.split_once("/src/").context("a file of no package")?;
                let is_library = tree.join(folder).join("src/lib.rs").exists();
                targets.insert(if is_library { "--lib" } else { "--bins" }.to_owned());
                packages.insert(read_name(&tree.join(folder).join("Cargo.toml"))?);
            }
        }
    }
    let packages = packages.iter().map(|name| format!("--package={name}"));
    let arguments = packages.chain(targets);
    Ok(arguments.chain(["--no-run".to_owned()]).collect())
}

/// Returns the name of a package by its manifest.
fn read_name(manifest: &Path) -> Result<String> {
    let context = || format!("cannot read the name of {}", manifest.display());
    let text = std::fs::read_to_string(manifest).with_context(context)?;
    let manifest: toml::Table = toml::from_str(&text).with_context(context)?;
    let name = manifest
        .get("package")
        .and_then(|package| package.get("name"));
    let name = name.and_then(toml::Value::as_str).with_context(context)?;
    Ok(name.to_owned())
}

/// Returns a command of cargo. Features are unified as in every other build where it names the
/// workspace or [`FEATURES`], so that no dependency is compiled twice.
pub fn command(command: &str, tree: &Path, target: &Path, arguments: &[String]) -> Command {
    let mut cargo = Command::new("cargo");
    cargo
        .args([command, "--quiet"])
        .args(arguments)
        .current_dir(tree)
        .env("CARGO_TARGET_DIR", target);
    cargo
}

/// Runs cargo and returns its messages, or the errors of what does not compile.
///
/// # Errors
/// Cargo cannot be run.
pub fn cargo(
    name: &str,
    tree: &Path,
    target: &Path,
    arguments: &[String],
) -> Result<std::result::Result<String, NotBuilt>> {
    let output = command(name, tree, target, arguments)
        .arg("--message-format=json-render-diagnostics")
        .output()
        .context("cannot run cargo")?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(NotBuilt(text(&output.stderr))),
    })
}
