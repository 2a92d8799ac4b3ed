//! Mutants that no test can catch, because nothing that can be observed differs.
//!
//! `docs/reference/mutants.md` shows the list.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The list, within the repository.
const LIST: &str = "tests/mutate/explained.toml";

/// Reads the reasons of these mutants, by the mutant's name without its line and column.
///
/// # Errors
/// The list cannot be read.
pub fn read(repository: &Path) -> Result<BTreeMap<String, String>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Explanation {
        mutant: String,
        reason: String,
    }
    #[derive(Deserialize)]
    struct List {
        #[serde(default)]
        explained: Vec<Explanation>,
    }
    let text = std::fs::read_to_string(repository.join(LIST))
        .with_context(|| format!("cannot read {LIST}"))?;
    let list: List = toml::from_str(&text).with_context(|| format!("cannot read {LIST}"))?;
    let pairs = list.explained.into_iter();
    Ok(pairs.map(|it| (it.mutant, it.reason)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders the page: a section a crate, and a row a mutant.
    fn page(explained: &BTreeMap<String, String>) -> String {
        let mut page = format!(
            "# Mutants that no test can catch\n\n\
            Generated from `{LIST}` by `scripts/check-contract --write`; the test command\n\
            fails where the two differ. Nothing that can be observed differs under these mutants \
            of\ncargo-mutants, so `scripts/test-mutants` does not count them as missed. \
            [Testing](../testing.md#mutations)\ndescribes the sample.\n",
        );
        let mut section = "";
        for (mutant, reason) in explained {
            let (file, change) = mutant.split_once(": ").unwrap();
            let (folder, _) = file.split_once("/src/").unwrap();
            if folder != section {
                section = folder;
                page += &format!("\n## {folder}\n\n| File | Mutant | Reason |\n|---|---|---|\n");
            }
            let change = change.replace('|', "\\|");
            page += &format!("| `{file}` | `{change}` | {reason} |\n");
        }
        page
    }

    #[test]
    fn the_page_of_mutants_is_up_to_date() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let path = repository.join("docs/reference/mutants.md");
        let page = page(&read(&repository).unwrap());
        if std::env::var_os("CONTRACT_PAGE").is_some_and(|wish| wish == "write") {
            std::fs::write(path, page).unwrap();
            return;
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == page,
            "docs/reference/mutants.md is stale: scripts/check-contract --write"
        );
    }
}
