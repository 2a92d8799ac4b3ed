//! That the suites of both contracts, and of what is promised beyond them, are whole: every rule has a test of its own and a break that turns it
//! red, every test of the suite belongs to a rule, and the pages in docs say so.
#![allow(clippy::unwrap_used)]

#[path = "contract/choices.rs"]
mod choices;
#[cfg(not(feature = "breaks"))]
mod common;
#[path = "contract/page.rs"]
mod page;
#[path = "contract/rules.rs"]
mod rules;
#[path = "contract/sources.rs"]
mod sources;

use choices::Choices;
use rules::{CONTRACTS, Rules};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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
fn every_test_of_a_suite_is_named_after_a_rule_that_names_it() {
    let tests = sources::tests(&repository());
    for contract in &CONTRACTS {
        let rules = Rules::of(contract, &repository());
        let belongs = |test: &str| {
            let name = test.rsplit("::").next().unwrap();
            rules.all().any(|rule| {
                name.starts_with(&rule.prefix()) && rule.tests.iter().any(|named| named == test)
            })
        };
        let Some(suite) = contract.suite else {
            continue;
        };
        let suite = format!("{suite}::");
        let strays = tests
            .iter()
            .filter(|test| test.starts_with(&suite) && !belongs(test));
        let what = format!("tests of no rule of {}", contract.name);
        assert_none(&what, strays.cloned().collect());
    }
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
fn every_break_is_in_the_code_and_every_one_in_the_code_is_a_rules() {
    let (rules, code) = (rules(), sources::breaks(&repository()));
    let named: BTreeSet<&String> = rules.all().flat_map(|rule| &rule.breaks).collect();
    let missing = named
        .iter()
        .filter(|name| !name.contains(':') && !code.contains(**name));
    assert_none("no such break", missing.map(|&name| name.clone()).collect());
    let strays = code.iter().filter(|name| !named.contains(name));
    assert_none("breaks of no rule", strays.cloned().collect());
}

#[test]
fn the_pages_of_rules_are_up_to_date() {
    for contract in &CONTRACTS {
        let path = repository().join(contract.page);
        let page = page::page(contract, &Rules::of(contract, &repository()));
        if std::env::var_os("CONTRACT_PAGE").is_some_and(|wish| wish == "write") {
            std::fs::write(path, page).unwrap();
            continue;
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == page,
            "{} is stale: scripts/check-contract --write",
            contract.page
        );
    }
}

fn choices() -> Choices {
    Choices::read(&repository())
}

#[test]
fn every_open_point_and_every_choice_has_a_test_that_is_there() {
    let (choices, tests) = (choices(), sources::tests(&repository()));
    assert!(choices.open.iter().all(|open| !open.says.is_empty()));
    let (mut without, mut missing, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (name, named) in choices.all() {
        assert!(seen.insert(name.clone()), "{name} stands twice");
        if named.is_empty() {
            without.push(name.clone());
        }
        let there = |test: &str| match test.contains('/') {
            true => sources::has_test(&repository(), test),
            false => tests.contains(test),
        };
        let gone = named.iter().filter(|test| !there(test));
        missing.extend(gone.map(|test| format!("{test} of {name}")));
    }
    assert_none("without a test", without);
    assert_none("no such test", missing);
}

#[test]
fn the_choices_are_those_of_the_page() {
    let page = std::fs::read_to_string(repository().join("docs/contract.md")).unwrap();
    let rows = choices::rows(&page);
    let choices = choices();
    let listed: BTreeSet<String> = choices.all().map(|(name, _)| name).collect();
    let unlisted = rows.difference(&listed);
    assert_none(
        "rows without tests in choices.toml",
        unlisted.cloned().collect(),
    );
    let open: BTreeSet<&String> = choices.open.iter().map(|open| &open.id).collect();
    let gone = listed.difference(&rows).filter(|name| !open.contains(name));
    assert_none(
        "choices without a row in docs/contract.md",
        gone.cloned().collect(),
    );
}

#[cfg(not(feature = "breaks"))]
#[test]
fn an_ordinary_build_knows_no_breaks() {
    const BREAK: &str = "DOMESDAY_BREAK";
    let Some(_) = std::env::var_os(BREAK) else {
        // A test may not change its own surroundings, so it runs itself again in others.
        for wished in ["status:200:418", "answer:release_id", "options-8"] {
            let mut again = std::process::Command::new(std::env::current_exe().unwrap());
            again.args(["--exact", "an_ordinary_build_knows_no_breaks"]);
            let ran = again.env(BREAK, wished).output().unwrap();
            assert!(ran.status.success(), "{wished}: {ran:?}");
        }
        return;
    };
    let server = common::server::start().go();
    let mut request = common::demo::house();
    request["options"] = serde_json::json!({"include_comparables": true});
    let result = server.demo().post("/v3/simple-value", &request).ok();
    assert!(result["release_id"].is_string() && result.get("comparables").is_none());
}
