//! The first line of a function's doc comment begins with a third-person verb.

use crate::walk;
use std::path::Path;
use syn::visit::Visit;
use syn::{Attribute, Expr, Lit, Meta, Signature};

/// Returns `file function: first line` of each function of the folders whose doc comment begins
/// with another word. Tests and their helpers are left out: a test's comment states the promise
/// that it holds.
///
/// A plural noun passes for a verb.
///
/// # Errors
/// A file cannot be read or is not Rust.
pub fn without_verb(
    repository: &Path,
    folders: &[&str],
) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let mut found = Vec::new();
    for folder in folders {
        for path in walk::files(&repository.join(folder), &["tests"])? {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            if !walk::has_ending(&path, &["rs"]) || stem.ends_with("tests") {
                continue;
            }
            let text = std::fs::read_to_string(&path)?;
            let file =
                syn::parse_file(&text).map_err(|error| format!("{}: {error}", path.display()))?;
            let mut functions = Functions::default();
            functions.visit_file(&file);
            let lines = functions.without_verb.into_iter();
            found.extend(lines.map(|line| format!("{} {line}", path.display())));
        }
    }
    Ok(found)
}

#[derive(Default)]
struct Functions {
    without_verb: Vec<String>,
}

impl Functions {
    fn read(&mut self, attributes: &[Attribute], signature: &Signature) {
        let is_test = |one: &Attribute| {
            one.path()
                .segments
                .last()
                .is_some_and(|it| it.ident == "test")
        };
        if attributes.iter().any(is_test) {
            return;
        }
        if let Some(line) = attributes.iter().find_map(doc_line)
            && !begins_with_verb(&line)
        {
            self.without_verb
                .push(format!("{}: {line}", signature.ident));
        }
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.read(&function.attrs, &function.sig);
        syn::visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.read(&function.attrs, &function.sig);
        syn::visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        self.read(&function.attrs, &function.sig);
        syn::visit::visit_trait_item_fn(self, function);
    }
}

/// Returns the text of a doc attribute.
fn doc_line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else {
        return None;
    };
    match &meta.value {
        Expr::Lit(literal) if meta.path.is_ident("doc") => match &literal.lit {
            Lit::Str(text) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    }
}

/// Reports whether the first word may be a verb in the third person.
fn begins_with_verb(line: &str) -> bool {
    let word = line.split(|c: char| !c.is_alphabetic() && c != '-').next();
    word.is_some_and(|word| {
        word.starts_with(char::is_uppercase)
            && word.ends_with('s')
            && !matches!(word, "Its" | "This" | "Is" | "As" | "Has")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::PRODUCT;

    #[test]
    fn doc_comments_of_functions_begin_with_a_verb() {
        let found = without_verb(&crate::repository(), &PRODUCT).unwrap();
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn a_doc_comment_without_a_verb_is_found() {
        let repository = tempfile::tempdir().unwrap();
        std::fs::create_dir(repository.path().join("host")).unwrap();
        let text = "/// Returns one.\nfn a() {}\n/// The second.\nfn b() {}\nfn c() {}\n\
            struct S;\nimpl S {\n/// What is left.\nfn d(&self) {}\n}\n\
            /// The promise.\n#[test]\nfn e() {}\n";
        std::fs::write(repository.path().join("host/lib.rs"), text).unwrap();
        let found = without_verb(repository.path(), &["host"]).unwrap();
        let found: Vec<&str> = found
            .iter()
            .filter_map(|line| line.split_once(".rs ").map(|(_, rest)| rest))
            .collect();
        assert_eq!(found, ["b: The second.", "d: What is left."]);
    }
}
