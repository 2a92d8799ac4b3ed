//! The product holds no hook for tests. No source of a product crate speaks of a mutation, and no
//! flag is hidden from the help. No field and no statement is compiled for tests alone.

use crate::walk;
use std::path::Path;

/// The folders of the product's crates.
pub const PRODUCT: [&str; 3] = ["host", "sdk", "models"];
/// Words of a hook. A hidden flag is one: nobody but a test knows it.
const WORDS: [&str; 4] = ["mutation", "mutant", "hide = true", "hide(true)"];

/// Begins code that is compiled for tests alone.
const FOR_TESTS: &str = "#[cfg(test)]";
/// Begin items that may be for tests alone. A field, a statement or an arm of a match may not.
const ITEMS: [&str; 11] = [
    "mod ",
    "use ",
    "extern crate",
    "fn ",
    "impl",
    "const ",
    "static ",
    "struct ",
    "enum ",
    "trait ",
    "type ",
];

/// Returns `file:line` of each line that speaks of a mutation or hides a flag. Lines before a field
/// or a statement that is compiled for tests alone are among them.
///
/// # Errors
/// A folder or a file cannot be read.
pub fn hooks(repository: &Path, folders: &[&str]) -> std::io::Result<Vec<String>> {
    let mut found = Vec::new();
    for folder in folders {
        for file in walk::files(&repository.join(folder), &[])? {
            if !walk::has_ending(&file, &["rs", "toml"]) {
                continue;
            }
            let text = std::fs::read_to_string(&file)?.to_lowercase();
            let mut lines = text.lines().enumerate().peekable();
            while let Some((number, line)) = lines.next() {
                let next = lines.peek().map_or("", |(_, next)| next.trim_start());
                let is_hook = line.trim() == FOR_TESTS && !begins_item(next);
                if is_hook || WORDS.iter().any(|word| line.contains(word)) {
                    found.push(format!("{}:{}", file.display(), number + 1));
                }
            }
        }
    }
    Ok(found)
}

/// Returns whether a line begins an item, an attribute or a comment.
fn begins_item(line: &str) -> bool {
    let rest = match line.strip_prefix("pub") {
        Some(visible) => visible.split_once(' ').map_or("", |(_, rest)| rest),
        None => line,
    };
    ["#", "/"].iter().any(|sign| line.starts_with(sign))
        || ITEMS.iter().any(|item| rest.starts_with(item))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_product_file_has_a_hook() {
        assert_eq!(
            hooks(&crate::repository(), &PRODUCT).unwrap(),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_hook_is_found() {
        let repository = tempfile::tempdir().unwrap();
        std::fs::create_dir(repository.path().join("host")).unwrap();
        let file = repository.path().join("host/lib.rs");
        std::fs::write(&file, "fn a() {}\nif crate::Mutation(1) {}\n").unwrap();
        let found = hooks(repository.path(), &["host"]).unwrap();
        assert_eq!(found, [format!("{}:2", file.display())]);
    }

    #[test]
    fn a_field_and_a_statement_for_tests_are_found_and_an_item_is_none() {
        let repository = tempfile::tempdir().unwrap();
        let text = "#[cfg(test)]\npub(crate) mod tests;\n#[cfg(test)]\npub(super) disk: Disk,\n\
            #[cfg(test)]\nif self.fails {}\n#[cfg(test)]\n#[derive(Debug)]\nstruct A;\n";
        std::fs::write(repository.path().join("lib.rs"), text).unwrap();
        let found = hooks(repository.path(), &["."]).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].ends_with("lib.rs:3") && found[1].ends_with("lib.rs:5"));
    }

    #[test]
    fn a_hidden_flag_is_found() {
        let repository = tempfile::tempdir().unwrap();
        let file = repository.path().join("lib.rs");
        let text = "#[arg(long, hide_env_values = true)]\n#[arg(long, hide = true)]\n.hide(true)\n";
        std::fs::write(&file, text).unwrap();
        let found = hooks(repository.path(), &["."]).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].ends_with("lib.rs:2") && found[1].ends_with("lib.rs:3"));
    }
}
