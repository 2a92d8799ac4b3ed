//! That the contract's suite is whole: every rule has a test of its own and a break that turns it
//! red, every test of the suite belongs to a rule, and the page in docs says so.
#![allow(clippy::unwrap_used)]

#[path = "contract/page.rs"]
mod page;
#[path = "contract/rules.rs"]
mod rules;
#[path = "contract/sources.rs"]
mod sources;

use rules::Rules;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Whose tests are each named after a rule.
const SUITE: &str = "v3_contract::";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rules() -> Rules {
    Rules::read(&repository())
}

#[track_caller]
fn assert_none(what: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

#[test]
fn every_rule_has_its_own_name() {
    let (mut seen, rules) = (BTreeSet::new(), rules());
    let twice = rules.all().filter(|rule| !seen.insert(&rule.id));
    assert_none("named twice", twice.map(|rule| rule.id.clone()).collect());
}

#[test]
fn every_rule_has_a_test() {
    let rules = rules();
    let without = rules.all().filter(|rule| rule.tests.is_empty());
    assert_none(
        "without a test",
        without.map(|rule| rule.id.clone()).collect(),
    );
}

#[test]
fn every_test_that_a_rule_names_is_there() {
    let (rules, tests) = (rules(), sources::tests(&repository()));
    let named = rules.all().flat_map(|rule| &rule.tests);
    let missing = named.filter(|&test| !tests.contains(test));
    assert_none("no such test", missing.cloned().collect());
}

#[test]
fn every_test_of_the_suite_is_named_after_a_rule_that_names_it() {
    let (rules, tests) = (rules(), sources::tests(&repository()));
    let belongs = |test: &str| {
        let name = test.rsplit("::").next().unwrap();
        rules.all().any(|rule| {
            name.starts_with(&rule.prefix()) && rule.tests.iter().any(|named| named == test)
        })
    };
    let strays = tests
        .iter()
        .filter(|test| test.starts_with(SUITE) && !belongs(test));
    assert_none("tests of no rule", strays.cloned().collect());
}

#[test]
fn every_rule_has_a_break_or_says_why_it_has_none() {
    let rules = rules();
    let wrong = rules
        .all()
        .filter(|rule| rule.breaks.is_empty() != rule.unbroken.is_some());
    assert_none(
        "without a break",
        wrong.map(|rule| rule.id.clone()).collect(),
    );
}

#[test]
fn every_break_is_in_the_code() {
    let (rules, code) = (rules(), sources::breaks(&repository()));
    let named: BTreeSet<&String> = rules.all().flat_map(|rule| &rule.breaks).collect();
    let missing = named
        .iter()
        .filter(|name| !name.contains(':') && !code.contains(**name));
    assert_none("no such break", missing.map(|&name| name.clone()).collect());
}

#[test]
fn the_page_of_rules_is_up_to_date() {
    let path = repository().join("docs/contract-rules.md");
    let page = page::page(&rules());
    if std::env::var_os("CONTRACT_PAGE").is_some_and(|wish| wish == "write") {
        std::fs::write(path, page).unwrap();
        return;
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page,
        "docs/contract-rules.md is stale: scripts/check-contract --write"
    );
}
