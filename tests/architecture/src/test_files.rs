//! A file that is compiled for tests alone has a name that shows it. A file in a crate's
//! `src/tests` uses the crate as others do: `docs/decisions/0044-one-test-binary-a-crate.md`.

use crate::walk;
use regex::Regex;
use std::path::{Component, Path, PathBuf};
use syn::{Attribute, Expr, Item, Lit, Meta};

/// The error of a file that cannot be read, or is not Rust.
type Error = Box<dyn std::error::Error>;

/// Reports whether a file's name or one of its folders shows that it is for tests.
pub fn shows_tests(file: &Path) -> bool {
    let file = file.with_extension("");
    file.components().any(|part| match part {
        Component::Normal(part) => part.to_str().is_some_and(is_name_of_tests),
        _ => false,
    })
}

/// Reports whether a name of a module or folder shows that it is for tests.
fn is_name_of_tests(name: &str) -> bool {
    matches!(name, "tests" | "testing") || name.ends_with("_tests") || name.starts_with("test_")
}

/// Returns the files of a crate's `src` folder that are compiled for tests alone and whose name
/// does not show it. Paths begin at that folder.
///
/// # Errors
/// A file cannot be read, or is not Rust.
pub fn hidden_tests(source: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut hidden = Vec::new();
    // A template is the text of another crate.
    for path in walk::files(source, &["template"])? {
        if !walk::has_ending(&path, &["rs"]) {
            continue;
        }
        let file = path.strip_prefix(source)?;
        let text = std::fs::read_to_string(&path)?;
        let items = syn::parse_file(&text)
            .map_err(|error| format!("{}: {error}", path.display()))?
            .items;
        for item in items {
            let Item::Mod(module) = item else { continue };
            let is_for_tests = shows_tests(file) || module.attrs.iter().any(is_test_only);
            if module.content.is_none() && is_for_tests {
                let module = match module.attrs.iter().find_map(path_attribute) {
                    Some(named) => file.with_file_name(named),
                    None => module_folder(file).join(module.ident.to_string()),
                };
                if !shows_tests(&module) {
                    hidden.push(module);
                }
            }
        }
    }
    Ok(hidden)
}

/// Returns the folder of the modules that a file declares.
fn module_folder(file: &Path) -> PathBuf {
    match file.file_stem().and_then(|stem| stem.to_str()) {
        Some("mod" | "lib" | "main") => file.with_file_name(""),
        _ => file.with_extension(""),
    }
}

/// Reports whether an attribute is `#[cfg(test)]`.
fn is_test_only(attribute: &Attribute) -> bool {
    match &attribute.meta {
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    }
}

/// Returns the path of `#[path = "…"]`.
fn path_attribute(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    match &pair.value {
        Expr::Lit(value) if pair.path.is_ident("path") => match &value.lit {
            Lit::Str(path) => Some(path.value()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns `file:line: path` of each path below a crate's `src/tests` that leads into the crate's
/// private modules. Helpers of tests are none of the product, so their modules are permitted.
///
/// # Errors
/// A file cannot be read.
pub fn private_uses(source: &Path) -> Result<Vec<String>, Error> {
    let folder = source.join("tests");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let path = Regex::new(r"(?:^|[^$\w])crate::((?:\w+::)*\w*)")?;
    let mut found = Vec::new();
    for file in walk::files(&folder, &[])? {
        if !walk::has_ending(&file, &["rs"]) {
            continue;
        }
        let text = std::fs::read_to_string(&file)?;
        for (line, number) in text.lines().zip(1..) {
            let code = line.split("//").next().unwrap_or_default();
            for used in path.captures_iter(code) {
                if !used[1].split("::").any(is_name_of_tests) {
                    found.push(format!("{}:{number}: crate::{}", file.display(), &used[1]));
                }
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the source folders of all crates of the product.
    fn sources() -> Vec<PathBuf> {
        let mut sources = Vec::new();
        for folder in crate::hooks::PRODUCT {
            for entry in std::fs::read_dir(crate::repository().join(folder)).unwrap() {
                let source = entry.unwrap().path().join("src");
                sources.extend(source.is_dir().then_some(source));
            }
        }
        assert!(sources.len() > 25, "{sources:?}");
        sources
    }

    #[test]
    fn the_name_of_a_file_shows_that_it_is_for_tests() {
        for source in sources() {
            let hidden = hidden_tests(&source).unwrap();
            assert!(hidden.is_empty(), "{}: {hidden:?}", source.display());
        }
    }

    #[test]
    fn tests_of_a_crates_interface_use_nothing_private() {
        for source in sources() {
            assert_eq!(private_uses(&source).unwrap(), Vec::<String>::new());
        }
    }

    fn write(folder: &Path, file: &str, text: &str) {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn a_file_of_tests_that_is_named_like_product_is_found_and_no_other() {
        let source = tempfile::tempdir().unwrap();
        write(
            source.path(),
            "lib.rs",
            "#[cfg(test)]\nmod disk;\n#[cfg(test)]\nmod test_disk;\nmod store;\n#[cfg(test)]\nmod tests;\n\
             #[cfg(not(test))]\nmod guard;\n#[cfg(test)]\nmod inline {}\n",
        );
        write(
            source.path(),
            "store.rs",
            "#[cfg(test)]\n#[path = \"script.rs\"]\nmod one;\n#[cfg(test)]\n#[path = \"store_tests.rs\"]\nmod two;\n",
        );
        write(
            source.path(),
            "store_tests.rs",
            "mod helper;\n#[path = \"world.rs\"]\nmod world;\n",
        );
        write(source.path(), "tests/mod.rs", "mod suite;\n");
        let hidden = hidden_tests(source.path()).unwrap();
        assert_eq!(hidden, ["disk", "script.rs", "world.rs"].map(PathBuf::from));
    }

    #[test]
    fn a_private_path_is_found_and_helpers_and_comments_are_not() {
        let source = tempfile::tempdir().unwrap();
        write(
            source.path(),
            "tests/mod.rs",
            "use crate::build::Sheet;\nuse crate::tests::common;\nuse crate::build::sheet_tests::X;\n\
             // crate::private\nlet a = crate::seal(1);\nuse domesday_crate::Open;\n",
        );
        let found = private_uses(source.path()).unwrap();
        let ends = [":1: crate::build::Sheet", ":5: crate::seal"];
        assert_eq!(found.len(), ends.len(), "{found:?}");
        for (found, end) in found.iter().zip(ends) {
            assert!(found.ends_with(end), "{found}");
        }
    }
}
