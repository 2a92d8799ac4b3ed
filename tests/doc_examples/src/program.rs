//! The program's own commands and flags, as its `--help` tells them, and what pages say of them.

use crate::page::Page;
use crate::{Problem, command_line};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

static FLAG: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s+(?:-\w, )?(--[a-z][a-z0-9-]*)").expect("a literal"));

/// A command with what it takes.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Command {
    /// Its flags, with their dashes.
    pub flags: BTreeSet<String>,
    /// The commands below it.
    pub below: BTreeMap<String, Command>,
}

impl Command {
    /// Reads all commands from their help; `help` gives that of a command named by its words.
    pub fn read(help: &dyn Fn(&[&str]) -> String) -> Command {
        Command::below(help, &mut Vec::new())
    }

    fn below<'a>(help: &dyn Fn(&[&str]) -> String, path: &mut Vec<&'a str>) -> Command {
        let text = help(path);
        let mut command = Command::default();
        let mut listed = false;
        for line in text.lines() {
            if let Some(flag) = FLAG.captures(line) {
                command.flags.insert(flag[1].to_owned());
            }
            if !line.starts_with(' ') && !line.is_empty() {
                listed = line == "Commands:";
            } else if listed && line.starts_with("  ") && !line.starts_with("   ") {
                let name = line.split_whitespace().next().unwrap_or_default();
                if name != "help" {
                    let words: Vec<&str> = path.iter().copied().chain([name]).collect();
                    let mut words: Vec<&str> = words;
                    let found = Command::below(help, &mut words);
                    command.below.insert(name.to_owned(), found);
                }
            }
        }
        command
    }

    /// Returns the reason why these words are no command with its flags, or nothing if they are
    /// one. The words follow the program's name.
    pub fn refuses(&self, words: &[String]) -> Option<String> {
        let mut command = self;
        let mut path = String::from("domesday");
        let mut words = words.iter().peekable();
        while let Some(below) = words.peek().and_then(|word| command.below.get(*word)) {
            command = below;
            path = format!("{path} {}", words.next().map_or("", |word| word));
        }
        if !command.below.is_empty()
            && let Some(word) = words.peek()
            && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
            && !word.starts_with('-')
        {
            return Some(format!("`{path}` has no command `{word}`"));
        }
        let mut flags =
            words.flat_map(|word| word.trim_start_matches('[').split(['=', ']', '|']).next());
        flags
            .find(|word| word.starts_with("--") && word.len() > 2 && !command.flags.contains(*word))
            .map(|flag| format!("`{path}` takes no `{flag}`"))
    }

    /// Reports whether any command takes a flag.
    pub fn knows(&self, flag: &str) -> bool {
        self.flags.contains(flag) || self.below.values().any(|command| command.knows(flag))
    }
}

/// Finds commands and flags of a page that the program does not know. It reads blocks, whether
/// typed or not, sentences, and rows of tables that leave the program's name out (`key create …`).
pub fn faults(page: &Page, program: &Command) -> Vec<Problem> {
    let mut faults = Vec::new();
    for block in page.blocks.iter().filter(|block| block.is_commands()) {
        for line in command_line::lines(&block.text) {
            let line_number = line_of(page, block.line, &line);
            for words in command_line::simple(&line) {
                faults.extend(refused(program, &words).map(|why| page.fault(line_number, why)));
            }
        }
    }
    for (line, span) in &page.spans {
        for words in command_line::simple(span) {
            faults.extend(refused(program, &words).map(|why| page.fault(*line, why)));
            let above = words.first().and_then(|first| program.below.get(first));
            if words.len() > 1 && above.is_some_and(|above| !above.below.is_empty()) {
                faults.extend(program.refuses(&words).map(|why| page.fault(*line, why)));
            }
        }
    }
    faults
}

fn refused(program: &Command, words: &[String]) -> Option<String> {
    let after = match words.first()?.as_str() {
        "domesday" => 1,
        // `docker compose exec SERVICE domesday`.
        "docker" if words.get(4).is_some_and(|word| word == "domesday") => 5,
        "cargo" if words.iter().any(|word| word == "domesday-cli") => {
            if words.get(1)? != "run" {
                return None;
            }
            words.iter().position(|word| word == "--")? + 1
        }
        _ => return None,
    };
    program.refuses(&words[after..])
}

fn line_of(page: &Page, from: usize, command: &str) -> usize {
    let first = command
        .split_whitespace()
        .take(4)
        .collect::<Vec<_>>()
        .join(" ");
    let mut lines = page.text.lines().enumerate().skip(from - 1);
    lines
        .find(|(_, line)| line.contains(&first))
        .map_or(from, |(number, _)| number + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(path: &[&str]) -> String {
        match path {
            [] => "Does.\n\nCommands:\n  key   Keys\n  serve  Serves\n  help   Says\n\nOptions:\n  -h, --help  Help\n",
            ["key"] => "Commands:\n  create  Makes\n",
            ["key", "create"] => "Options:\n      --tenant <T>  Whose\n          [env: A]\n",
            ["serve"] => "Options:\n      --listen <A>\n",
            other => panic!("{other:?}"),
        }
        .to_owned()
    }

    fn problems(text: &str) -> Vec<String> {
        let page = Page::read("docs/a.md", text).unwrap();
        let faults = faults(&page, &Command::read(&help));
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn known_commands_pass() {
        let sound = "`domesday serve --listen A`, `key create --tenant T`, `domesday`, `key`, `key_id`\n\n```sh\nA=b domesday key create \\\n  --tenant x > y && cd z\ncargo run -p domesday-cli -- serve --listen=A\n```\n";
        assert_eq!(problems(sound), [""; 0]);
    }

    #[test]
    fn unknown_commands_are_named_with_line() {
        for (page, expected) in [
            (
                "a `domesday serve --port 1`\n",
                "docs/a.md:1: `domesday serve` takes no `--port`",
            ),
            (
                "a\n`key make`\n",
                "docs/a.md:2: `domesday key` has no command `make`",
            ),
            (
                "```sh\na\nx | domesday keys\n```\n",
                "docs/a.md:3: `domesday` has no command `keys`",
            ),
            (
                "```sh\ndocker compose exec host domesday keys\n```\n",
                "docs/a.md:2: `domesday` has no command `keys`",
            ),
            (
                "```sh\ncargo run -p domesday-cli -- server\n```\n",
                "docs/a.md:2: `domesday` has no command `server`",
            ),
        ] {
            assert_eq!(problems(page), [expected]);
        }
    }
}
