//! Words that the project does not use, and the words to use instead.
//!
//! The list is `words.toml` beside this folder. A text is searched without the marks of its
//! comments, so that a phrase is found where a line ends within it. The name of a function is
//! searched as a sentence: `_` reads as a space.

use crate::walk;
use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Endings of the files that are searched.
const ENDINGS: [&str; 11] = [
    "c", "js", "md", "patch", "py", "rs", "sh", "toml", "ts", "wit", "yaml",
];
/// Folders whose files are scripts without an ending.
const SCRIPTS: [&str; 2] = [".ci", "scripts"];
/// Folders that are not searched: build output, installed packages and released bytes.
const SKIPPED: [&str; 7] = [
    ".git",
    ".venv",
    "dist",
    "node_modules",
    "out",
    "releases",
    "target",
];
/// Marks at the beginning of a line. `+` is that of a line that a patch adds.
const MARKS: [&str; 9] = ["///", "//!", "//", "/**", "/*", "*", "#", ">", "+"];
/// The list itself.
const LIST: &str = "tests/architecture/words.toml";

/// A word or phrase that the project does not use.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Word {
    /// A regular expression without regard to case. A space stands for any white space.
    pub find: String,
    /// The replacement, as an advice to the author.
    pub instead: String,
    /// A text that has the word.
    pub sample: String,
    /// Texts that look alike and do not have it.
    #[serde(default)]
    pub other: Vec<String>,
    /// Places where the word may stand.
    #[serde(default)]
    pub exceptions: Vec<Exception>,
}

/// A line that may have the word.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    /// The file, from the root of the repository.
    pub file: String,
    /// A part of the line.
    pub line: String,
    /// The reason.
    pub reason: String,
}

/// A word in a text.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    /// The number of the word in the list.
    pub word: usize,
    /// The line, counted from 1.
    pub line: usize,
    /// The text that was found.
    pub text: String,
}

/// A list of words, ready to search with.
pub struct Words {
    words: Vec<Word>,
    all: RegexSet,
    each: Vec<Regex>,
    function: Regex,
}

impl Words {
    /// Reads the list of the repository at `root`.
    ///
    /// # Errors
    /// The list cannot be read, or is not valid.
    pub fn read(root: &Path) -> Result<Words, Box<dyn std::error::Error>> {
        #[derive(Deserialize)]
        struct List {
            word: Vec<Word>,
        }
        let list: List = toml::from_str(&std::fs::read_to_string(root.join(LIST))?)?;
        let patterns = || list.word.iter().map(|word| word.find.replace(' ', r"\s+"));
        Ok(Words {
            all: RegexSetBuilder::new(patterns())
                .case_insensitive(true)
                .build()?,
            each: patterns()
                .map(|find| RegexBuilder::new(&find).case_insensitive(true).build())
                .collect::<Result<_, _>>()?,
            function: Regex::new(r"\bfn \w+")?,
            words: list.word,
        })
    }

    /// Returns the words of the list.
    pub fn list(&self) -> &[Word] {
        &self.words
    }

    /// Finds the words of the list in a text, and in the names of its functions.
    pub fn search(&self, text: &str) -> Vec<Finding> {
        let text = unmarked(text);
        let mut findings = self.find(&text, 1);
        for found in self.function.find_iter(&text) {
            let line = 1 + text[..found.start()].matches('\n').count();
            let name = found.as_str().trim_start_matches("fn ");
            findings.extend(self.find(&format!("{}.", name.replace('_', " ")), line));
        }
        findings
    }

    /// Finds the words of the list in a text without marks that begins at `line`.
    fn find(&self, text: &str, line: usize) -> Vec<Finding> {
        let mut findings = Vec::new();
        for word in &self.all.matches(text) {
            for found in self.each[word].find_iter(text) {
                findings.push(Finding {
                    word,
                    line: line + text[..found.start()].matches('\n').count(),
                    text: found.as_str().replace('\n', " "),
                });
            }
        }
        findings
    }
}

/// Returns a text without indentation and marks of comments. The lines stay.
fn unmarked(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(|line| {
            let mut line = line.trim();
            while let Some(rest) = MARKS.iter().find_map(|mark| line.strip_prefix(mark)) {
                line = rest.trim_start();
            }
            line
        })
        .collect();
    lines.join("\n")
}

/// Returns the files to search, as paths from `root`.
///
/// # Errors
/// A folder cannot be read.
pub fn files(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let files = walk::files(root, &SKIPPED)?;
    let searched = files
        .iter()
        .filter_map(|file| file.strip_prefix(root).ok())
        .filter(|file| is_searched(file))
        .map(Path::to_owned);
    Ok(searched.collect())
}

/// Reports whether a file, as a path from the repository's root, is searched.
fn is_searched(path: &Path) -> bool {
    let in_scripts = SCRIPTS
        .iter()
        .any(|folder| path.parent() == Some(Path::new(folder)));
    let is_script = in_scripts && path.extension().is_none();
    (is_script || walk::has_ending(path, &ENDINGS)) && path != Path::new(LIST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_file_has_a_word_of_the_list() {
        let root = crate::repository();
        let words = Words::read(&root).unwrap();
        let (mut findings, mut used) = (Vec::new(), BTreeSet::new());
        for file in files(&root).unwrap() {
            let text = std::fs::read_to_string(root.join(&file)).unwrap();
            for found in words.search(&text) {
                let word = &words.list()[found.word];
                let line = text.lines().nth(found.line - 1).unwrap_or_default();
                let exception = word.exceptions.iter().position(|exception| {
                    Path::new(&exception.file) == file && line.contains(&exception.line)
                });
                match exception {
                    Some(exception) => drop(used.insert((found.word, exception))),
                    None => findings.push(format!(
                        "{}:{}: \"{}\"; use {}",
                        file.display(),
                        found.line,
                        found.text,
                        word.instead
                    )),
                }
            }
        }
        for (number, word) in words.list().iter().enumerate() {
            for (at, exception) in word.exceptions.iter().enumerate() {
                if !used.contains(&(number, at)) {
                    findings.push(format!("an exception of no use: {exception:?}"));
                }
            }
        }
        assert!(findings.is_empty(), "{LIST}:\n{}", findings.join("\n"));
    }

    #[test]
    fn each_word_matches_its_sample_and_no_lookalike() {
        let words = Words::read(&crate::repository()).unwrap();
        for (number, word) in words.list().iter().enumerate() {
            let has = |text: &str| words.search(text).iter().any(|found| found.word == number);
            assert!(has(&word.sample), "{word:?}");
            assert!(has(&format!("    /// {}\n", word.sample)), "{word:?}");
            for other in &word.other {
                assert!(!has(other), "{other}: {word:?}");
            }
            assert!(!word.instead.is_empty(), "{word:?}");
            for exception in &word.exceptions {
                assert!(!exception.reason.is_empty(), "{exception:?}");
            }
        }
    }

    #[test]
    fn a_phrase_is_found_over_the_end_of_a_line_at_the_line_where_it_begins() {
        let words = Words::read(&crate::repository()).unwrap();
        let found = words.search("fn f() {}\n\n    /// It is kept for\n    /// ever.\n");
        assert_eq!((found.len(), found[0].line), (1, 3), "{found:?}");
        assert_eq!(found[0].text, ["for", "ever"].join(" "));
        for text in [
            "/** It is kept for\n * ever. */\n",
            "+// It is kept for\n+// ever.\n",
        ] {
            let found = words.search(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
        }
    }

    #[test]
    fn a_phrase_is_found_in_the_name_of_a_function() {
        let words = Words::read(&crate::repository()).unwrap();
        for phrase in [["for", "ever"], ["is", "told"]] {
            let name = phrase.join("_");
            let found = words.search(&format!("let {name} = 1;\n\nasync fn it_{name}() {{}}\n"));
            assert_eq!((found.len(), found[0].line), (1, 3), "{found:?}");
            assert!(found[0].text.starts_with(&phrase.join(" ")), "{found:?}");
        }
        assert!(words.search("fn it_is_kept_forever() {}").is_empty());
    }

    #[test]
    fn scripts_and_sources_are_searched_and_builds_are_not() {
        let files = files(&crate::repository()).unwrap();
        for there in [
            "scripts/test",
            ".ci/run",
            "README.md",
            "wit/valuation.wit",
            "sdk/python/domesday.py",
            "clients/typescript/src/index.ts",
            "examples/compose/compose.yaml",
            "host/server/src/console/assets/console.js",
            "tests/faults/disk.c",
            "tests/mutations/journal-forged.patch",
            "tests/architecture/src/words.rs",
        ] {
            assert!(files.iter().any(|file| file == Path::new(there)), "{there}");
        }
        for away in ["target", "releases", LIST] {
            assert!(!files.iter().any(|file| file.starts_with(away)), "{away}");
        }
    }
}
