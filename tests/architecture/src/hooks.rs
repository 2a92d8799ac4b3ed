//! The product holds no hook for tests: no source of a product crate speaks of a mutation, and no
//! flag is hidden from the help.

use crate::walk;
use std::path::Path;

/// The folders of the product's crates.
pub const PRODUCT: [&str; 3] = ["host", "sdk", "models"];
/// Words of a hook. A hidden flag is one: nobody but a test knows it.
const WORDS: [&str; 4] = ["mutation", "mutant", "hide = true", "hide(true)"];

/// Returns `file:line` of each line that speaks of a mutation or hides a flag.
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
