//! The text of an error says what failed: where it prints a path or another error, it has a verb.

use crate::walk;
use regex::Regex;
use std::path::Path;

/// Words that say what failed.
const VERBS: &str = "are|begins|belongs|breaks|cannot|contradicts|could|did|does|exists|failed|\
    found|has|have|holds|invalid|is|must|names|not|redirected|sends|unavailable|was|were";
/// Placeholders of a path or another error.
const PRINTS: &str = r"\{(?:0|error|file|folder|path|problem|reason|source)\}|\.display\(\)";
/// Texts that need no verb: an error and no more, a flag before one, a location before a sentence.
const SENTENCES: &str = r"^\{(?:0|error)\}|^--[a-z-]+:? \{0\}$|\{(?:diagnosis|flaw|kind)\}$";
/// Texts whose error is a sentence, though its name does not say so.
const ALLOWED: [&str; 1] = ["{place}: {problem}"];

/// Returns `file:line: text` of each text of an error below the folders that prints a path or
/// another error without a verb.
///
/// # Errors
/// A file cannot be read.
pub fn verbless(
    repository: &Path,
    folders: &[&str],
) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let attribute = Regex::new(r#"(?s)#\[error\(\s*"((?:[^"\\]|\\.)*)"([^\]]*)\]"#)?;
    let (continued, placeholder) = (Regex::new(r"\\\n\s*")?, Regex::new(r"\{[^}]*\}")?);
    let (verb, prints, sentence) = (
        Regex::new(&format!(r"(?i)\b(?:{VERBS})\b"))?,
        Regex::new(PRINTS)?,
        Regex::new(SENTENCES)?,
    );
    let mut found = Vec::new();
    for folder in folders {
        for path in walk::files(&repository.join(folder), &["target"])? {
            if !walk::has_ending(&path, &["rs"]) {
                continue;
            }
            let source = std::fs::read_to_string(&path)?;
            for error in attribute.captures_iter(&source) {
                let text = continued.replace_all(&error[1], "");
                let has_verb = verb.is_match(&placeholder.replace_all(&text, ""));
                let is_printing = prints.is_match(&text) || prints.is_match(&error[2]);
                let is_allowed = sentence.is_match(&text) || ALLOWED.contains(&&*text);
                if is_printing && !has_verb && !is_allowed {
                    let start = error.get(0).map_or(0, |whole| whole.start());
                    let line = 1 + source[..start].matches('\n').count();
                    found.push(format!("{}:{line}: {text}", path.display()));
                }
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::PRODUCT;

    #[test]
    fn an_error_that_prints_a_path_or_another_error_says_what_failed() {
        let found = verbless(&crate::repository(), &PRODUCT).unwrap();
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    #[test]
    fn a_text_without_a_verb_is_found_and_no_other() {
        let bare = [
            r#"#[error("{}: {source}", path.display())]"#,
            r#"#[error("{path}: {source}")]"#,
            r#"#[error("{path}")]"#,
            "#[error(\n    \"the log of {path}: \\\n     {source}\"\n)]",
        ];
        let sound = [
            r#"#[error("cannot read {path}: {source}")]"#,
            r#"#[error("{path} is not a \"directory\": {problem}")]"#,
            r#"#[error("{}: {kind}", path.display())]"#,
            r#"#[error("--listen: {0}")]"#,
            r#"#[error("{0}")]"#,
            r#"#[error("timed out after {seconds} s")]"#,
            "#[error(transparent)]",
        ];
        let repository = tempfile::tempdir().unwrap();
        let text = [bare.join("\n"), sound.join("\n")].join("\n");
        std::fs::write(repository.path().join("lib.rs"), text).unwrap();
        let found = verbless(repository.path(), &["."]).unwrap();
        assert_eq!(found.len(), bare.len(), "{found:?}");
        assert!(found[2].ends_with("lib.rs:3: {path}"), "{found:?}");
        assert!(found[3].ends_with("lib.rs:4: the log of {path}: {source}"));
    }
}
