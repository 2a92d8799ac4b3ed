//! The page that shows which test holds which rule.

use super::rules::{Contract, Rule, Rules};
use std::fmt::Write;

/// Renders the page of one contract.
pub fn page(contract: &Contract, rules: &Rules) -> String {
    let mut page = format!(
        "# {}\n\n\
        Generated from `{}` by `scripts/check-contract --write`; the test \
        command fails where\nthe two differ. `docs/testing.md` says how tests and mutations work \
        together. Tests are named\n`binary::suite::module::test`; the first is the rule's own.\n",
        contract.title, contract.list,
    );
    for section in &rules.section {
        write!(page, "\n## {}\n\n", section.title).unwrap();
        page += "| Rule | What it says | Tests | Mutations |\n|---|---|---|---|\n";
        for rule in &section.rule {
            page += &row(rule);
        }
    }
    page
}

fn row(rule: &Rule) -> String {
    let says = rule.says.replace('|', "\\|");
    format!(
        "| `{}` | {says} | {} | {} |\n",
        rule.id,
        code(&rule.tests),
        code(&rule.mutations)
    )
}

fn code(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join("<br>")
}
