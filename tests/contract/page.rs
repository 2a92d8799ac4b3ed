//! The page that shows which test holds which rule, and which file decides it.

use super::choices::Choices;
use super::rules::{Contract, Rule, Rules};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// The sentence about the column of choices.
const CHOICES: &str = " Its choices are the rows of `docs/contract.md` that share a test with it.";

/// Renders the page of one contract. That of the promises has no choices, since they leave nothing
/// open.
pub fn page(contract: &Contract, rules: &Rules, choices: &Choices, repository: &Path) -> String {
    let choices = contract.suite.map(|_| choices);
    let mut page = format!(
        "# {}\n\n\
        Generated from `{}` by `scripts/check-contract --write`; the test \
        command fails where\nthe two differ. `docs/testing.md` says how tests and mutations work \
        together. Tests are named\n`binary::suite::module::test`; the first is the rule's own. The files that \
        decide a rule are those\nthat its patches change.{}\n",
        contract.title,
        contract.list,
        choices.map_or("", |_| CHOICES),
    );
    for section in &rules.section {
        write!(page, "\n## {}\n\n", section.title).unwrap();
        page += "| Rule | What it says | Decided in | Tests | Mutations |";
        page += choices.map_or(
            "\n|---|---|---|---|---|\n",
            |_| " Choices |\n|---|---|---|---|---|---|\n",
        );
        for rule in &section.rule {
            page += &row(rule, choices, repository);
        }
    }
    page
}

fn row(rule: &Rule, choices: Option<&Choices>, repository: &Path) -> String {
    let says = rule.says.replace('|', "\\|");
    let links = choices.map(|choices| format!(" {} |", links(rule, choices)));
    format!(
        "| `{}` | {says} | {} | {} | {} |{}\n",
        rule.id,
        code(&deciding_files(rule, repository)),
        code(&rule.tests),
        code(&rule.mutations),
        links.unwrap_or_default(),
    )
}

/// Returns links to the rows of `docs/contract.md` whose choices share a test with the rule.
fn links(rule: &Rule, choices: &Choices) -> String {
    let links = choices.section.iter().flat_map(|section| {
        let shares = |tests: &[String]| tests.iter().any(|test| rule.tests.contains(test));
        let chosen = section.choice.iter();
        let chosen = chosen.filter(move |choice| shares(&choice.tests));
        chosen.map(|choice| {
            let anchor = anchor(&section.title);
            format!("[{}](../contract.md#{anchor})", choice.point)
        })
    });
    links.collect::<Vec<_>>().join("<br>")
}

/// Returns the anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let heading = heading.to_lowercase().replace(' ', "-");
    heading.replace(|c: char| !c.is_alphanumeric() && c != '-' && c != '_', "")
}

/// Returns the files that the rule's patches change, in order.
fn deciding_files(rule: &Rule, repository: &Path) -> Vec<String> {
    let mut files = BTreeSet::new();
    for patch in rule
        .mutations
        .iter()
        .filter_map(|name| name.strip_prefix("patch:"))
    {
        let path = repository.join(format!("tests/mutations/{patch}.patch"));
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let changed = text.lines().filter_map(|line| line.strip_prefix("+++ b/"));
        files.extend(changed.map(str::to_owned));
    }
    files.into_iter().collect()
}

fn code(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join("<br>")
}
