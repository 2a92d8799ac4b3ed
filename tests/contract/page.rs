//! The page that shows which test holds which rule, and which file decides it.

use super::rules::{Contract, Rule, Rules};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// Renders the page of one contract.
pub fn page(contract: &Contract, rules: &Rules, repository: &Path) -> String {
    let mut page = format!(
        "# {}\n\n\
        Generated from `{}` by `scripts/check-contract --write`; the test \
        command fails where\nthe two differ. `docs/testing.md` says how tests and mutations work \
        together. Tests are named\n`binary::suite::module::test`; the first is the rule's own. The files that \
        decide a rule are those\nthat its patches change.\n",
        contract.title, contract.list,
    );
    for section in &rules.section {
        write!(page, "\n## {}\n\n", section.title).unwrap();
        page += "| Rule | What it says | Decided in | Tests | Mutations |\n|---|---|---|---|---|\n";
        for rule in &section.rule {
            page += &row(rule, repository);
        }
    }
    page
}

fn row(rule: &Rule, repository: &Path) -> String {
    let says = rule.says.replace('|', "\\|");
    format!(
        "| `{}` | {says} | {} | {} | {} |\n",
        rule.id,
        code(&deciding_files(rule, repository)),
        code(&rule.tests),
        code(&rule.mutations)
    )
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
