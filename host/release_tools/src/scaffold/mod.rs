//! A model's crate, made from a template.
//!
//! The SDK is on no registry, and a model team has no checkout of this repository. So the program
//! carries the sources of the SDK and of the interface that it was built with. It writes both into
//! the new folder. The folder then needs only Rust and the registry, and its SDK is the one that
//! its host admits. A dependency by git would need a public repository and a commit that agrees
//! with the program. A path would need a checkout.

mod name;

pub use name::Name;

use std::io;
use std::path::{Path, PathBuf};

/// Files of the new folder, with their text: a path there, and one from this crate's folder.
macro_rules! files {
    ($($to:literal from $from:literal),* $(,)?) => {
        &[$(($to, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $from)))),*]
    };
}

/// The files that a team edits. `new-model` stands for the crate's name in all of them.
const TEMPLATE: &[(&str, &str)] = files! {
    "Cargo.toml" from "src/scaffold/template/Cargo.toml",
    "README.md" from "src/scaffold/template/README.md",
    "release.toml" from "src/scaffold/template/release.toml",
    "build.rs" from "src/scaffold/template/build.rs",
    ".gitignore" from "src/scaffold/template/gitignore",
    "src/lib.rs" from "src/scaffold/template/src/lib.rs",
    "src/tests.rs" from "src/scaffold/template/src/tests.rs",
    "src/bin/fit.rs" from "src/scaffold/template/src/bin/fit.rs",
};

/// The files that a model's author leaves alone. The lock file has the versions that this program
/// was built and tested with. Cargo keeps the entries that the new folder needs.
const SDK: &[(&str, &str)] = files! {
    "Cargo.lock" from "../../Cargo.lock",
    "rust-toolchain.toml" from "../../rust-toolchain.toml",
    "sdk/rust/Cargo.toml" from "../../sdk/rust/Cargo.toml",
    "sdk/rust/src/evidence.rs" from "../../sdk/rust/src/evidence.rs",
    "sdk/rust/src/heap.rs" from "../../sdk/rust/src/heap.rs",
    "sdk/rust/src/lib.rs" from "../../sdk/rust/src/lib.rs",
    "sdk/rust/src/sales.rs" from "../../sdk/rust/src/sales.rs",
    "wit/inputs/inputs.wit" from "../../wit/inputs/inputs.wit",
    "wit/packed/packed.wit" from "../../wit/packed/packed.wit",
    "wit/predictions/predictions.wit" from "../../wit/predictions/predictions.wit",
    "wit/valuation.wit" from "../../wit/valuation.wit",
};

/// The template's name.
const STAND_IN: &str = "new-model";

/// The reason why no crate is made.
#[derive(Debug, thiserror::Error)]
pub enum ScaffoldError {
    /// The folder holds something.
    #[error("{0} is not empty; set --path to a new folder")]
    NotEmpty(PathBuf),
    /// A file or folder cannot be read or written.
    #[error("cannot read or write {path}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl ScaffoldError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> ScaffoldError {
        move |source| ScaffoldError::Io {
            path: path.to_owned(),
            source,
        }
    }
}

/// Makes a model's crate in `folder`, which is not there yet or empty, and says which files it
/// wrote.
///
/// # Errors
/// [`ScaffoldError::NotEmpty`] if the folder holds anything, [`ScaffoldError::Io`] if it cannot be
/// written.
pub fn make(name: &Name, folder: &Path) -> Result<Vec<PathBuf>, ScaffoldError> {
    let holds_something = folder.exists()
        && std::fs::read_dir(folder)
            .map_err(ScaffoldError::io(folder))?
            .next()
            .is_some();
    if holds_something {
        return Err(ScaffoldError::NotEmpty(folder.to_owned()));
    }
    let mut paths = Vec::new();
    let template = TEMPLATE
        .iter()
        .map(|(to, text)| (*to, text.replace(STAND_IN, name.as_str())));
    let sdk = SDK.iter().map(|(to, text)| (*to, (*text).to_owned()));
    for (to, text) in template.chain(sdk) {
        let path = folder.join(to);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(ScaffoldError::io(parent))?;
        }
        std::fs::write(&path, text).map_err(ScaffoldError::io(&path))?;
        paths.push(path);
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn repository() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    fn files_under(folder: &Path, base: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files_under(&path, base, found);
            } else {
                found.insert(path.strip_prefix(base).unwrap().display().to_string());
            }
        }
    }

    #[test]
    fn every_file_of_the_sdk_is_carried() {
        let mut found = BTreeSet::from(["Cargo.lock", "rust-toolchain.toml"].map(str::to_owned));
        for folder in ["sdk/rust", "wit"] {
            files_under(&repository().join(folder), &repository(), &mut found);
        }
        let carried: BTreeSet<String> = SDK.iter().map(|(to, _)| (*to).to_owned()).collect();
        assert_eq!(carried, found, "list each file of sdk/rust and wit in SDK");
    }

    /// Adds the names of all dependencies, those of tests and targets included.
    fn dependencies(table: &toml::Table, found: &mut BTreeSet<String>) {
        for (key, value) in table {
            let Some(inner) = value.as_table() else {
                continue;
            };
            match key.ends_with("dependencies") {
                true => found.extend(inner.keys().cloned()),
                false => dependencies(inner, found),
            }
        }
    }

    #[test]
    fn the_template_takes_dependencies_as_the_repository_does() {
        let read = |path: PathBuf| -> toml::Table {
            std::fs::read_to_string(path).unwrap().parse().unwrap()
        };
        let ours = read(repository().join("Cargo.toml"));
        let template: toml::Table = TEMPLATE[0].1.parse().unwrap();
        let theirs = template["workspace"]["dependencies"].as_table().unwrap();
        for (name, dependency) in theirs {
            let version = |of: &toml::Value| of["version"].clone();
            let known = &ours["workspace"]["dependencies"][name];
            assert_eq!(version(dependency), version(known), "{name}");
        }
        let mut used = BTreeSet::new();
        dependencies(&read(repository().join("sdk/rust/Cargo.toml")), &mut used);
        for (name, part) in ours["workspace"]["dependencies"].as_table().unwrap() {
            assert!(
                !used.contains(name) || theirs.contains_key(name),
                "the SDK needs {name} = {part:?}"
            );
        }
        // Cargo's own release profile fills the settings that a profile leaves out.
        let built_in = [("debug", false), ("overflow-checks", false)];
        let built_in = built_in.map(|(name, on)| (name.to_owned(), toml::Value::Boolean(on)));
        let mut theirs = toml::Table::from_iter(built_in);
        theirs.extend(template["profile"]["release"].as_table().unwrap().clone());
        let mut guest = ours["profile"]["release"].as_table().unwrap().clone();
        guest.extend(ours["profile"]["guest"].as_table().unwrap().clone());
        assert_eq!(guest.remove("inherits"), Some("release".into()));
        guest.remove("package");
        assert_eq!(theirs, guest, "a component is built alike everywhere");
    }

    #[test]
    fn a_folder_that_holds_anything_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let name: Name = "a-model".parse().unwrap();
        std::fs::write(folder.path().join("notes"), "mine").unwrap();
        let refusal = make(&name, folder.path()).unwrap_err().to_string();
        assert!(refusal.contains("is not empty"), "{refusal}");
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, 1);
    }

    #[test]
    fn the_name_stands_where_the_template_has_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let name: Name = "a-model".parse().unwrap();
        for path in make(&name, folder.path()).unwrap() {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.contains(STAND_IN), "{}", path.display());
        }
        let manifest = std::fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        assert!(manifest.contains("name = \"a-model\""), "{manifest}");
    }
}
