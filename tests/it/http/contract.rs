//! The suites of both contracts and of the promises are complete. Every rule has its own test
//! and a mutation that turns it red. Every test of a suite belongs to a rule, and the pages in docs
//! list them.

#[path = "../../contract/choices.rs"]
mod choices;
#[path = "../../contract/page.rs"]
mod page;
#[path = "../../contract/rules.rs"]
mod rules;
#[path = "../../contract/sources.rs"]
mod sources;

use crate::common::wire::{self, Mutation};
use choices::Choices;
use rules::{CONTRACTS, Contract, Rules};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rules() -> Rules {
    Rules::read(&repository())
}

/// Returns the names of the patches.
fn patches() -> BTreeSet<String> {
    let names = std::fs::read_dir(repository().join("tests/mutations")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .map(|name| name.strip_suffix(".patch").unwrap_or(&name).to_owned())
        .collect()
}

/// Reports whether a test exists: a suite's by its name, any other by its file and function.
fn is_there(tests: &BTreeSet<String>, named: &str) -> bool {
    match named.contains('/') {
        true => sources::has_test(&repository(), named),
        false => tests.contains(named),
    }
}

#[track_caller]
fn assert_none(what: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

#[test]
fn every_rule_has_its_own_name() {
    let (mut unique, rules) = (BTreeSet::new(), rules());
    let twice = rules.all().filter(|rule| !unique.insert(&rule.id));
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
fn every_test_that_a_rule_names_exists() {
    let (rules, tests) = (rules(), sources::tests(&repository()));
    let named = rules.all().flat_map(|rule| &rule.tests);
    let missing = named.filter(|&test| !is_there(&tests, test));
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
fn every_rule_has_an_existing_mutation() {
    let (rules, patches) = (rules(), patches());
    let without = rules.all().filter(|rule| rule.mutations.is_empty());
    let without = without.map(|rule| rule.id.clone()).collect();
    assert_none("without a mutation", without);
    let is_there = |mutation: &str| match mutation.strip_prefix("patch:") {
        Some(patch) => patches.contains(patch),
        None => Mutation::parse(mutation).is_some(),
    };
    let named = rules.all().flat_map(|rule| &rule.mutations);
    let missing = named.filter(|&mutation| !is_there(mutation));
    assert_none("no such mutation", missing.cloned().collect());
}

#[test]
fn every_patch_is_a_rules() {
    let (rules, patches) = (rules(), patches());
    let named = rules.all().flat_map(|rule| &rule.mutations);
    let named: BTreeSet<&str> = named
        .filter_map(|name| name.strip_prefix("patch:"))
        .collect();
    let strays = patches
        .iter()
        .filter(|patch| !named.contains(patch.as_str()));
    assert_none("patches of no rule", strays.cloned().collect());
}

#[test]
fn every_patch_applies_to_the_product() {
    let applies = |patch: &String| {
        let git = Command::new("git")
            .args(["apply", "--check"])
            .arg(repository().join(format!("tests/mutations/{patch}.patch")))
            .current_dir(repository())
            .output()
            .unwrap();
        git.status.success()
    };
    let patches = patches();
    let stale = patches.iter().filter(|patch| !applies(patch));
    assert_none("patches that do not apply", stale.cloned().collect());
}

#[test]
fn a_wire_mutation_reaches_the_client() {
    let server = crate::common::server::start().go();
    let through = |mutation: &str| {
        let mutation = Mutation::parse(mutation).unwrap();
        let mut client = server.demo();
        client.address = wire::proxy(server.address, mutation);
        client.post("/v3/simple-value", &crate::common::demo::house())
    };
    let answer = through("status:404:418");
    assert!(answer.ok()["valuation"]["range"].is_object(), "{answer:?}");
    assert!(answer.header("x-service-request-id").is_some());
    assert_eq!(through("status:200:418").status, 418);
    assert!(through("member:range").ok()["valuation"]["range"].is_null());
    assert_eq!(through("word:valued").ok()["status"], "misspelt");
    let answer = through("header:X-Service-Request-Id");
    assert_eq!(answer.header("x-service-request-id"), None);
    assert_eq!(through("field:/size/bedrooms").status, 422);
}

fn rendered(contract: &Contract) -> String {
    let rules = Rules::of(contract, &repository());
    page::page(contract, &rules, &choices(), &repository())
}

/// Returns a cell of a rule's row on the page of v3.
fn cell(id: &str, column: usize) -> String {
    cell_of(&CONTRACTS[0], id, column)
}

fn cell_of(contract: &Contract, id: &str, column: usize) -> String {
    let page = rendered(contract);
    let is_of_rule = |line: &&str| line.contains(&format!("| `{id}` |"));
    let row = page.lines().find(is_of_rule).unwrap();
    row.split('|').nth(column + 1).unwrap().trim().to_owned()
}

#[test]
fn a_rule_names_the_files_that_its_patches_change() {
    assert_eq!(cell("options-4", 2), "`host/contract/src/v3/options.rs`");
    // A mutation of the wire changes no file.
    assert_eq!(cell_of(&CONTRACTS[1], "v1-limits-2", 2), "");
}

#[test]
fn a_rule_links_to_the_rows_of_choices_that_share_a_test_with_it() {
    let (defaults, resolution) = (
        "[Defaults](../contract.md#options)",
        "[Resolution](../contract.md#options)",
    );
    assert_eq!(cell("options-2", 5), format!("{defaults}<br>{resolution}"));
    assert_eq!(cell("error-500-panic", 5), "");
}

#[test]
fn the_pages_of_rules_are_up_to_date() {
    for contract in &CONTRACTS {
        let path = repository().join(contract.page);
        let page = rendered(contract);
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
fn every_open_point_and_every_choice_has_an_existing_test() {
    let (choices, tests) = (choices(), sources::tests(&repository()));
    assert!(choices.open.iter().all(|open| !open.says.is_empty()));
    let (mut without, mut missing, mut unique) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (name, named) in choices.all() {
        assert!(unique.insert(name.clone()), "{name} stands twice");
        if named.is_empty() {
            without.push(name.clone());
        }
        let gone = named.iter().filter(|test| !is_there(&tests, test));
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
