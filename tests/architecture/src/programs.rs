//! `scripts/set-up-tests` looks for each program that the tests and the typed pages start.

use crate::walk;
use std::collections::BTreeSet;
use std::path::Path;

/// What precedes a program's name in a test.
const BEFORE_NAME: [&str; 3] = ["Command::new(\"", "const PROGRAM: &str = \"", "join(\"bin/"];
/// Programs that every machine with Debian's essential packages and Rust has, and those of the
/// environments of Python that the tests make.
const ALWAYS_THERE: [&str; 12] = [
    "bash", "cargo", "chown", "cp", "date", "mount", "pip", "python", "setpriv", "sh", "timeout",
    "umount",
];

/// Returns the programs that the sources of the tests start by name, and `curl` if a page does.
///
/// # Errors
/// A folder or a file cannot be read.
pub fn started(repository: &Path) -> std::io::Result<BTreeSet<String>> {
    let mut programs = BTreeSet::new();
    for file in walk::files(&repository.join("tests"), &["architecture"])? {
        if walk::has_ending(&file, &["rs"]) {
            let text = std::fs::read_to_string(file)?;
            programs.extend(BEFORE_NAME.iter().flat_map(|before| names(&text, before)));
        }
    }
    for file in walk::files(&repository.join("docs"), &[])? {
        if walk::has_ending(&file, &["md"]) && std::fs::read_to_string(file)?.contains("\ncurl ") {
            programs.insert("curl".to_owned());
        }
    }
    programs.retain(|name| !ALWAYS_THERE.contains(&name.as_str()));
    Ok(programs)
}

/// Returns the names up to the next quotation mark. A path is that of a script of ours.
fn names(text: &str, before: &str) -> Vec<String> {
    let begins = text.split(before).skip(1);
    let names = begins.filter_map(|rest| rest.split('"').next());
    let names = names.filter(|name| !name.is_empty() && !name.contains('/'));
    names.map(str::to_owned).collect()
}

/// Returns the programs that the script does not look for.
pub fn unlisted<'p>(script: &str, programs: &'p BTreeSet<String>) -> Vec<&'p str> {
    let looks_for = |line: &str, name: &str| match line.split_once("|| missing+=(") {
        Some((check, _)) => {
            let mut words = check.split_whitespace();
            words.any(|word| word.rsplit('/').next() == Some(name))
        }
        None => {
            let mut words = line.split_whitespace();
            words.next() == Some("need") && words.next() == Some(name)
        }
    };
    let is_listed = |name: &str| script.lines().any(|line| looks_for(line, name));
    let names = programs.iter().map(String::as_str);
    names.filter(|name| !is_listed(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script() -> String {
        std::fs::read_to_string(crate::repository().join("scripts/set-up-tests")).unwrap()
    }

    #[test]
    fn the_set_up_looks_for_every_program_that_the_tests_start() {
        let programs = started(&crate::repository()).unwrap();
        assert_eq!(unlisted(&script(), &programs), Vec::<&str>::new());
    }

    #[test]
    fn a_line_of_the_set_up_that_is_gone_is_missed() {
        let programs = started(&crate::repository()).unwrap();
        let script = script();
        // npm serves a check of form alone, which no test runs. A program in Python starts the
        // proxies and openssl.
        let others = ["need npm", "nginx", "haproxy", "need openssl", "\"$1\""];
        let is_check = |line: &str| {
            let needs = line.trim_start().starts_with("need ") || line.contains("|| missing+=(");
            needs && !others.iter().any(|other| line.contains(other))
        };
        let checks: Vec<&str> = script.lines().filter(|line| is_check(line)).collect();
        assert_eq!(checks.len(), 9, "{checks:?}");
        for check in checks {
            let without = script.replace(check, "");
            assert_eq!(unlisted(&without, &programs).len(), 1, "{check}");
        }
    }
}
