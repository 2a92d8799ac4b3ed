//! The product holds no hook for tests: no source of a product crate speaks of a mutation.

use std::path::{Path, PathBuf};

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
    let mut left: Vec<PathBuf> = folders.iter().map(|name| repository.join(name)).collect();
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                left.push(path);
            } else if path
                .extension()
                .is_some_and(|ending| ending == "rs" || ending == "toml")
            {
                let text = std::fs::read_to_string(&path)?.to_lowercase();
                for (number, line) in text.lines().enumerate() {
                    if WORDS.iter().any(|word| line.contains(word)) {
                        found.push(format!("{}:{}", path.display(), number + 1));
                    }
                }
            }
        }
    }
    found.sort();
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
        let room = tempfile::tempdir().unwrap();
        std::fs::create_dir(room.path().join("host")).unwrap();
        let file = room.path().join("host/lib.rs");
        std::fs::write(&file, "fn a() {}\nif crate::Mutation(1) {}\n").unwrap();
        let found = hooks(room.path(), &["host"]).unwrap();
        assert_eq!(found, [format!("{}:2", file.display())]);
    }
}
