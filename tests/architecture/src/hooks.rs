//! The product holds no hook for tests: no source of a product crate speaks of a mutation.

use crate::walk;
use std::path::Path;

/// The folders of the product's crates.
pub const PRODUCT: [&str; 3] = ["host", "sdk", "models"];
/// Words that a hook cannot do without.
const WORDS: [&str; 2] = ["mutation", "mutant"];

/// Returns `file:line` of each line that speaks of a mutation.
///
/// # Errors
/// Where a folder or a file cannot be read.
pub fn hooks(repository: &Path, folders: &[&str]) -> std::io::Result<Vec<String>> {
    let mut found = Vec::new();
    for folder in folders {
        for file in walk::files(&repository.join(folder), &[])? {
            if !walk::has_ending(&file, &["rs", "toml"]) {
                continue;
            }
            let text = std::fs::read_to_string(&file)?.to_lowercase();
            for (number, line) in text.lines().enumerate() {
                if WORDS.iter().any(|word| line.contains(word)) {
                    found.push(format!("{}:{}", file.display(), number + 1));
                }
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_product_file_mentions_a_mutation() {
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
}
