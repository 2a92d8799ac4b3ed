//! Wire mutations: a proxy in the suites applies them, so one build serves all.

use crate::suites::{RUN, Suites, red_without, several_at_once, shared_run};
use crate::task::Task;
use crate::verdict::Proof;
use anyhow::{Result, anyhow, ensure};
use std::path::Path;

/// The variable that the suites read; see `tests/common/wire.rs`.
const VARIABLE: &str = "DOMESDAY_WIRE_MUTATION";

/// Applies each mutation and runs the rule's own test. The server itself is not changed, so that
/// all tests share one.
///
/// # Errors
/// The tests cannot be built or run, or one is red without a mutation.
pub fn prove(repository: &Path, tasks: &[Task<'_>]) -> Result<Vec<Proof>> {
    let run = shared_run();
    let tests: Vec<&str> = tasks.iter().map(Task::test).collect();
    let target = repository.join("target");
    let suites = Suites::build(repository, &target, &tests)?.map_err(|error| anyhow!(error.0))?;
    let red = red_without(&suites, repository, &tests.into_iter().collect(), &run)?;
    ensure!(red.is_empty(), "red without a mutation: {red:#?}");
    println!("{:<9} {:<36} {:<40} {:>6}", "", "rule", "mutation", "s");
    several_at_once(tasks, |task| {
        let selected = [(VARIABLE, task.mutation), (RUN, &*run)];
        let proof = suites.prove(repository, task, &selected)?;
        println!("{proof}");
        Ok(proof)
    })
    .into_iter()
    .collect()
}
