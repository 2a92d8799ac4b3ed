//! Commands of cargo on pages: packages, and their programs, examples, tests and benches.

use crate::page::Page;
use crate::{Problem, command_line};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The workspace's packages, each with its targets as `KIND NAME`.
#[derive(Debug, Default)]
pub struct Workspace(BTreeMap<String, BTreeSet<String>>);

impl Workspace {
    /// Asks cargo for the packages of a workspace.
    ///
    /// # Panics
    /// Cargo cannot be asked.
    pub fn read(repository: &Path) -> Workspace {
        let output = Command::new("cargo")
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .current_dir(repository)
            .output()
            .expect("cargo can be started");
        let document: Value =
            serde_json::from_slice(&output.stdout).expect("cargo's metadata can be read");
        Workspace::of(&document)
    }

    fn of(metadata: &Value) -> Workspace {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let packages = list(&metadata["packages"]).into_iter().map(|package| {
            let targets = list(&package["targets"]).into_iter().flat_map(|target| {
                let name = text(&target["name"]);
                let kinds = list(&target["kind"]).into_iter();
                kinds.map(move |kind| format!("{} {name}", text(&kind)))
            });
            (text(&package["name"]), targets.collect())
        });
        Workspace(packages.collect())
    }

    /// Returns the reason why cargo cannot run these words, or nothing if it can.
    fn refuses(&self, words: &[String]) -> Option<String> {
        let known = ["run", "test", "bench", "build"];
        if !known.contains(&words.get(1)?.as_str()) {
            return None;
        }
        let arguments = words.iter().take_while(|word| *word != "--");
        let mut packages = Vec::new();
        let mut targets = Vec::new();
        let pairs = arguments.clone().zip(arguments.skip(1));
        for (option, value) in pairs {
            match option.as_str() {
                "-p" | "--package" => packages.push(value),
                "--example" | "--test" | "--bench" | "--bin" => {
                    targets.push(format!("{} {value}", option.trim_start_matches('-')));
                }
                _ => {}
            }
        }
        if let Some(package) = packages.iter().find(|name| !self.0.contains_key(**name)) {
            return Some(format!("there is no package {package}"));
        }
        let within = |name: &&String| packages.is_empty() || packages.contains(name);
        let missing = targets.into_iter().find(|target| {
            let mut places = self.0.iter().filter(|(name, _)| within(name));
            !places.any(|(_, targets)| targets.contains(target))
        });
        missing.map(|target| format!("there is no {target} where it is asked for"))
    }
}

/// Finds commands of cargo on a page that cargo cannot run.
pub fn faults(page: &Page, workspace: &Workspace) -> Vec<Problem> {
    let blocks = page.blocks.iter().filter(|block| block.is_commands());
    let blocks = blocks.flat_map(|block| {
        command_line::lines(&block.text)
            .into_iter()
            .map(|line| (block.line, line))
    });
    let spans = page.spans.iter().cloned();
    let mut faults = Vec::new();
    for (line, text) in blocks.chain(spans) {
        for words in command_line::simple(&text) {
            let Some(at) = words.iter().position(|word| word == "cargo") else {
                continue;
            };
            faults.extend(
                workspace
                    .refuses(&words[at..])
                    .map(|why| page.fault(line, why)),
            );
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn missing_targets_are_named() {
        let workspace = Workspace::of(&json!({"packages": [{"name": "a", "targets": [
            {"name": "b", "kind": ["example"]}, {"name": "c", "kind": ["test"]}]}]}));
        let problems = |text: &str| {
            let page = Page::read("docs/a.md", text).unwrap();
            let faults = faults(&page, &workspace);
            faults
                .into_iter()
                .map(|fault| fault.what)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            problems("`cargo run -p a --example b -- -p z` `cargo test --workspace --test c`\n"),
            [""; 0]
        );
        assert_eq!(problems("`cargo bench -p z`\n"), ["there is no package z"]);
        assert_eq!(
            problems("```sh\nA=b cargo run --package a --example c\n```\n"),
            ["there is no example c where it is asked for"]
        );
    }
}
