//! Many mutations in one build.
//!
//! A patch that changes nothing but bodies of functions is compiled in beside the sources. The body
//! becomes `if crate::mutation("NAME") { patched } else { original }`. A variable selects the patch
//! when a test runs. So one build serves most patches. The others, which change a constant, a
//! signature or something that is no Rust, are built one at a time.

use crate::suites::{Culprits, Suites};
use crate::tree::Tree;
use anyhow::{Context, Result, ensure};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;
use syn::{Block, ImplItem, Item, Signature, TraitItem};

/// The variable that names the active patch.
pub const VARIABLE: &str = "DOMESDAY_MUTATION";

/// The function that each crate with a combined patch gets.
const SWITCH: &str = r#"
/// Reports whether this mutation is active.
#[doc(hidden)]
pub fn mutation(name: &str) -> bool {
    static ACTIVE: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let active = ACTIVE.get_or_init(|| std::env::var("DOMESDAY_MUTATION").ok());
    active.as_deref() == Some(name)
}
"#;

/// Sources that are compiled into guests, which have no variables.
const GUESTS: [&str; 3] = ["models/", "sdk/", "tests/guests/"];

/// The bodies that patches give to the functions of a file, by the function's place in the file.
type Alternatives = BTreeMap<usize, Vec<(String, Block)>>;

/// The mutations that one build can hold.
#[derive(Default)]
pub struct MutationSet {
    /// Their names.
    pub names: BTreeSet<String>,
    files: BTreeMap<String, Alternatives>,
}

impl MutationSet {
    /// Sorts out which of the patches change bodies of functions alone. The tree must be clean, and
    /// is left clean.
    ///
    /// # Errors
    /// A patch does not apply, or a file cannot be read.
    pub fn of(tree: &Tree, patches: &[&str]) -> Result<MutationSet> {
        let mut combined = MutationSet::default();
        for patch in patches {
            let files = tree.files_of(patch)?;
            let read = |file: &String| std::fs::read_to_string(tree.root.join(file));
            let before: Vec<String> = files.iter().map(read).collect::<Result<_, _>>()?;
            let after: Result<Vec<String>, _> =
                tree.with_patch(patch, &files, || files.iter().map(read).collect())?;
            let Ok(after) = after else { continue };
            let edits = files.into_iter().zip(before).zip(after);
            let edits = edits.map(|((file, before), after)| (file, before, after));
            combined.add(patch, edits.collect());
        }
        Ok(combined)
    }

    /// Adds a mutation, as files with their text before and after, where it changes bodies of
    /// functions alone.
    pub fn add(&mut self, name: &str, edits: Vec<(String, String, String)>) {
        let changed: Option<Vec<_>> = (edits.iter())
            .map(|(file, before, after)| changed_bodies(file, before, after))
            .collect();
        let Some(changed) = changed else { return };
        for ((file, _, _), bodies) in edits.into_iter().zip(changed) {
            let alternatives = self.files.entry(file).or_default();
            for (index, body) in bodies {
                let of_function = alternatives.entry(index).or_default();
                of_function.push((name.to_owned(), body));
            }
        }
        self.names.insert(name.to_owned());
    }

    /// Leaves out mutations that do not compile.
    fn leave_out(&mut self, names: &BTreeSet<String>) {
        self.names.retain(|name| !names.contains(name));
        for alternatives in self.files.values_mut() {
            for bodies in alternatives.values_mut() {
                bodies.retain(|(name, _)| !names.contains(name));
            }
        }
    }

    /// Builds the copy with every alternative, and leaves out what does not compile. Nothing is
    /// built where no mutation is left.
    ///
    /// A round changes the files of mutations that were left out, and no other. So crates below
    /// them, which are built already, are not built again.
    ///
    /// # Errors
    /// A file cannot be written, or the copy does not build for another reason than a mutation.
    pub fn build(
        &mut self,
        tree: &Tree,
        build: impl Fn(&BTreeSet<String>) -> Result<Result<Suites, Culprits>>,
    ) -> Result<Option<Suites>> {
        while !self.names.is_empty() {
            println!("{} mutations in one build", self.names.len());
            for (file, text) in self.texts(tree)? {
                write_changed(&tree.root.join(file), &text)?;
            }
            let started = Instant::now();
            let built = build(&self.names)?;
            println!("built for {} s", started.elapsed().as_secs());
            match built {
                Ok(suites) => return Ok(Some(suites)),
                Err(culprits) => {
                    let names = culprits.names(&tree.root);
                    ensure!(!names.is_empty(), "the copy does not build: {culprits}");
                    println!("left out, since they do not compile beside others: {names:?}");
                    self.leave_out(&names);
                }
            }
        }
        Ok(None)
    }

    /// Returns the sources with every alternative, by file.
    fn texts(&self, tree: &Tree) -> Result<BTreeMap<String, String>> {
        let original = |file: &str| -> Result<String> {
            std::fs::read_to_string(tree.original(file)).with_context(|| file.to_owned())
        };
        let (mut texts, mut roots) = (BTreeMap::new(), BTreeSet::new());
        for (file, alternatives) in &self.files {
            let mut parsed = syn::parse_file(&original(file)?).with_context(|| file.clone())?;
            let mut index = 0;
            each_function(&mut parsed.items, &mut |_, body| {
                if let Some(bodies) = alternatives.get(&index) {
                    *body = chosen_body(bodies, body);
                }
                index += 1;
            });
            texts.insert(file.clone(), parsed.into_token_stream().to_string());
            roots.insert(crate_root(tree, file)?);
        }
        for root in roots {
            let text = match texts.remove(&root) {
                Some(text) => text,
                None => original(&root)?,
            };
            texts.insert(root, text + SWITCH);
        }
        Ok(texts)
    }

    /// Returns the mutation whose body contains this byte of a written file.
    pub fn name_at(text: &str, byte: usize) -> Option<String> {
        let (_, after) = text.get(..byte)?.rsplit_once("crate :: mutation (\"")?;
        let mut is_escaped = false;
        let (end, _) = after.char_indices().find(|(_, character)| {
            let ends = *character == '"' && !is_escaped;
            is_escaped = *character == '\\' && !is_escaped;
            ends
        })?;
        let literal = syn::parse_str::<syn::LitStr>(&format!("\"{}\"", &after[..end]));
        Some(literal.ok()?.value())
    }
}

/// Returns the bodies of functions that differ, if nothing else differs.
fn changed_bodies(file: &str, before: &str, after: &str) -> Option<Vec<(usize, Block)>> {
    if !file.ends_with(".rs") || GUESTS.iter().any(|folder| file.starts_with(folder)) {
        return None;
    }
    let (before, after) = (bodies(before)?, bodies(after)?);
    if before.rest != after.rest || before.functions.len() != after.functions.len() {
        return None;
    }
    let mut changed = Vec::new();
    for (index, (old, new)) in before
        .functions
        .into_iter()
        .zip(after.functions)
        .enumerate()
    {
        if old.text == new.text {
            continue;
        }
        if old.is_const {
            return None;
        }
        changed.push((index, new.body));
    }
    Some(changed)
}

struct Function {
    is_const: bool,
    body: Block,
    text: String,
}

struct Bodies {
    functions: Vec<Function>,
    /// The file without the bodies.
    rest: String,
}

fn bodies(text: &str) -> Option<Bodies> {
    let mut file = syn::parse_file(text).ok()?;
    let mut functions = Vec::new();
    each_function(&mut file.items, &mut |signature, body| {
        let empty = Block {
            brace_token: body.brace_token,
            stmts: Vec::new(),
        };
        let body = std::mem::replace(body, empty);
        functions.push(Function {
            is_const: signature.constness.is_some(),
            text: body.to_token_stream().to_string(),
            body,
        });
    });
    Some(Bodies {
        functions,
        rest: file.into_token_stream().to_string(),
    })
}

/// Visits the functions of these items in order, without those within a body.
fn each_function(items: &mut [Item], visit: &mut impl FnMut(&Signature, &mut Block)) {
    for item in items {
        match item {
            Item::Fn(function) => visit(&function.sig, &mut function.block),
            Item::Impl(implementation) => {
                for item in &mut implementation.items {
                    if let ImplItem::Fn(function) = item {
                        visit(&function.sig, &mut function.block);
                    }
                }
            }
            Item::Trait(definition) => {
                for item in &mut definition.items {
                    if let TraitItem::Fn(function) = item
                        && let Some(body) = &mut function.default
                    {
                        visit(&function.sig, body);
                    }
                }
            }
            Item::Mod(module) => {
                if let Some((_, items)) = &mut module.content {
                    each_function(items, visit);
                }
            }
            _ => {}
        }
    }
}

/// Writes a file, unless it has this text. Cargo builds anew what depends on a file of another age.
fn write_changed(path: &Path, text: &str) -> Result<()> {
    if std::fs::read(path).is_ok_and(|bytes| bytes == text.as_bytes()) {
        return Ok(());
    }
    std::fs::write(path, text).with_context(|| path.display().to_string())
}

/// Returns a body that runs the active patch's body, or the original.
fn chosen_body(bodies: &[(String, Block)], original: &Block) -> Block {
    let mut text = "{ ".to_owned();
    for (patch, body) in bodies {
        let body = body.to_token_stream();
        text.push_str(&format!("if crate::mutation({patch:?}) {body} else "));
    }
    text.push_str(&format!("{} }}", original.to_token_stream()));
    syn::parse_str(&text).unwrap_or_else(|_| original.clone())
}

/// Returns the root file of the crate that a file belongs to.
fn crate_root(tree: &Tree, file: &str) -> Result<String> {
    let package = Path::new(file)
        .ancestors()
        .find(|folder| tree.root.join(folder).join("Cargo.toml").is_file())
        .with_context(|| format!("{file} is in no package"))?;
    let root = ["src/lib.rs", "src/main.rs"]
        .map(|root| package.join(root))
        .into_iter()
        .find(|root| tree.root.join(root).is_file())
        .with_context(|| format!("{} has no source", package.display()))?;
    Ok(root.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const B: &str = "with Ok(\"b\")";
    const BEFORE: &str = "struct A; impl A { fn at(&self, n: u32) -> bool { n < 3 } } const N: u32 = 1; fn other() {}";

    #[test]
    fn a_changed_body_is_found() {
        let after = BEFORE.replace("n < 3", "n <= 3");
        let changed = changed_bodies("host/a.rs", BEFORE, &after).unwrap();
        assert_eq!(changed.len(), 1);
        assert_eq!(changed[0].0, 0);
        assert_eq!(changed[0].1.to_token_stream().to_string(), "{ n <= 3 }");
    }

    #[test]
    fn other_changes_build_alone() {
        for (from, to) in [
            ("u32 = 1", "u32 = 2"),
            ("n: u32", "n: u64"),
            ("fn other() {}", ""),
        ] {
            let after = BEFORE.replace(from, to);
            assert!(
                changed_bodies("host/a.rs", BEFORE, &after).is_none(),
                "{to}"
            );
        }
        let after = BEFORE.replace("n < 3", "n <= 3");
        assert!(changed_bodies("models/a.rs", BEFORE, &after).is_none());
        assert!(changed_bodies("host/a.toml", BEFORE, &after).is_none());
    }

    #[test]
    fn a_file_that_has_the_text_keeps_its_age() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.rs");
        write_changed(&path, "fn a() {}").unwrap();
        let old = std::time::SystemTime::UNIX_EPOCH;
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(old).unwrap();
        let age = || std::fs::metadata(&path).unwrap().modified().unwrap();
        write_changed(&path, "fn a() {}").unwrap();
        assert_eq!(age(), old);
        write_changed(&path, "fn b() {}").unwrap();
        assert_ne!(age(), old);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "fn b() {}");
    }

    #[test]
    fn the_active_patch_is_chosen_and_found_again() {
        let block = |text: &str| syn::parse_str::<Block>(text).unwrap();
        let bodies = [
            ("a".to_owned(), block("{ 1 }")),
            (B.to_owned(), block("{ 2 }")),
        ];
        let text = chosen_body(&bodies, &block("{ 3 }"))
            .to_token_stream()
            .to_string();
        assert_eq!(
            text,
            "{ if crate :: mutation (\"a\") { 1 } else if crate :: mutation (\"with Ok(\\\"b\\\")\") { 2 } else { 3 } }"
        );
        let byte = text.find('2').unwrap();
        assert_eq!(MutationSet::name_at(&text, byte).as_deref(), Some(B));
        assert_eq!(MutationSet::name_at(&text, 1), None);
    }
}
