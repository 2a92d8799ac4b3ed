//! The repository's scripts: each that a page names is there, can be run, and says how with
//! `--help`.

use crate::Problem;
use crate::page::Page;
use regex::Regex;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[\s`(])(scripts/[a-z][a-z-]*)(?:$|[\s`),;:]|\.(?:\s|$)|\\)")
        .expect("a literal")
});

/// Finds scripts of a page that do not exist or do not print their usage.
pub fn faults(page: &Page, repository: &Path) -> Vec<Problem> {
    let mut faults = Vec::new();
    let mut names = Vec::new();
    for (number, line) in page.text.lines().enumerate() {
        for found in NAMED.captures_iter(line) {
            let name = found[1].to_owned();
            if names.contains(&name) {
                continue;
            }
            faults.extend(refuses(&name, repository).map(|why| page.fault(number + 1, why)));
            names.push(name);
        }
    }
    faults
}

fn refuses(name: &str, repository: &Path) -> Option<String> {
    let script = repository.join(name);
    if !script.is_file() {
        return Some(format!("there is no {name}"));
    }
    let output = match Command::new(&script).arg("--help").output() {
        Ok(output) => output,
        Err(error) => return Some(format!("{name} cannot be started: {error}")),
    };
    let help = String::from_utf8_lossy(&output.stdout);
    let says = output.status.success() && help.contains(name);
    (!says).then(|| format!("{name} --help does not say how it is used: {help}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_script_exists_and_prints_its_usage() {
        let temp_dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp_dir.path().join("scripts")).unwrap();
        for (name, text) in [("good", "echo scripts/good A"), ("bad", "exit 1")] {
            let path = temp_dir.path().join("scripts").join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let page = Page::read(
            "a.md",
            "`scripts/good`\n\n```sh\nscripts/bad 3\n```\n\nscripts/none, scripts/lua.lua\n",
        );
        let faults = faults(&page.unwrap(), temp_dir.path());
        let messages: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert!(
            messages[0].starts_with("a.md:4: scripts/bad --help"),
            "{messages:?}"
        );
        assert_eq!(messages[1], "a.md:7: there is no scripts/none");
    }
}
