//! A sample of the faults that cargo-mutants makes up, in the crates whose tests hold them by
//! themselves.
//!
//! cargo-mutants lists its mutants. A seed draws some of each crate, and one build holds them all
//! ([`combine`]). A mutant is caught if a test of its own crate fails or does not end. One that its
//! crate misses is tried on the suites of the quick tier, which must pass without a mutant. The
//! outcome of each is appended to a file of the commit, so that an interrupted run can continue.

use crate::combine::{self, MutationSet};
use crate::explained;
use crate::sample::fnv1a;
use crate::suites::{Suites, several_at_once};
use crate::tree::Tree;
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
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
/// Tests that judge the tree itself, which differs from the repository's where mutants are compiled
/// in.
const OF_THE_TREE: &str =
    "package(domesday-test-architecture) + (binary(http) & test(/^contract::/))";
/// A test that takes this many times longer than without a mutant does not end.
const LONGER: u32 = 5;
/// No crate's tests take longer without a mutant.
const LONGEST_SUITE: Duration = Duration::from_secs(900);
const SHORTEST_LIMIT: Duration = Duration::from_secs(60);

/// A mutant, as cargo-mutants lists it.
#[derive(Debug, Clone, Deserialize)]
struct Mutant {
    name: String,
    file: String,
    replacement: String,
    span: Span,
}

impl Mutant {
    /// Returns its name without line and column, which change with every edit.
    fn without_place(&self) -> String {
        match self.name.split_once(": ") {
            Some((_, change)) => format!("{}: {change}", self.file),
            None => self.name.clone(),
        }
    }
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

/// The result for a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// By a test of its own crate.
    Caught,
    /// By the suites of the quick tier alone.
    CaughtLater,
    /// By nothing, and `tests/mutate/explained.toml` says why.
    Explained,
    /// By nothing.
    Missed,
}

impl Fate {
    const ALL: [Fate; 4] = [
        Fate::Caught,
        Fate::CaughtLater,
        Fate::Explained,
        Fate::Missed,
    ];

    fn word(self) -> &'static str {
        match self {
            Fate::Caught => "caught",
            Fate::CaughtLater => "quick tier",
            Fate::Explained => "explained",
            Fate::Missed => "MISSED",
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// Draws `sample` mutants of each crate that is named, or of all seven, and returns whether every
/// one was caught. Without `beyond`, the quick tier is left out, and what a crate's own tests miss
/// counts as missed.
///
/// # Errors
/// No crate has such a name, or the copy cannot be made or built.
pub fn prove(
    repository: &Path,
    named: &[String],
    sample: usize,
    seed: &str,
    beyond: bool,
) -> Result<bool> {
    let crates: Vec<(&str, &str)> = CRATES
        .into_iter()
        .filter(|(name, _)| named.is_empty() || named.iter().any(|other| other == name))
        .collect();
    ensure!(!crates.is_empty(), "no such crate: {named:?}");
    let tree = Tree::copy(repository)?;
    let mut drawn = BTreeMap::new();
    for (package, folder) in &crates {
        let mut mutants = list_mutants(&tree, package, folder)?;
        let all = mutants.len();
        mutants.sort_by_key(|mutant| fnv1a(&format!("{seed}/{}", mutant.name)));
        mutants.truncate(sample * DRAWN_FOR_ONE);
        println!("{package}: {} drawn of {all} mutants", mutants.len());
        drawn.insert(*package, mutants);
    }
    let (suites, built) = build(&tree, &drawn)?;
    let mut judge = Judge {
        suites,
        known: EarlierResults::read(&tree)?,
        explained: explained::read(repository)?,
        beyond,
        quick_tier_is_sound: false,
        tree,
    };
    // The crates' own tests first: the quick tier takes minutes for each mutant.
    let mut judged = Vec::new();
    for (package, mutants) in drawn {
        let viable = mutants
            .into_iter()
            .filter(|mutant| built.contains(&mutant.name));
        let viable: Vec<Mutant> = viable.take(sample).collect();
        let caught = judge.caught_by_crate(package, &viable)?;
        judged.push((package, viable, caught));
    }
    let mut all = Vec::new();
    for (package, mutants, caught) in judged {
        let fates = judge.fates(&mutants, &caught)?;
        println!("{package}: {}", counts(&fates));
        all.extend(fates);
    }
    println!("\nall: {}", counts(&all));
    judge.tree.restore()?;
    Ok(!all.contains(&Fate::Missed))
}

fn counts(fates: &[Fate]) -> String {
    let count = |fate: Fate| fates.iter().filter(|other| **other == fate).count();
    format!(
        "{} mutants, {} caught by the crate's own tests, {} by the quick tier, {} explained, {} missed",
        fates.len(),
        count(Fate::Caught),
        count(Fate::CaughtLater),
        count(Fate::Explained),
        count(Fate::Missed)
    )
}

/// Returns the mutants that cargo-mutants lists for a crate.
fn list_mutants(tree: &Tree, package: &str, folder: &str) -> Result<Vec<Mutant>> {
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
    let mut combined = MutationSet::default();
    for mutant in drawn.values().flatten() {
        let before = std::fs::read_to_string(tree.original(&mutant.file))?;
        if let Some(after) = apply_replacement(&before, mutant) {
            combined.add(&mutant.name, vec![(mutant.file.clone(), before, after)]);
        }
    }
    let build = |_: &BTreeSet<String>| Suites::build_quick_tier(&tree.root, &tree.target);
    let suites = combined.build(tree, build)?;
    Ok((suites.context("no mutant compiles")?, combined.names))
}

/// Returns the file with the mutant's replacement in it.
fn apply_replacement(text: &str, mutant: &Mutant) -> Option<String> {
    let at = |position: &Position| {
        let before: usize = (text.split_inclusive('\n').take(position.line - 1))
            .map(str::len)
            .sum();
        let line = text.get(before..)?;
        let column = line
            .char_indices()
            .map(|(at, _)| at)
            .nth(position.column - 1)?;
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

/// The results for mutants of this commit in earlier runs.
struct EarlierResults {
    path: PathBuf,
    fates: BTreeMap<String, Fate>,
}

impl EarlierResults {
    fn read(tree: &Tree) -> Result<EarlierResults> {
        let path = tree.results_file("mutants")?;
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error).context("cannot read earlier results"),
        };
        let fates = text.lines().filter_map(|line| {
            let (word, mutant) = line.split_once('\t')?;
            let fate = Fate::ALL.into_iter().find(|fate| fate.word() == word)?;
            Some((mutant.to_owned(), fate))
        });
        let fates = fates.collect();
        Ok(EarlierResults { path, fates })
    }

    fn append(&self, mutant: &Mutant, fate: Fate) -> Result<()> {
        println!("{fate:<10} {}", mutant.name);
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)?;
        writeln!(file, "{}\t{}", fate.word(), mutant.name)?;
        Ok(())
    }
}

struct Judge {
    tree: Tree,
    suites: Suites,
    known: EarlierResults,
    explained: BTreeMap<String, String>,
    /// True where the quick tier judges what a crate's own tests miss.
    beyond: bool,
    /// True once the quick tier has passed without a mutant.
    quick_tier_is_sound: bool,
}

impl Judge {
    /// Returns the result for each mutant, and runs the quick tier with those that no test of their
    /// crate caught.
    fn fates(&mut self, mutants: &[Mutant], caught: &[bool]) -> Result<Vec<Fate>> {
        let mut fates = Vec::new();
        for (mutant, caught) in mutants.iter().zip(caught) {
            fates.push(match self.known.fates.get(&mutant.name) {
                Some(fate) => *fate,
                None if *caught => Fate::Caught,
                None if self.explained.contains_key(&mutant.without_place()) => Fate::Explained,
                None if !self.beyond => Fate::Missed,
                None => {
                    let fate = self.fate_beyond_crate(mutant)?;
                    self.known.append(mutant, fate)?;
                    fate
                }
            });
        }
        Ok(fates)
    }

    /// Returns for each mutant whether a test of its own crate catches it.
    fn caught_by_crate(&self, package: &str, mutants: &[Mutant]) -> Result<Vec<bool>> {
        let is_known = |mutant: &Mutant| self.known.fates.contains_key(&mutant.name);
        if mutants.iter().all(is_known) {
            return Ok(vec![false; mutants.len()]);
        }
        let started = Instant::now();
        ensure!(
            self.suites.passes(package, &[], LONGEST_SUITE)?,
            "tests of {package} fail without a mutant"
        );
        let limit = SHORTEST_LIMIT.max(started.elapsed() * LONGER);
        let caught = several_at_once(mutants, |mutant| {
            if is_known(mutant) {
                return Ok(false);
            }
            let variables = [(combine::VARIABLE, mutant.name.as_str())];
            let caught = !self.suites.passes(package, &variables, limit)?;
            match caught {
                true => self.known.append(mutant, Fate::Caught)?,
                false => println!("{:<10} {}", "beyond", mutant.name),
            }
            Ok(caught)
        });
        caught.into_iter().collect()
    }

    /// Returns the result for a mutant that the crate's tests miss, from the quick tier.
    fn fate_beyond_crate(&mut self, mutant: &Mutant) -> Result<Fate> {
        if !self.quick_tier_is_sound {
            ensure!(
                quick_tier_passes(&self.tree, "")?,
                "the quick tier fails without a mutant; read {}",
                quick_tier_log(&self.tree).display()
            );
            self.quick_tier_is_sound = true;
        }
        Ok(match quick_tier_passes(&self.tree, &mutant.name)? {
            true => Fate::Missed,
            false => Fate::CaughtLater,
        })
    }
}

/// Returns where the last run of the quick tier wrote its output.
fn quick_tier_log(tree: &Tree) -> PathBuf {
    tree.target.join("quick-tier.log")
}

/// Returns whether every test of the quick tier passes with a mutant, but for those of the tree.
fn quick_tier_passes(tree: &Tree, mutant: &str) -> Result<bool> {
    let log = File::create(quick_tier_log(tree)).context("cannot write the quick tier's log")?;
    let status = Command::new("scripts/test")
        .arg("quick")
        .arg("--max-fail=1")
        .arg("-E")
        .arg(format!("default() - ({OF_THE_TREE})"))
        .current_dir(&tree.root)
        .env("CARGO_TARGET_DIR", &tree.target)
        .env(combine::VARIABLE, mutant)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .status()
        .context("cannot run scripts/test")?;
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_stands_where_the_mutant_says() {
        let position = |line, column| Position { line, column };
        let mutant = Mutant {
            name: String::new(),
            file: String::new(),
            replacement: "true".to_owned(),
            span: Span {
                start: position(2, 7),
                end: position(2, 12),
            },
        };
        let text = "fn a() {\n  é = b < c;\n}\n";
        let after = apply_replacement(text, &mutant);
        assert_eq!(after.as_deref(), Some("fn a() {\n  é = true;\n}\n"));
    }
}
