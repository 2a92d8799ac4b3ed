//! The tests that stand in the sources.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The suite of the state that rules name: the embedded store's.
const STORE: &str = "embedded";

/// The binaries of the black-box suites, each a folder in `tests/it/`.
const BINARIES: [&str; 4] = ["http", "cli", "release", "cluster"];

/// Returns every test of the black-box suites as `binary::suite::module::function`, and every test
/// of the state as `embedded::module::function`.
///
/// They are found in the sources, since a test cannot ask cargo for another binary's list. A suite
/// is a file in its binary's folder, and its modules are files in the folder of its name.
pub fn tests(repository: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for binary in BINARIES {
        let folder = repository.join("tests/it").join(binary);
        for suite in rust_files(&folder, 1) {
            let name = format!("{binary}::{}", stem(&suite));
            found.extend(tests_in(&suite).map(|test| format!("{name}::{test}")));
            let modules = suite.with_extension("");
            if modules.is_dir() {
                for module in rust_files(&modules, 1) {
                    let module_name = stem(&module);
                    let tests = tests_in(&module);
                    found.extend(tests.map(|test| format!("{name}::{module_name}::{test}")));
                }
            }
        }
    }
    found.extend(state_tests(repository));
    found
}

/// Reports whether a file of the sources has a test: `named` is the path, `::` and the test.
pub fn has_test(repository: &Path, named: &str) -> bool {
    let (file, test) = named.split_once("::").unwrap();
    let file = repository.join(file);
    if !file.is_file() {
        return false;
    }
    // Properties stand in a macro, where tests are functions as well.
    let text = std::fs::read_to_string(file).unwrap();
    text.contains(&format!("fn {test}("))
}

/// Returns the tests of the state, which every store runs: generic functions of its suite.
fn state_tests(repository: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for file in rust_files(&repository.join("host/state/src/tests/suite"), 1) {
        let text = std::fs::read_to_string(&file).unwrap();
        for line in text.lines() {
            let function = line.strip_prefix("pub(crate) fn ");
            if let Some((test, _)) = function.and_then(|rest| rest.split_once("<S: Store>")) {
                found.push(format!("{STORE}::{}::{test}", stem(&file)));
            }
        }
    }
    found
}

/// Returns the functions marked as tests, and the entries of a table that a macro turns into tests.
fn tests_in(file: &Path) -> impl Iterator<Item = String> {
    let text = std::fs::read_to_string(file).unwrap();
    let (mut tests, mut marked, mut table) = (Vec::new(), false, false);
    for line in text.lines() {
        let trimmed = line.trim();
        if table {
            table = line != "}";
            if let Some((name, _)) = trimmed.split_once(": ").filter(|_| is_entry(line)) {
                tests.push(name.to_owned());
            } else if let Some(name) = trimmed.strip_suffix(':').filter(|_| is_entry(line)) {
                tests.push(name.to_owned());
            }
        } else if trimmed == "#[test]" {
            marked = true;
        } else if let Some(rest) = trimmed.strip_prefix("fn ").filter(|_| marked) {
            tests.push(rest.split('(').next().unwrap().to_owned());
            marked = false;
        } else if line.ends_with("! {") && !line.starts_with([' ', 'm']) {
            table = true;
        }
    }
    tests.into_iter().filter(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Reports whether a line is indented by one step, as a table's entries are.
fn is_entry(line: &str) -> bool {
    line.starts_with("    ") && !line.starts_with("     ")
}

fn rust_files(folder: &Path, depth: u8) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && depth > 1 {
            files.extend(rust_files(&path, depth - 1));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap().to_str().unwrap().to_owned()
}
