//! Points that the contract leaves open, the choices, and their tests.

use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

/// All open points and choices.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choices {
    /// The points that the contract itself leaves open.
    pub open: Vec<OpenPoint>,
    /// The sections of `docs/contract.md`.
    pub section: Vec<Section>,
}

/// A point that the contract leaves open.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenPoint {
    /// Its stable name.
    pub id: String,
    /// The open point, as the project states it.
    pub says: String,
    /// The tests of the choice.
    pub tests: Vec<String>,
}

/// A section with tables of choices.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// A choice for each row.
    pub choice: Vec<Choice>,
}

/// A row of a table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Its first cell.
    pub point: String,
    /// Its tests.
    pub tests: Vec<String>,
}

impl Choices {
    /// Reads `tests/contract/choices.toml` of this repository.
    pub fn read(repository: &Path) -> Choices {
        let path = repository.join("tests/contract/choices.toml");
        toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    /// Returns the names of points with their tests.
    pub fn all(&self) -> impl Iterator<Item = (String, &[String])> {
        let open = self.open.iter();
        let open = open.map(|open| (open.id.clone(), &*open.tests));
        let chosen = self.section.iter().flat_map(|section| {
            let named = |choice: &Choice| choice_name(&section.title, &choice.point);
            let choices = section.choice.iter();
            choices.map(move |choice| (named(choice), &*choice.tests))
        });
        open.chain(chosen)
    }
}

fn choice_name(section: &str, point: &str) -> String {
    format!("{section}: {point}")
}

/// Returns the rows of all tables of a page, named as [`Choices::all`] names them.
pub fn rows(page: &str) -> BTreeSet<String> {
    let (mut rows, mut section, mut body) = (BTreeSet::new(), "", false);
    for line in page.lines() {
        if let Some(title) = line.strip_prefix('#') {
            section = title.trim_start_matches('#').trim();
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        match cells[..] {
            ["", rule, ..] if rule.starts_with("--") => body = true,
            ["", point, _, ..] if body => {
                rows.insert(choice_name(section, point));
            }
            ["", ..] if line.starts_with('|') => {}
            _ => body = false,
        }
    }
    rows
}
