//! The list of rules, read.

use serde::Deserialize;
use std::path::Path;

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
    /// What it says, in our own words.
    pub says: String,
    /// The tests that hold it, as `suite::module::function`; the first is its own.
    pub tests: Vec<String>,
    /// Named breaks, each of which must turn one of the tests red.
    pub breaks: Vec<String>,
    /// Why there is no break, where there can be none.
    pub unbroken: Option<String>,
}

impl Rules {
    /// Reads `tests/contract/rules.toml` of this repository.
    pub fn read(repository: &Path) -> Rules {
        let path = repository.join("tests/contract/rules.toml");
        let text = std::fs::read_to_string(path).unwrap();
        toml::from_str(&text).unwrap()
    }

    /// All rules in order.
    pub fn all(&self) -> impl Iterator<Item = &Rule> {
        self.section.iter().flat_map(|section| &section.rule)
    }
}

impl Rule {
    /// How the names of the rule's own tests begin.
    pub fn prefix(&self) -> String {
        self.id.replace('-', "_") + "_"
    }
}
