//! A sample of the faults that cargo-mutants makes up, in the crates whose tests hold them by
//! themselves.
//!
//! cargo-mutants lists its mutants. A seed draws some of each crate, and one build holds them all
//! ([`combine`]). A mutant is caught where a test of its own crate fails or does not end; what its
//! crate misses is tried on the suites of the quick tier.

use crate::combine::{self, Combined};
use crate::sample::fnv1a;
use crate::suites::{Suites, several_at_once};
use crate::tree::Tree;
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The crates, by their folders, and the files of each that are mutated where not all are.
const CRATES: [(&str, &str); 7] = [
    ("contract", ""),
    ("valuation", ""),
    ("state", ""),
    ("journal", ""),
    ("package", ""),
    ("engine", ""),
    // Peers verify the rest of series.
    ("series", "host/series/src/select"),
];
/// Mutants of which one is proved, at least: some do not compile.
const DRAWN_FOR_ONE: usize = 2;
/// A test that takes this many times longer than without a mutant does not end.
const LONGER: u32 = 5;
const SHORTEST_LIMIT: Duration = Duration::from_secs(60);

/// A mutant, as cargo-mutants lists it.
#[derive(Debug, Clone, Deserialize)]
struct Mutant {
    name: String,
    file: String,
    replacement: String,
    span: Span,
}

#[derive(Debug, Clone, Deserialize)]
struct Span {
    start: Position,
    end: Position,
}

/// A line and a column, each from one; columns count characters.
#[derive(Debug, Clone, Deserialize)]
struct Position {
    line: usize,
    column: usize,
}

/// What became of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// By a test of its own crate.
    Caught,
    /// By the suites of the quick tier alone.
    CaughtLater,
    /// By nothing.
    Missed,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Fate::Caught => "caught",
            Fate::CaughtLater => "quick tier",
            Fate::Missed => "MISSED",
        })
    }
}

/// Draws `sample` mutants of each crate that is named, or of all seven, and returns whether every
/// one was caught.
pub fn prove(repository: &Path, named: &[String], sample: usize, seed: &str) -> Result<bool> {
    let crates: Vec<(&str, &str)> = CRATES
        .into_iter()
        .filter(|(name, _)| named.is_empty() || named.iter().any(|wanted| wanted == name))
        .collect();
    ensure!(!crates.is_empty(), "no such crate: {named:?}");
    let tree = Tree::copy(repository)?;
    let mut drawn = BTreeMap::new();
    for (package, folder) in &crates {
        let mut mutants = listed(&tree, package, folder)?;
        let all = mutants.len();
        mutants.sort_by_key(|mutant| fnv1a(&format!("{seed}/{}", mutant.name)));
        mutants.truncate(sample * DRAWN_FOR_ONE);
        println!("{package}: {} drawn of {all} mutants", mutants.len());
        drawn.insert(*package, mutants);
    }
    let (suites, built) = build(&tree, &drawn)?;
    let mut all_caught = true;
    for (package, mutants) in drawn {
        let viable = mutants
            .into_iter()
            .filter(|mutant| built.contains(&mutant.name));
        let viable: Vec<Mutant> = viable.take(sample).collect();
        all_caught &= judge(&tree, &suites, package, &viable)?;
    }
    tree.restore()?;
    Ok(all_caught)
}

/// What cargo-mutants lists of a crate.
fn listed(tree: &Tree, package: &str, folder: &str) -> Result<Vec<Mutant>> {
    let output = Command::new("cargo")
        .args(["mutants", "--list", "--json", "--package"])
        .arg(format!("domesday-{package}"))
        .current_dir(&tree.root)
        .stdin(Stdio::null())
        .output()
        .context("cannot run cargo")?;
    ensure!(
        output.status.success(),
        "cargo mutants failed; install it with `cargo install --locked cargo-mutants`: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mutants: Vec<Mutant> = serde_json::from_slice(&output.stdout)?;
    let is_meant = |mutant: &Mutant| mutant.file.starts_with(folder);
    Ok(mutants.into_iter().filter(is_meant).collect())
}

/// Builds the drawn mutants at once, and returns the names of those that compile.
fn build(tree: &Tree, drawn: &BTreeMap<&str, Vec<Mutant>>) -> Result<(Suites, BTreeSet<String>)> {
    let mut combined = Combined::default();
    for mutant in drawn.values().flatten() {
        let before = std::fs::read_to_string(tree.original(&mutant.file))?;
        if let Some(after) = replaced(&before, mutant) {
            combined.add(&mutant.name, vec![(mutant.file.clone(), before, after)]);
        }
    }
    let packages: Vec<&str> = drawn.keys().copied().collect();
    let build = |_: &BTreeSet<String>| Suites::build_packages(&tree.root, &tree.target, &packages);
    let suites = combined.build(tree, build)?;
    Ok((suites.context("no mutant compiles")?, combined.names))
}

/// The file with the mutant's replacement in it.
fn replaced(text: &str, mutant: &Mutant) -> Option<String> {
    let at = |place: &Position| {
        let before: usize = (text.split_inclusive('\n').take(place.line - 1))
            .map(str::len)
            .sum();
        let line = text.get(before..)?;
        let column = line
            .char_indices()
            .map(|(at, _)| at)
            .nth(place.column - 1)?;
        Some(before + column)
    };
    let (start, end) = (at(&mutant.span.start)?, at(&mutant.span.end)?);
    Some(format!(
        "{}{}{}",
        text.get(..start)?,
        mutant.replacement,
        text.get(end..)?
    ))
}

/// Runs the tests of a crate with each mutant, and the quick tier with those that they miss.
fn judge(tree: &Tree, suites: &Suites, package: &str, mutants: &[Mutant]) -> Result<bool> {
    let started = Instant::now();
    ensure!(
        suites.passes(package, &[], Duration::from_secs(900))?,
        "tests of {package} fail without a mutant"
    );
    let limit = SHORTEST_LIMIT.max(started.elapsed() * LONGER);
    let fates: Vec<Result<Fate>> = several_at_once(mutants, |mutant| {
        let variables = [(combine::VARIABLE, mutant.name.as_str())];
        let fate = match suites.passes(package, &variables, limit)? {
            true => Fate::Missed,
            false => Fate::Caught,
        };
        println!("{fate:<10} {}", mutant.name);
        Ok(fate)
    });
    let mut fates: Vec<Fate> = fates.into_iter().collect::<Result<_>>()?;
    for (fate, mutant) in fates.iter_mut().zip(mutants) {
        if *fate == Fate::Missed {
            *fate = match quick_tier_passes(tree, &mutant.name)? {
                true => Fate::Missed,
                false => Fate::CaughtLater,
            };
            println!("{fate:<10} {}", mutant.name);
        }
    }
    let count = |wanted: Fate| fates.iter().filter(|fate| **fate == wanted).count();
    println!(
        "{package}: {} mutants, {} caught by its own tests, {} by the quick tier, {} missed",
        fates.len(),
        count(Fate::Caught),
        count(Fate::CaughtLater),
        count(Fate::Missed)
    );
    Ok(count(Fate::Missed) == 0)
}

/// Whether every test of the quick tier passes with a mutant.
fn quick_tier_passes(tree: &Tree, mutant: &str) -> Result<bool> {
    let status = Command::new("scripts/test")
        .arg("quick")
        .arg("--max-fail=1")
        .current_dir(&tree.root)
        .env("CARGO_TARGET_DIR", &tree.target)
        .env(combine::VARIABLE, mutant)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .context("cannot run scripts/test")?;
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_stands_where_the_mutant_says() {
        let place = |line, column| Position { line, column };
        let mutant = Mutant {
            name: String::new(),
            file: String::new(),
            replacement: "true".to_owned(),
            span: Span {
                start: place(2, 7),
                end: place(2, 12),
            },
        };
        let text = "fn a() {\n  é = b < c;\n}\n";
        let after = replaced(text, &mutant);
        assert_eq!(after.as_deref(), Some("fn a() {\n  é = true;\n}\n"));
    }
}
