//! Proves that the tests of the rules can fail.
//!
//! `tests/contract/*.toml` name mutations for each rule. This program applies one after another,
//! runs the rule's own test, and demands that the test fails. A wire mutation is applied by a proxy
//! between the client and the server of a suite, without a rebuild. A patch is applied to a copy of
//! the tree, which is then built.

mod cargo_build;
mod combine;
mod explained;
mod mutants;
mod patches;
#[path = "../../contract/rules.rs"]
#[allow(dead_code, clippy::unwrap_used)] // The suite that checks the lists uses the rest.
mod rules;
mod sample;
mod suites;
mod task;
mod test_name;
mod tree;
mod verdict;
mod wire;

use anyhow::{Result, ensure};
use clap::{Parser, ValueEnum};
use rules::{CONTRACTS, Rule, Rules};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use task::Task;
use verdict::{Proof, Verdict};

/// Mutate the wire or the sources, and demand that each rule's own test fails.
#[derive(Parser)]
struct Arguments {
    /// Rules by id, or all rules of v3, v1 or promises; of mutants, crates by folder (default: all)
    rules: Vec<String>,
    /// Draw this many mutants of cargo-mutants from each crate instead
    #[arg(long)]
    mutants: Option<usize>,
    /// Leave out the quick tier for the mutants that a crate's own tests miss
    #[arg(long, requires = "mutants")]
    own_tests: bool,
    /// Apply mutations of this kind only
    #[arg(long)]
    only: Option<Kind>,
    /// Draw this many patches
    #[arg(long)]
    sample: Option<usize>,
    /// Seed of the draw
    #[arg(long, default_value = "")]
    seed: String,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Kind {
    Wire,
    Patch,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    if let Some(sample) = arguments.mutants {
        let (crates, seed) = (&arguments.rules, &arguments.seed);
        let beyond = !arguments.own_tests;
        return Ok(
            match mutants::prove(&repository, crates, sample, seed, beyond)? {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            },
        );
    }
    let lists = CONTRACTS.map(|contract| (contract.name, Rules::of(&contract, &repository)));
    let rules = chosen_rules(&lists, &arguments.rules)?;
    let tasks: Vec<Task<'_>> = rules
        .iter()
        .flat_map(|&rule| {
            rule.mutations
                .iter()
                .map(move |mutation| Task { rule, mutation })
        })
        .collect();
    let (patched, wired): (Vec<Task<'_>>, Vec<Task<'_>>) =
        tasks.into_iter().partition(|task| task.patch().is_some());

    let mut proofs = Vec::new();
    if arguments.only != Some(Kind::Patch) && !wired.is_empty() {
        proofs.extend(wire::prove(&repository, &wired)?);
    }
    if arguments.only != Some(Kind::Wire) && !patched.is_empty() {
        let drawn = sample::draw(&patched, arguments.sample, &arguments.seed);
        proofs.extend(patches::prove(&repository, &drawn)?);
    }
    Ok(print_counts(&rules, &proofs))
}

/// Returns the rules that were named by id or by list.
fn chosen_rules<'a>(lists: &'a [(&str, Rules)], named: &[String]) -> Result<Vec<&'a Rule>> {
    let all = lists
        .iter()
        .flat_map(|(list, rules)| rules.all().map(move |rule| (*list, rule)));
    let is_chosen = |list: &str, rule: &Rule| {
        named.is_empty() || named.iter().any(|name| *name == rule.id || name == list)
    };
    let rules: Vec<(&str, &Rule)> = all.filter(|(list, rule)| is_chosen(list, rule)).collect();
    for name in named {
        let known = rules
            .iter()
            .any(|(list, rule)| rule.id == *name || list == name);
        ensure!(
            known,
            "no rule {name}. tests/contract/*.toml list the rules."
        );
    }
    Ok(rules.into_iter().map(|(_, rule)| rule).collect())
}

/// Prints the counts. Every mutation must have turned the rule's own test red.
fn print_counts(rules: &[&Rule], proofs: &[Proof]) -> ExitCode {
    let count = |verdict: Verdict| {
        proofs
            .iter()
            .filter(|proof| proof.verdict == verdict)
            .count()
    };
    let proved: BTreeSet<&str> = proofs.iter().map(|proof| proof.rule.as_str()).collect();
    println!(
        "\n{} mutations of {} of {} rules: {} red, {} survived, {} proved nothing",
        proofs.len(),
        proved.len(),
        rules.len(),
        count(Verdict::Red),
        count(Verdict::Survived),
        proofs.len() - count(Verdict::Red) - count(Verdict::Survived),
    );
    for proof in proofs.iter().filter(|proof| proof.verdict != Verdict::Red) {
        println!("{proof}");
    }
    match count(Verdict::Red) == proofs.len() && !proofs.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
