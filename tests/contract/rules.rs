//! Reads the lists of rules: one for each contract, and one of promises beyond the contracts.

use serde::Deserialize;
use std::path::Path;

/// A list: what it is called, and where its rules and their tests stand.
pub struct Contract {
    /// Its name.
    pub name: &'static str,
    /// The title of its page.
    pub title: &'static str,
    /// The list of its rules.
    pub list: &'static str,
    /// The page that is generated from it.
    pub page: &'static str,
    /// The suite whose tests are each named after one of its rules, where there is such a suite.
    pub suite: Option<&'static str>,
}

/// Both contracts, and the promises to who makes and audits releases.
pub const CONTRACTS: [Contract; 3] = [
    Contract {
        name: "v3",
        title: "The rules of the v3 contract and their tests",
        list: "tests/contract/rules.toml",
        page: "docs/reference/contract-rules.md",
        suite: Some("http::v3_contract"),
    },
    Contract {
        name: "v1",
        title: "The rules of the v1 contract and their tests",
        list: "tests/contract/rules-v1.toml",
        page: "docs/reference/contract-rules-v1.md",
        suite: Some("http::v1_contract"),
    },
    Contract {
        name: "promises",
        title: "Guarantees",
        list: "tests/contract/promises.toml",
        page: "docs/reference/guarantees.md",
        suite: None,
    },
];

/// All rules, by section of the contract.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// The sections.
    pub section: Vec<Section>,
}

/// A section of the contract.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Its title.
    pub title: String,
    /// Its rules, in its order.
    pub rule: Vec<Rule>,
}

/// A rule, a row of a table, a state or a limit.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its stable name.
    pub id: String,
    /// The rule, as the project states it.
    pub says: String,
    /// The tests that hold it, as `binary::suite::module::function`; the first is its own.
    pub tests: Vec<String>,
    /// Mutations, each of which must turn the rule's own test red: `patch:NAME` of
    /// `tests/mutations/NAME.patch`, or a mutation of the wire (`tests/common/wire.rs`).
    pub mutations: Vec<String>,
}

impl Rules {
    /// Reads the rules of one contract from this repository.
    pub fn of(contract: &Contract, repository: &Path) -> Rules {
        let text = std::fs::read_to_string(repository.join(contract.list)).unwrap();
        toml::from_str(&text).unwrap()
    }

    /// Reads the rules of all lists.
    pub fn read(repository: &Path) -> Rules {
        let lists = CONTRACTS.iter();
        let lists = lists.flat_map(|contract| Rules::of(contract, repository).section);
        Rules {
            section: lists.collect(),
        }
    }

    /// Returns all rules in order.
    pub fn all(&self) -> impl Iterator<Item = &Rule> {
        self.section.iter().flat_map(|section| &section.rule)
    }
}

impl Rule {
    /// Returns the prefix of the names of the rule's own tests.
    pub fn prefix(&self) -> String {
        self.id.replace('-', "_") + "_"
    }
}
