//! Breaks one rule of the contract after another, and demands that the rule's own test turns red.
//!
//! `scripts/prove-breaks` builds and calls this. The suites run as they are; the break is wished by
//! an environment variable, which they pass on to the program that they start.
// What this does not need of the list, the suite that checks it does.
#![allow(clippy::unwrap_used, dead_code)]

#[path = "contract/rules.rs"]
mod rules;

use rules::{Rule, Rules};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What a suite says whose server does not come up: no proof that the test can fail.
const NO_SERVER: &str = "it did not start";

/// The suites' executables by name.
type Suites = BTreeMap<String, PathBuf>;

fn main() -> ExitCode {
    let wanted: BTreeSet<String> = std::env::args().skip(1).collect();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let rules = Rules::read(&repository);
    let chosen: Vec<&Rule> = rules
        .all()
        .filter(|rule| wanted.is_empty() || wanted.contains(&rule.id))
        .collect();
    let names: BTreeSet<&str> = chosen
        .iter()
        .flat_map(|rule| &rule.tests)
        .map(|test| suite_of(test))
        .collect();
    let suites = build(&repository, &names);
    let red = unbroken(&chosen, &suites);
    if !red.is_empty() {
        println!("red without a break: {red:#?}");
        return ExitCode::FAILURE;
    }
    let survivors = survivors(&chosen, &suites);
    let all: usize = chosen.iter().map(|rule| rule.breaks.len()).sum();
    let found = all - survivors.len();
    println!(
        "{found} of {all} breaks of {} rules turned a test of their rule red",
        chosen.len()
    );
    for survivor in &survivors {
        println!("survived: {survivor}");
    }
    match survivors.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn suite_of(test: &str) -> &str {
    test.split("::").next().unwrap()
}

/// The test's name within its suite.
fn within(test: &str) -> &str {
    test.split_once("::").unwrap().1
}

/// Builds the suites with the breaks.
fn build(repository: &Path, names: &BTreeSet<&str>) -> Suites {
    let mut command = Command::new(env!("CARGO"));
    command
        .args(["test", "--workspace", "--no-run", "--message-format=json"])
        .args(["--features", "domesday-server/breaks"])
        .current_dir(repository)
        .stderr(Stdio::inherit());
    for name in names {
        command.args(["--test", name]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "the suites do not build");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|message| {
            let name = message["target"]["name"].as_str()?.to_owned();
            let test = message["target"]["kind"][0] == "test";
            let executable = message["executable"].as_str().filter(|_| test)?;
            Some((name, executable.into()))
        })
        .collect()
}

/// The tests that are red though nothing is broken.
fn unbroken(rules: &[&Rule], suites: &Suites) -> Vec<String> {
    let tests: BTreeSet<&String> = rules.iter().flat_map(|rule| &rule.tests).collect();
    let tests: Vec<&String> = tests.into_iter().collect();
    println!("{} tests without a break", tests.len());
    red(&tests, suites, None)
}

/// The breaks that no test of their rule notices.
fn survivors(rules: &[&Rule], suites: &Suites) -> Vec<String> {
    let tasks: Vec<(&Rule, &String)> = rules
        .iter()
        .flat_map(|&rule| rule.breaks.iter().map(move |name| (rule, name)))
        .collect();
    let (next, survivors) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let width = std::thread::available_parallelism().map_or(2, |cores| cores.get() + 1);
    std::thread::scope(|scope| {
        for _ in 0..width {
            scope.spawn(|| {
                while let Some((rule, name)) = tasks.get(next.fetch_add(1, Relaxed)) {
                    let tests: Vec<&String> = rule.tests.iter().collect();
                    if red(&tests, suites, Some(name.as_str())).is_empty() {
                        println!("{}: {name} SURVIVED", rule.id);
                        let survivor = format!("{name} of {}", rule.id);
                        survivors.lock().unwrap().push(survivor);
                    }
                }
            });
        }
    });
    survivors.into_inner().unwrap()
}

/// Which of these tests fail, with this break if any.
fn red(tests: &[&String], suites: &Suites, broken: Option<&str>) -> Vec<String> {
    let mut red = Vec::new();
    for (name, executable) in suites {
        let mine = tests.iter().filter(|test| suite_of(test) == name);
        let mine: Vec<&str> = mine.map(|test| within(test)).collect();
        if mine.is_empty() {
            continue;
        }
        let mut command = Command::new(executable);
        command
            .arg("--exact")
            .args(&mine)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("INSTA_UPDATE", "no")
            .env_remove("DOMESDAY_BREAK");
        if let Some(broken) = broken {
            command.env("DOMESDAY_BREAK", broken);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        if broken.is_some() && said.contains(NO_SERVER) {
            println!("{}: the server does not start", broken.unwrap_or_default());
            continue;
        }
        let failed = mine.into_iter().filter(|test| {
            let ended = |how: &str| said.contains(&format!("test {test} ... {how}\n"));
            // What did not even run has not passed, unless it was to be a proof.
            ended("FAILED") || (broken.is_none() && !ended("ok"))
        });
        red.extend(failed.map(|test| format!("{name}::{test}")));
    }
    red
}
