//! Patches: each makes one decision of the product wrong, in a copy of the tree.
//!
//! A run can be interrupted and resumed. Verdicts are appended to a file that is named after the
//! commit, and a patch with a verdict is not proved again.

use crate::cargo_build::NotBuilt;
use crate::combine::{self, MutationSet};
use crate::suites::{Suites, red_without, several_at_once, shared_run};
use crate::task::Task;
use crate::tree::Tree;
use crate::verdict::{Proof, Verdict};
use anyhow::{Context, Result, anyhow, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// One build of several patches is quicker than one after the other, from two on.
const MIN_COMBINED: usize = 2;

/// Applies each patch, builds, and runs the own test of every rule that names it.
///
/// # Errors
/// The copy cannot be made, a patch does not apply, or the results cannot be written.
pub fn prove(repository: &Path, tasks: &[Task<'_>]) -> Result<Vec<Proof>> {
    let tree = Tree::copy(repository)?;
    let results = Results::open(&tree)?;
    let mut proofs = results.read()?;
    proofs.retain(|proof| tasks.iter().any(|task| proof.is_of(task)));
    let is_done = |task: &&Task<'_>| proofs.iter().any(|proof| proof.is_of(task));
    let remaining: Vec<Task<'_>> = tasks
        .iter()
        .filter(|task| !is_done(task))
        .copied()
        .collect();
    let mut by_patch: BTreeMap<&str, Vec<Task<'_>>> = BTreeMap::new();
    for task in &remaining {
        let patch = task.patch().context("not a patch")?;
        by_patch.entry(patch).or_default().push(*task);
    }
    println!(
        "{} patches, {} proofs are known already",
        by_patch.len(),
        proofs.len()
    );
    if by_patch.is_empty() {
        return Ok(proofs);
    }
    println!("{:<9} {:<36} {:<40} {:>6}", "", "rule", "mutation", "s");
    let names: Vec<&str> = by_patch.keys().copied().collect();
    let combined = match names.len() {
        0..MIN_COMBINED => MutationSet::default(),
        _ => MutationSet::of(&tree, &names)?,
    };
    let found = prove_combined(&tree, combined, &remaining, &results)?;
    by_patch.retain(|patch, _| !found.patches.contains(*patch));
    proofs.extend(found.proofs);
    proofs.extend(prove_alone(&tree, &by_patch, &results)?);
    tree.restore()?;
    Ok(proofs)
}

/// Builds one patch after another.
fn prove_alone(
    tree: &Tree,
    by_patch: &BTreeMap<&str, Vec<Task<'_>>>,
    results: &Results,
) -> Result<Vec<Proof>> {
    let mut proofs = Vec::new();
    if by_patch.is_empty() {
        return Ok(proofs);
    }
    println!("{} patches, each in a separate build", by_patch.len());
    tree.restore()?;
    let tests: BTreeSet<&str> = by_patch.values().flatten().map(Task::test).collect();
    let all: Vec<&str> = tests.iter().copied().collect();
    let suites = Suites::build(&tree.root, &tree.target, &all)?;
    let suites = suites.map_err(|error| anyhow!(error.0))?;
    let red = red_without(&suites, &tree.root, &tests, &shared_run())?;
    ensure!(red.is_empty(), "red without a patch: {red:#?}");
    for (patch, tasks) in by_patch {
        for proof in prove_one(tree, &suites, patch, tasks)? {
            println!("{proof}");
            results.append(&proof)?;
            proofs.push(proof);
        }
    }
    Ok(proofs)
}

/// The results of one build of many patches.
#[derive(Default)]
struct CombinedProofs {
    patches: BTreeSet<String>,
    proofs: Vec<Proof>,
}

/// Builds many patches at once, and selects one for each run of a test.
fn prove_combined(
    tree: &Tree,
    mut combined: MutationSet,
    tasks: &[Task<'_>],
    results: &Results,
) -> Result<CombinedProofs> {
    let of = |names: &BTreeSet<String>| -> Vec<Task<'_>> {
        let is_of = |task: &&Task<'_>| task.patch().is_some_and(|patch| names.contains(patch));
        tasks.iter().filter(is_of).copied().collect()
    };
    let build = |names: &BTreeSet<String>| {
        let tests: Vec<&str> = of(names).iter().map(Task::test).collect();
        Suites::build_or_culprits(&tree.root, &tree.target, &tests)
    };
    let Some(suites) = combined.build(tree, build)? else {
        return Ok(CombinedProofs::default());
    };
    let chosen = of(&combined.names);
    let tests: BTreeSet<&str> = chosen.iter().map(Task::test).collect();
    let red = red_without(&suites, &tree.root, &tests, &shared_run())?;
    ensure!(red.is_empty(), "red with no patch selected: {red:#?}");
    let proofs: Result<Vec<Proof>> = several_at_once(&chosen, |task| {
        let patch = task.patch().context("not a patch")?;
        let proof = suites.prove(&tree.root, task, &[(combine::VARIABLE, patch)])?;
        println!("{proof}");
        results.append(&proof)?;
        Ok(proof)
    })
    .into_iter()
    .collect();
    Ok(CombinedProofs {
        patches: combined.names,
        proofs: proofs?,
    })
}

fn prove_one(tree: &Tree, suites: &Suites, patch: &str, tasks: &[Task<'_>]) -> Result<Vec<Proof>> {
    let mut proofs = Vec::new();
    tree.restore()?;
    tree.apply(patch)?;
    let (mut outside, mut inside) = (Vec::new(), Vec::new());
    for task in tasks {
        match suites.is_outside(task.test())? {
            true => outside.push(*task),
            false => inside.push(*task),
        }
    }
    if !outside.is_empty() {
        let started = Instant::now();
        let built = Suites::build_program(&tree.root, &tree.target)?;
        let built = built.as_ref().map(|()| suites);
        proofs.extend(verdicts(tree, built, &outside, started)?);
    }
    if !inside.is_empty() {
        let started = Instant::now();
        let tests: Vec<&str> = inside.iter().map(Task::test).collect();
        let built = Suites::build(&tree.root, &tree.target, &tests)?;
        proofs.extend(verdicts(tree, built.as_ref(), &inside, started)?);
    }
    Ok(proofs)
}

/// Runs the rules' own tests on the build of a mutated tree.
fn verdicts(
    tree: &Tree,
    built: std::result::Result<&Suites, &NotBuilt>,
    tasks: &[Task<'_>],
    started: Instant,
) -> Result<Vec<Proof>> {
    let verdicts: Vec<Result<Verdict>> = match built {
        Ok(suites) => several_at_once(tasks, |task| suites.run(&tree.root, task.test(), &[])),
        Err(NotBuilt(error)) => {
            println!("{error}");
            tasks.iter().map(|_| Ok(Verdict::NoBuild)).collect()
        }
    };
    let seconds = started.elapsed().as_secs_f64();
    let proof = |(task, verdict): (&Task<'_>, Result<Verdict>)| {
        Ok(Proof {
            rule: task.rule.id.clone(),
            mutation: task.mutation.to_owned(),
            verdict: verdict?,
            seconds,
        })
    };
    tasks.iter().zip(verdicts).map(proof).collect()
}

/// The file of verdicts of one commit.
struct Results(PathBuf);

impl Results {
    fn open(tree: &Tree) -> Result<Results> {
        Ok(Results(tree.results_file("results")?))
    }

    fn read(&self) -> Result<Vec<Proof>> {
        if !self.0.exists() {
            return Ok(Vec::new());
        }
        let text = std::fs::read_to_string(&self.0)?;
        let proof = |line: &str| {
            let mut parts = line.split('\t');
            Some(Proof {
                verdict: Verdict::of(parts.next()?)?,
                rule: parts.next()?.to_owned(),
                mutation: parts.next()?.to_owned(),
                seconds: parts.next()?.parse().ok()?,
            })
        };
        Ok(text.lines().filter_map(proof).collect())
    }

    fn append(&self, proof: &Proof) -> Result<()> {
        let Proof {
            rule,
            mutation,
            verdict,
            seconds,
        } = proof;
        let mut file = OpenOptions::new().create(true).append(true).open(&self.0)?;
        writeln!(file, "{}\t{rule}\t{mutation}\t{seconds:.1}", verdict.word())?;
        Ok(())
    }
}
