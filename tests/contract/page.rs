//! The page that shows which test holds which rule.

use crate::rules::{Contract, Rule, Rules};
use std::fmt::Write;

/// The page of one contract.
pub fn page(contract: &Contract, rules: &Rules) -> String {
    let mut page = format!(
        "# {}\n\n\
        Generated from `{}` by `scripts/check-contract --write`; the test \
        command fails where\nthe two differ. `docs/testing.md` says how tests and breaks work \
        together. Tests are named\n`suite::module::test`; the first is the rule's own.\n",
        contract.title, contract.list,
    );
    for section in &rules.section {
        write!(page, "\n## {}\n\n", section.title).unwrap();
        page += "| Rule | What it says | Tests | Breaks |\n|---|---|---|---|\n";
        for rule in &section.rule {
            page += &row(rule);
        }
    }
    page
}

fn row(rule: &Rule) -> String {
    let breaks = match &rule.unbroken {
        Some(reason) => format!("none: {reason}"),
        None => code(&rule.breaks),
    };
    let says = rule.says.replace('|', "\\|");
    format!(
        "| `{}` | {says} | {} | {breaks} |\n",
        rule.id,
        code(&rule.tests)
    )
}

fn code(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join("<br>")
}
