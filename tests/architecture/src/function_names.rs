//! The name of a function is a verb or a noun phrase. A participle alone, such as a passive of one
//! word, is neither: `joined` is `join_sale` where it joins, and `is_joined` where it reports.

use crate::walk;
use regex::Regex;
use std::path::Path;

/// Verbs that end like a participle.
const VERBS: [&str; 8] = [
    "bleed", "breed", "embed", "exceed", "feed", "need", "seed", "succeed",
];
/// Participles with another ending. Those that are verbs too, such as `read`, are left out.
const IRREGULAR: &str = "\
    alike begun bought broken brought built caught chosen dealt done drawn fed felt \
    forgotten fought found frozen given gone got grown heard held hidden kept known laid lit \
    lost made meant met paid ran said seen sent shown slept sold spelt spent spilt stood \
    stolen struck stuck swept taken taught thought thrown told torn understood undone unread \
    woken won worn wound written rewritten";

/// Returns `file:line name` of each function below the folders whose name is a participle alone.
///
/// # Errors
/// A file cannot be read.
pub fn participles(
    repository: &Path,
    folders: &[&str],
) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let function = Regex::new(r"\bfn ([a-z0-9]+)[(<]")?;
    let irregular: Vec<&str> = IRREGULAR.split_whitespace().collect();
    let mut found = Vec::new();
    for folder in folders {
        for path in walk::files(&repository.join(folder), &["target"])? {
            if !walk::has_ending(&path, &["rs"]) {
                continue;
            }
            let text = std::fs::read_to_string(&path)?;
            let file = path.strip_prefix(repository).unwrap_or(&path).display();
            for named in function.captures_iter(&text) {
                let name = &named[1];
                let is_regular = name.ends_with("ed") && !VERBS.contains(&name);
                if is_regular || irregular.contains(&name) {
                    let start = named.get(0).map_or(0, |whole| whole.start());
                    let line = 1 + text[..start].matches('\n').count();
                    found.push(format!("{file}:{line} {name}"));
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

    /// Names that may stay: the name, the beginning of the files' paths, and the reason.
    const ALLOWED: &[(&str, &str, &str)] = &[
        ("enabled", "host", "a method of tracing's Subscriber"),
        (
            "valued",
            "host/release_tools/src/scaffold/template",
            "makes Outcome::Valued, as `valued` of the Python SDK does",
        ),
    ];

    #[test]
    fn no_name_of_a_function_is_a_participle_alone() {
        let (mut findings, mut allowed) = (Vec::new(), Vec::new());
        for found in participles(&crate::repository(), &PRODUCT).unwrap() {
            let (file, name) = found.split_once(' ').unwrap();
            let stays = ALLOWED
                .iter()
                .position(|(one, folder, _)| *one == name && file.starts_with(folder));
            match stays {
                Some(at) => allowed.push(at),
                None => findings.push(found),
            }
        }
        assert!(findings.is_empty(), "use a verb:\n{}", findings.join("\n"));
        for (at, (name, folder, _)) in ALLOWED.iter().enumerate() {
            assert!(allowed.contains(&at), "{folder} has no {name}: take it off");
        }
    }

    #[test]
    fn a_participle_is_found_and_a_verb_or_a_phrase_is_not() {
        let repository = tempfile::tempdir().unwrap();
        let text = "fn joined(a: u8) {}\npub fn dealt<T>(b: T) {}\nfn read() {}\nfn seed() {}\n\
            fn is_joined() {}\nfn joined_sale() {}\nfn join() {}\n";
        std::fs::create_dir(repository.path().join("host")).unwrap();
        std::fs::write(repository.path().join("host/lib.rs"), text).unwrap();
        let found = participles(repository.path(), &["host"]).unwrap();
        assert_eq!(found, ["host/lib.rs:1 joined", "host/lib.rs:2 dealt"]);
    }
}
