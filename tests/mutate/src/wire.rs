//! Wire mutations: a proxy in the suites applies them, so one build serves all.

use crate::suites::{Suites, red_without, several_at_once};
use crate::task::Task;
use crate::verdict::Proof;
use anyhow::{Result, anyhow, ensure};
use std::path::Path;

/// The variable that the suites read; see `tests/common/wire.rs`.
const VARIABLE: &str = "DOMESDAY_WIRE_MUTATION";

/// Applies each mutation and runs the rule's own test.
pub fn prove(repository: &Path, tasks: &[Task<'_>]) -> Result<Vec<Proof>> {
    let tests: Vec<&str> = tasks.iter().map(Task::test).collect();
    let target = repository.join("target");
    let suites = Suites::build(repository, &target, &tests)?.map_err(|error| anyhow!(error.0))?;
    let red = red_without(&suites, repository, &tests.into_iter().collect())?;
    ensure!(red.is_empty(), "red without a mutation: {red:#?}");
    println!("{:<9} {:<36} {:<40} {:>6}", "", "rule", "mutation", "s");
    several_at_once(tasks, |task| {
        let proof = suites.prove(repository, task, (VARIABLE, task.mutation))?;
        println!("{proof}");
        Ok(proof)
    })
    .into_iter()
    .collect()
}
