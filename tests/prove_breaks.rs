//! Breaks one rule of the contracts after another, and demands that the rule's own test turns red.
//!
//! `scripts/prove-breaks` builds and calls this, with what cargo said of the build on standard input. The
//! suites run as they are; the break is wished by an environment variable, which they pass on to the
//! program that they start.
// What this does not need of the list, the suite that checks it does.
#![allow(clippy::unwrap_used, dead_code)]

#[path = "contract/rules.rs"]
mod rules;

use rules::{CONTRACTS, Rule, Rules};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// What a suite says whose server does not come up: no proof that the test can fail.
const NO_SERVER: &str = "it did not start";

/// The suites' executables by name.
type Suites = BTreeMap<String, PathBuf>;

fn main() -> ExitCode {
    let started = Instant::now();
    let wanted: BTreeSet<String> = std::env::args().skip(1).collect();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let lists = CONTRACTS.map(|contract| (contract.name, Rules::of(&contract, &repository)));
    // An id chooses a rule, and a contract's name all of its rules.
    let chosen: Vec<&Rule> = lists
        .iter()
        .flat_map(|(name, rules)| rules.all().map(move |rule| (*name, rule)))
        .filter(|(name, rule)| {
            wanted.is_empty() || wanted.contains(&rule.id) || wanted.contains(*name)
        })
        .map(|(_, rule)| rule)
        .collect();
    let known: BTreeSet<&str> = chosen.iter().map(|rule| rule.id.as_str()).collect();
    let named = |id: &str| CONTRACTS.iter().any(|contract| contract.name == id);
    if let Some(unknown) = wanted
        .iter()
        .find(|id| !known.contains(id.as_str()) && !named(id))
    {
        println!("there is no rule {unknown}");
        return ExitCode::FAILURE;
    }
    let suites = built();
    let red = unbroken(&chosen, &suites);
    if !red.is_empty() {
        println!("red without a break: {red:#?}");
        return ExitCode::FAILURE;
    }
    let proofs = proofs(&chosen, &suites);
    let count = |verdict: Verdict| proofs.iter().filter(|proof| **proof == verdict).count();
    println!(
        "\n{} rules, {} breaks: {} turned the rule's own test red, {} survived, {} proved nothing; {:.0} s",
        chosen.len(),
        proofs.len(),
        count(Verdict::Red),
        count(Verdict::Survived),
        count(Verdict::NoServer),
        started.elapsed().as_secs_f64(),
    );
    match count(Verdict::Red) == proofs.len() {
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

/// The suites that cargo built, by what it says on standard input, a message a line.
fn built() -> Suites {
    std::io::stdin()
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(&line.unwrap()).ok())
        .filter_map(|message| {
            let name = message["target"]["name"].as_str()?.to_owned();
            let test = message["target"]["kind"][0] == "test";
            let executable = message["executable"].as_str().filter(|_| test)?;
            Some((name, executable.into()))
        })
        .collect()
}

/// The tests that are red though nothing is broken. Each is passed alone, as with a break: one that
/// needs others beside it would be red then, and prove nothing.
fn unbroken(rules: &[&Rule], suites: &Suites) -> Vec<String> {
    let tests: BTreeSet<&String> = rules.iter().flat_map(|rule| &rule.tests).collect();
    let tests: Vec<&String> = tests.into_iter().collect();
    println!("{} tests without a break", tests.len());
    let green = several_at_once(&tests, |test| {
        let said = run(&suites[suite_of(test)], within(test), None);
        said.contains(&ended(within(test), "ok"))
    });
    let red = tests.iter().zip(green).filter(|(_, green)| !green);
    red.map(|(test, _)| (*test).clone()).collect()
}

/// Does one task after another, some at a time; results in the order of the tasks.
fn several_at_once<T: Sync, R: Send>(tasks: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let width = std::thread::available_parallelism().map_or(2, |cores| cores.get() + 1);
    std::thread::scope(|scope| {
        for _ in 0..width {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Relaxed);
                    let Some(task) = tasks.get(at) else { return };
                    let result = work(task);
                    done.lock().unwrap().insert(at, result);
                }
            });
        }
    });
    done.into_inner().unwrap().into_values().collect()
}

/// What a break proved.
#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    /// The rule's own test turned red.
    Red,
    /// It did not.
    Survived,
    /// The server did not even start, so the test said nothing of the rule.
    NoServer,
}

/// Arms one break after another and passes the rule's own test, a line of the table for each.
fn proofs(rules: &[&Rule], suites: &Suites) -> Vec<Verdict> {
    let tasks: Vec<(&Rule, &String)> = rules
        .iter()
        .flat_map(|&rule| rule.breaks.iter().map(move |name| (rule, name)))
        .collect();
    println!("{:<9} {:<34} {:<38} {:>6}", "", "rule", "break", "s");
    several_at_once(&tasks, |(rule, name)| {
        let started = Instant::now();
        let verdict = prove(&rule.tests[0], suites, name);
        let said = match verdict {
            Verdict::Red => "red",
            Verdict::Survived => "SURVIVED",
            Verdict::NoServer => "NO SERVER",
        };
        let seconds = started.elapsed().as_secs_f64();
        println!("{said:<9} {:<34} {name:<38} {seconds:>6.1}", rule.id);
        verdict
    })
}

/// Passes one test with this break armed.
fn prove(test: &str, suites: &Suites, broken: &str) -> Verdict {
    let executable = &suites[suite_of(test)];
    let said = run(executable, within(test), Some(broken));
    match said.contains(&ended(within(test), "FAILED")) {
        _ if said.contains(NO_SERVER) => Verdict::NoServer,
        true => Verdict::Red,
        false => Verdict::Survived,
    }
}

/// The line that says how a test ended.
fn ended(test: &str, how: &str) -> String {
    format!("test {test} ... {how}\n")
}

/// What a suite says when this test of it is passed, with this break if any.
fn run(executable: &Path, test: &str, broken: Option<&str>) -> String {
    let mut command = Command::new(executable);
    command
        .arg("--exact")
        .arg(test)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("INSTA_UPDATE", "no")
        .env_remove("DOMESDAY_BREAK");
    if let Some(broken) = broken {
        command.env("DOMESDAY_BREAK", broken);
    }
    let output = command.output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}
