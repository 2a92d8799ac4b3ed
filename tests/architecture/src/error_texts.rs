//! The text of an error says what failed: where it prints a path or another error, it has a verb.
//! The context of an error has a verb too, since the error follows it.

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
/// Texts whose error is a sentence, though its name does not say so, and one in the imperative.
const ALLOWED: [&str; 2] = [
    "{place}: {problem}",
    "name a release, or a journal with --journal",
];
/// The code before the text of a context, or before the constant that holds the text. A constant is
/// the name of a thing, so it needs words around it.
const CONTEXT: &str = r"context\((?:\|\|\s*\{?\s*format!\()?|subject = \|\| format!\(";

/// Returns `file:line: text` of each text without a verb below the folders, among those of errors
/// that print a path or another error, and of contexts. A context may also begin with a flag.
///
/// # Errors
/// A file cannot be read.
pub fn verbless(
    repository: &Path,
    folders: &[&str],
) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let attribute = Regex::new(r#"(?s)#\[error\(\s*"((?:[^"\\]|\\.)*)"([^\]]*)\]"#)?;
    let context = Regex::new(&format!(
        r#"(?s)(?:{CONTEXT})\s*(?:"((?:[^"\\]|\\.)*)"|([A-Z][A-Z_]+)\))"#
    ))?;
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
            let says_what_failed = |text: &str| {
                verb.is_match(&placeholder.replace_all(text, "")) || ALLOWED.contains(&text)
            };
            let mut report = |start: usize, text: &str| {
                let line = 1 + source[..start].matches('\n').count();
                found.push(format!("{}:{line}: {text}", path.display()));
            };
            for error in attribute.captures_iter(&source) {
                let text = continued.replace_all(&error[1], "");
                let is_printing = prints.is_match(&text) || prints.is_match(&error[2]);
                if is_printing && !says_what_failed(&text) && !sentence.is_match(&text) {
                    report(error.get_match().start(), &text);
                }
            }
            for one in context.captures_iter(&source) {
                let text = one.get(1).or(one.get(2)).map_or("", |text| text.as_str());
                let text = continued.replace_all(text, "");
                if !says_what_failed(&text) && !text.starts_with("--") {
                    report(one.get_match().start(), &text);
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
    fn an_error_that_prints_a_path_or_another_error_and_a_context_say_what_failed() {
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

    #[test]
    fn a_context_without_a_verb_is_found_and_no_other() {
        let bare = [
            r#"open().context("TLS")?;"#,
            "open().context(DATA_FOLDER)?;",
            r#"bind().with_context(|| format!("the address {address}"))?;"#,
            "bind().with_context(|| {\n    format!(\n        \"the address {}\",",
            r#"let subject = || format!("the plan {}", path.display());"#,
        ];
        let sound = [
            r#"open().context("cannot set up TLS")?;"#,
            r#"open().context(help)?;"#,
            r#"pinned.context(&principal, "simple")"#,
            r#"share().context("--shadow-share")?;"#,
            r#"bind().with_context(|| format!("cannot listen on {address}"))?;"#,
        ];
        let repository = tempfile::tempdir().unwrap();
        let text = [bare.join("\n"), sound.join("\n")].join("\n");
        std::fs::write(repository.path().join("lib.rs"), text).unwrap();
        let found = verbless(repository.path(), &["."]).unwrap();
        assert_eq!(found.len(), bare.len(), "{found:?}");
        assert!(found[0].ends_with("lib.rs:1: TLS"), "{found:?}");
        assert!(found[1].ends_with("lib.rs:2: DATA_FOLDER"), "{found:?}");
        assert!(found[3].ends_with("lib.rs:4: the address {}"), "{found:?}");
    }
}
