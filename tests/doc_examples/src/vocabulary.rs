//! Checks that code on a page exists: a path, or words that the sources use. A name that stands
//! beside its file, as in "`name` in `file`", is a word of that file.
//!
//! The check finds names that the sources no longer use: a setting, a metric, a field, a reason, a
//! function or a file. It cannot tell whether a word is used rightly. The typed commands and their
//! outputs test that.

use crate::Problem;
use crate::page::Page;
use crate::program::Command;
use regex::Regex;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b[A-Za-z_][A-Za-z0-9_]*").expect("a literal"));
static FLAG: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"--[a-z][a-z0-9-]+").expect("a literal"));
/// A path: words, dashes and dots between slashes, or a file with an ending.
static PATH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:[A-Za-z0-9_.-]+/)+[A-Za-z0-9_.-]*$|^[A-Za-z0-9_-]+\.(?:rs|md|py|wit|lua|sh)$")
        .expect("a literal")
});
/// A name, and the source file that a page says it stands in.
static NAME_IN_FILE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"`([A-Za-z_][A-Za-z0-9_]*)`\s+(?:in|of)\s+`([^`\s]+/[^`\s]+\.(?:rs|py|wit))`")
        .expect("a literal")
});
/// Folders that are no sources.
const SKIPPED_FOLDERS: [&str; 3] = [".git", "target", "releases"];
/// The words of this crate prove nothing.
const OWN_FOLDER: &str = "tests/doc_examples/";
/// Shorter words prove nothing either way.
const MIN_LENGTH: usize = 4;
/// Words of other people's programs and of the machine's, which pages name.
const EXTERNAL_TERMS: [&str; 11] = [
    "createuser",
    "--pwprompt",
    "verify",
    "remote_apply",
    "pg_dump",
    "pg_hba",
    "perf",
    "mprotect",
    "oras",
    "hist",
    "monotone_constraints",
];
/// Bigger files are data.
const LARGEST: u64 = 2_000_000;

/// Everything that the sources say, and every path.
#[derive(Debug, Default)]
pub struct Sources {
    words: BTreeSet<String>,
    flags: BTreeSet<String>,
    /// Paths from the root, folders with a slash at their end.
    paths: Vec<String>,
    root: PathBuf,
}

impl Sources {
    /// Reads all sources of a repository; pages are none.
    pub fn read(repository: &Path) -> Sources {
        let mut sources = Sources {
            root: repository.to_owned(),
            ..Sources::default()
        };
        sources.folder(repository, repository);
        sources
    }

    fn folder(&mut self, repository: &Path, folder: &Path) {
        let Ok(entries) = std::fs::read_dir(folder) else {
            return;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let name = entry.file_name();
            let Ok(within) = path.strip_prefix(repository).map(PathBuf::from) else {
                continue;
            };
            let within = within.display().to_string();
            if path.is_dir() {
                self.paths.push(format!("{within}/"));
                let top = folder == repository
                    && SKIPPED_FOLDERS.iter().any(|excluded| *excluded == name);
                if !top && name != "target" {
                    self.folder(repository, &path);
                }
            } else {
                let page = path.extension().is_some_and(|ending| ending == "md");
                let large = entry.metadata().is_ok_and(|data| data.len() > LARGEST);
                if !page
                    && !large
                    && !within.starts_with(OWN_FOLDER)
                    && name != "Cargo.lock"
                    && let Ok(text) = std::fs::read_to_string(&path)
                {
                    self.add(&text);
                }
                self.add(&within);
                self.paths.push(within);
            }
        }
    }

    /// Adds a source.
    pub fn add(&mut self, text: &str) {
        for word in WORD.find_iter(text).map(|word| word.as_str()) {
            self.words.insert(word.to_lowercase());
            self.words.insert(snake(word));
        }
        let flags = FLAG.find_iter(text).map(|flag| flag.as_str().to_owned());
        self.flags.extend(flags);
    }

    /// Returns the paths that a page may mean: this one, and those that end with it.
    fn paths_of(&self, path: &str) -> impl Iterator<Item = &str> {
        let exact = path.trim_end_matches('/').to_owned();
        let below = format!("/{exact}");
        let known = self.paths.iter().map(|known| known.trim_end_matches('/'));
        known.filter(move |known| *known == exact || known.ends_with(&below))
    }

    fn has(&self, path: &str) -> bool {
        self.paths_of(path).next().is_some()
    }

    /// Reports whether a file holds this word, or is not there.
    fn file_has(&self, path: &str, name: &str) -> bool {
        let has = |path: &str| {
            let text = std::fs::read_to_string(self.root.join(path)).unwrap_or_default();
            WORD.find_iter(&text).any(|word| word.as_str() == name)
        };
        !self.has(path) || self.paths_of(path).any(has)
    }

    fn says(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        // A day or a number may stand at the end of a name that is made, and a histogram is served
        // in parts.
        let bare = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
        let derived = [format!("{bare}_"), format!("{word}_bucket")];
        // The registry of metrics puts the program's name before theirs.
        let metric = word
            .strip_prefix("domesday_")
            .filter(|name| name.contains('_'));
        let names = [
            word.clone(),
            bare.to_owned(),
            metric.unwrap_or(&word).to_owned(),
        ];
        names
            .iter()
            .chain(&derived)
            .any(|name| self.words.contains(name))
            || EXTERNAL_TERMS.contains(&&*word)
    }

    /// Reports whether a word of the sources contains this text, as a filter of tests does.
    fn holds(&self, part: &str) -> bool {
        self.words.iter().any(|word| word.contains(part))
    }

    /// Reports whether the sources name a flag, or a field that a program derives the flag from.
    fn takes(&self, flag: &str) -> bool {
        let field = flag.trim_start_matches('-').replace('-', "_");
        self.flags.contains(flag)
            || EXTERNAL_TERMS.contains(&flag)
            || (field.contains('_') && self.words.contains(&field))
    }

    fn is_top(&self, name: &str) -> bool {
        let folder = format!("{name}/");
        self.paths.contains(&folder) && !["target", "releases"].contains(&name)
    }
}

/// Finds code on a page that no source names.
pub fn faults(page: &Page, sources: &Sources, program: &Command) -> Vec<Problem> {
    let mut faults = Vec::new();
    for found in NAME_IN_FILE.captures_iter(&page.text) {
        let (name, file) = (&found[1], &found[2]);
        if !sources.file_has(file, name) {
            let before = found.get_match().start();
            let line = page.text[..before].matches('\n').count() + 1;
            faults.push(page.fault(line, format!("`{name}` stands nowhere in `{file}`")));
        }
    }
    for (line, span) in &page.spans {
        let mut report = |what: String| faults.push(page.fault(*line, what));
        for flag in FLAG.find_iter(span) {
            let flag = flag.as_str();
            if !program.knows(flag) && !sources.takes(flag) {
                report(format!("nothing takes the flag {flag} (`{span}`)"));
            }
        }
        if PATH.is_match(span) {
            let top = span.split('/').next().unwrap_or_default();
            let source = span.ends_with(".rs") || span.ends_with(".py") || span.ends_with(".wit");
            if (sources.is_top(top) || source) && !sources.has(span) {
                report(format!("there is no `{span}`"));
                continue;
            }
        }
        let without_flags = FLAG.replace_all(span, " ");
        let unknown = WORD.find_iter(&without_flags).map(|word| word.as_str());
        let unknown = unknown.filter(|word| word.len() >= MIN_LENGTH && !placeholder(word));
        let filters = span.starts_with("cargo test");
        let known = |word: &str| sources.says(word) || (filters && sources.holds(word));
        for word in unknown.filter(|word| !known(word)) {
            report(format!(
                "`{word}` (of `{span}`) stands nowhere in the sources"
            ));
        }
    }
    faults
}

/// Reports whether a word in capitals stands for a value of the reader's.
fn placeholder(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_uppercase() || c == '_') && !word.starts_with("DOMESDAY")
}

/// Returns a name as JSON writes it: `TooFew` as `too_few`.
fn snake(word: &str) -> String {
    let mut snake = String::new();
    let mut below = false;
    for character in word.chars() {
        if character.is_ascii_uppercase() && below {
            snake.push('_');
        }
        below = character.is_ascii_lowercase() || character.is_ascii_digit();
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_terms_are_named() {
        let temp_dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(temp_dir.path().join("host/server/src/http")).unwrap();
        std::fs::write(
            temp_dir.path().join("host/server/src/http/mod.rs"),
            "fn route() { metric(\"domesday_requests_total\"); } // --some-flag DOMESDAY_DATA enum A { TooFew }",
        )
        .unwrap();
        let sources = Sources::read(temp_dir.path());
        let problems = |text: &str| {
            let page = Page::read("a.md", text).unwrap();
            let faults = faults(&page, &sources, &Command::default());
            faults
                .into_iter()
                .map(|fault| fault.what)
                .collect::<Vec<_>>()
        };
        let sound = "`http/mod.rs` `host/server/` `domesday_requests_total` `--some-flag FILE` `DOMESDAY_DATA` `abc` `too_few`\n";
        assert_eq!(problems(sound), [""; 0]);
        assert_eq!(
            problems("`http/intake.rs`\n"),
            ["there is no `http/intake.rs`"]
        );
        assert_eq!(problems("`host/client`\n"), ["there is no `host/client`"]);
        // The sources lack names of the reader's own. A word is looked for in the file that is
        // named.
        assert_eq!(problems("`FORM` `route`\nin `http/mod.rs`\n"), [""; 0]);
        assert_eq!(
            problems("`FORM`\nin `http/mod.rs`\n"),
            ["`FORM` stands nowhere in `http/mod.rs`"]
        );
        assert_eq!(
            problems("`--some-flags`\n"),
            ["nothing takes the flag --some-flags (`--some-flags`)"]
        );
        for gone in ["domesday_answers_total", "DOMESDAY_FOLDER"] {
            let expected = format!("`{gone}` (of `{gone}`) stands nowhere in the sources");
            assert_eq!(problems(&format!("`{gone}`\n")), [expected]);
        }
    }
}
