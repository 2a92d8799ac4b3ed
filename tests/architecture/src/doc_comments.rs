//! Doc comments say what an item is. The first line of a function's begins with a third-person
//! verb. All others, and the bodies of `# Errors`, begin with a noun phrase.

use crate::walk;
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Lit, Meta, Signature};

/// First words of a clause. A noun phrase never begins with one of them.
const CLAUSE: [&str; 9] = [
    "How", "What", "When", "Where", "Whether", "Which", "Who", "Whoever", "Why",
];

/// Returns `file item: line` of each doc comment of the folders that begins with the wrong kind of
/// word. Tests and their helpers are left out: a test's comment states the promise that it holds.
///
/// A plural noun passes for a verb.
///
/// # Errors
/// A file cannot be read or is not Rust.
pub fn misworded(
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
            let mut comments = Comments::default();
            comments.visit_file(&file);
            let lines = comments.misworded.into_iter();
            found.extend(lines.map(|line| format!("{} {line}", path.display())));
        }
    }
    Ok(found)
}

#[derive(Default)]
struct Comments {
    misworded: Vec<String>,
}

impl Comments {
    fn read_function(&mut self, attributes: &[Attribute], signature: &Signature) {
        let is_test = |one: &Attribute| {
            one.path()
                .segments
                .last()
                .is_some_and(|it| it.ident == "test")
        };
        if attributes.iter().any(is_test) {
            return;
        }
        let lines: Vec<String> = attributes.iter().filter_map(doc_line).collect();
        let first = lines.first().filter(|line| !begins_with_verb(line));
        let errors = lines.iter().position(|line| line == "# Errors");
        let body = errors.and_then(|at| lines.get(at + 1));
        let body = body.filter(|line| begins_with_clause(line));
        for line in first.into_iter().chain(body) {
            self.misworded.push(format!("{}: {line}", signature.ident));
        }
    }

    /// Reads the doc comment of an item that is not a function.
    fn read(&mut self, attributes: &[Attribute], name: &dyn ToString) {
        if let Some(line) = attributes.iter().find_map(doc_line)
            && begins_with_clause(&line)
        {
            self.misworded.push(format!("{}: {line}", name.to_string()));
        }
    }
}

impl<'ast> Visit<'ast> for Comments {
    fn visit_file(&mut self, file: &'ast syn::File) {
        self.read(&file.attrs, &"module");
        visit::visit_file(self, file);
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.read_function(&function.attrs, &function.sig);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.read_function(&function.attrs, &function.sig);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        self.read_function(&function.attrs, &function.sig);
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.read(&item.attrs, &item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.read(&item.attrs, &item.ident);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.read(&item.attrs, &item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.read(&item.attrs, &item.ident);
        visit::visit_item_type(self, item);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.read(&item.attrs, &item.ident);
        visit::visit_item_const(self, item);
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.read(&item.attrs, &item.ident);
        visit::visit_impl_item_const(self, item);
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.read(&item.attrs, &item.ident);
        visit::visit_item_static(self, item);
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.read(&variant.attrs, &variant.ident);
        visit::visit_variant(self, variant);
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        match &field.ident {
            Some(name) => self.read(&field.attrs, name),
            None => self.read(&field.attrs, &"field"),
        }
        visit::visit_field(self, field);
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

fn first_word(line: &str) -> &str {
    let mut words = line.split(|c: char| !c.is_alphabetic() && c != '-');
    words.next().unwrap_or_default()
}

/// Reports whether the first word may be a verb in the third person.
fn begins_with_verb(line: &str) -> bool {
    let word = first_word(line);
    word.starts_with(char::is_uppercase)
        && word.ends_with('s')
        && !matches!(word, "Its" | "This" | "Is" | "As" | "Has")
}

fn begins_with_clause(line: &str) -> bool {
    CLAUSE.contains(&first_word(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::PRODUCT;

    #[test]
    fn doc_comments_begin_with_a_verb_or_a_noun_phrase() {
        let found = misworded(&crate::repository(), &PRODUCT).unwrap();
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn a_doc_comment_with_the_wrong_first_word_is_found() {
        let text = "//! Why it is here.\n/// Returns one.\nfn a() {}\n/// The second.\nfn b() {}\n\
            fn c() {}\n/// Which it is.\nstruct S {\n/// Where.\nf: u8,\n/// True if so.\ng: u8,\n}\n\
            impl S {\n/// What is left.\nfn d(&self) {}\n/// How long.\nconst L: u8 = 1;\n}\n\
            /// Who asks.\nenum E {\n/// When it is late.\nV,\n/// A variant.\nW,\n}\n\
            /// Reads.\n///\n/// # Errors\n/// Where it fails.\nfn r() {}\n\
            /// Whether.\nstatic T: u8 = 1;\n/// The promise.\n#[test]\nfn e() {}\n";
        let repository = tempfile::tempdir().unwrap();
        std::fs::create_dir(repository.path().join("host")).unwrap();
        std::fs::write(repository.path().join("host/lib.rs"), text).unwrap();
        let found = misworded(repository.path(), &["host"]).unwrap();
        let found: Vec<&str> = found
            .iter()
            .filter_map(|line| line.split_once(".rs ").map(|(_, rest)| rest))
            .collect();
        assert_eq!(
            found,
            [
                "module: Why it is here.",
                "b: The second.",
                "S: Which it is.",
                "f: Where.",
                "d: What is left.",
                "L: How long.",
                "E: Who asks.",
                "V: When it is late.",
                "r: Where it fails.",
                "T: Whether.",
            ]
        );
    }
}
