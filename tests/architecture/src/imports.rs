//! The imports between the files of a crate, read from their `use` items and written-out paths.
//!
//! An edge is a path that another file defines, in a `use` or written out in code. A `mod` item is
//! none. A public re-export or a written-out path that leads into the module's own child is none
//! either: these compose what its `mod` items declare. A re-exported name is an edge to the file
//! that defines it. Test modules are left out, and so is the text of macros.

use crate::circles::Graph;
use crate::walk;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::Visit;
use syn::{Item, ItemUse, UseTree, Visibility};

/// A path of modules from the crate's root.
type Module = Vec<String>;

/// One file of a crate: its imports and its re-exports, as absolute paths.
struct Source {
    imports: Vec<Module>,
    /// The paths that are written out in code.
    mentions: Vec<Module>,
    /// The name that is offered, and the path that it stands for.
    re_exports: Vec<(String, Module)>,
}

/// Reads the sources of a crate in `folder`, and returns which file imports which.
///
/// # Errors
/// A file cannot be read or is not Rust.
pub fn graph(folder: &Path) -> Result<Graph, Box<dyn std::error::Error>> {
    let files = files(folder)?;
    let modules: BTreeSet<&Module> = files.keys().collect();
    let mut sources = BTreeMap::new();
    for (module, path) in &files {
        let text = std::fs::read_to_string(path)?;
        let file =
            syn::parse_file(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut source = Source {
            imports: Vec::new(),
            mentions: Vec::new(),
            re_exports: Vec::new(),
        };
        read(&file.items, module, &modules, &mut source);
        sources.insert(module.clone(), source);
    }
    let name = |module: &Module| match module.as_slice() {
        [] => "the crate's root".to_owned(),
        path => path.join("::"),
    };
    let edges = sources.iter().map(|(module, source)| {
        let owner = |path| owner(path, &sources, 0);
        let imported = source.imports.iter().filter_map(owner);
        let mentioned = source.mentions.iter().filter_map(owner);
        let mentioned = mentioned.filter(|other| !other.starts_with(module));
        let others = imported.chain(mentioned).filter(|other| other != module);
        (name(module), others.map(|other| name(&other)).collect())
    });
    Ok(edges.collect())
}

/// Returns the files of a crate's modules. Test modules are left out.
fn files(folder: &Path) -> std::io::Result<BTreeMap<Module, PathBuf>> {
    let mut files = BTreeMap::new();
    // A template is the text of another crate, and each file of `bin` is a separate crate.
    for path in walk::files(folder, &["template", "bin", "tests"])? {
        let inner = path
            .strip_prefix(folder)
            .unwrap_or(&path)
            .with_extension("");
        let mut module: Module = inner
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        let Some(stem) = module.last() else { continue };
        if !walk::has_ending(&path, &["rs"]) || stem.ends_with("tests") {
            continue;
        }
        if matches!(stem.as_str(), "mod" | "lib" | "main") {
            module.pop();
        }
        files.insert(module, path);
    }
    Ok(files)
}

fn read(items: &[Item], module: &Module, modules: &BTreeSet<&Module>, source: &mut Source) {
    for item in items {
        match item {
            Item::Use(item) => read_use(item, module, modules, source),
            Item::Mod(inner) => {
                let test = inner
                    .attrs
                    .iter()
                    .any(|attribute| attribute.path().is_ident("cfg"));
                if let Some((_, items)) = inner.content.as_ref().filter(|_| !test) {
                    read(items, module, modules, source);
                }
            }
            item => {
                let mut reader = PathReader {
                    module,
                    modules,
                    mentions: &mut source.mentions,
                };
                reader.visit_item(item);
            }
        }
    }
}

/// Collects the paths that an item writes out.
struct PathReader<'a> {
    module: &'a Module,
    modules: &'a BTreeSet<&'a Module>,
    mentions: &'a mut Vec<Module>,
}

impl<'ast> Visit<'ast> for PathReader<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Module = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        // A single name is a variable or something imported.
        if parts.len() > 1
            && let Some(path) = absolute(&parts, self.module, self.modules)
        {
            self.mentions.push(path);
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    // A `use` within a function.
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let mut paths = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut paths);
        let paths = paths.iter();
        self.mentions
            .extend(paths.filter_map(|(_, path)| absolute(path, self.module, self.modules)));
    }

    // `pub(in crate::embedded)` names who may use an item, and uses nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

fn read_use(item: &ItemUse, module: &Module, modules: &BTreeSet<&Module>, source: &mut Source) {
    let mut paths = Vec::new();
    flatten(&item.tree, &mut Vec::new(), &mut paths);
    for (offered, path) in paths {
        let Some(path) = absolute(&path, module, modules) else {
            continue;
        };
        match item.vis {
            Visibility::Inherited => source.imports.push(path),
            _ => {
                // An edge, unless it leads into an own child.
                source.mentions.push(path.clone());
                source.re_exports.push((offered, path));
            }
        }
    }
}

/// Lists the paths of a tree, each with the name that it gets.
fn flatten(tree: &UseTree, before: &mut Module, paths: &mut Vec<(String, Module)>) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, paths);
            before.pop();
        }
        UseTree::Name(name) => push(before, name.ident.to_string(), None, paths),
        UseTree::Rename(name) => {
            let offered = Some(name.rename.to_string());
            push(before, name.ident.to_string(), offered, paths);
        }
        UseTree::Glob(_) => paths.push(("*".to_owned(), before.clone())),
        UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, before, paths);
            }
        }
    }
}

fn push(before: &Module, name: String, offered: Option<String>, paths: &mut Vec<(String, Module)>) {
    let mut path = before.clone();
    if name != "self" {
        path.push(name.clone());
    }
    paths.push((offered.unwrap_or(name), path));
}

/// Returns the path from the crate's root, or nothing where it leads out of the crate.
fn absolute(path: &Module, module: &Module, modules: &BTreeSet<&Module>) -> Option<Module> {
    let first = path.first()?;
    if first == "crate" {
        return Some(path[1..].to_vec());
    }
    let ups = path.iter().take_while(|part| *part == "super").count();
    if ups > 0 {
        let base = module.len().checked_sub(ups)?;
        return Some([&module[..base], &path[ups..]].concat());
    }
    let own = if first == "self" {
        &path[1..]
    } else {
        &path[..]
    };
    let child = [module.as_slice(), &own[..own.len().min(1)]].concat();
    (first == "self" || modules.contains(&child)).then(|| [module, own].concat())
}

/// Returns the file that defines the item of a path, through public re-exports.
fn owner(path: &Module, sources: &BTreeMap<Module, Source>, depth: usize) -> Option<Module> {
    let length = (0..=path.len())
        .rev()
        .find(|length| sources.contains_key(&path[..*length]))?;
    let (file, rest) = path.split_at(length);
    let offered = rest.first().filter(|_| depth < 8).and_then(|name| {
        let re_exports = &sources[file].re_exports;
        let found = re_exports.iter().find(|(offered, _)| offered == name);
        found.map(|(_, path)| path)
    });
    match offered {
        Some(path) => owner(path, sources, depth + 1),
        None => Some(file.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circles::circles;

    /// The circles that stand, each with its reason.
    const EXCEPTIONS: &[(&str, &[&str], &str)] = &[];

    #[test]
    fn no_file_of_a_crate_imports_in_a_circle() {
        let mut unexpected = Vec::new();
        let mut known = 0;
        for top in crate::hooks::PRODUCT {
            for entry in std::fs::read_dir(crate::repository().join(top)).unwrap() {
                let folder = entry.unwrap().path().join("src");
                if !folder.join("lib.rs").exists() && !folder.join("main.rs").exists() {
                    continue;
                }
                let package = folder
                    .parent()
                    .unwrap()
                    .file_name()
                    .unwrap()
                    .to_string_lossy();
                for circle in circles(&graph(&folder).unwrap()) {
                    let stands = EXCEPTIONS
                        .iter()
                        .any(|(of, files, _)| *of == package && circle.iter().eq(files.iter()));
                    match stands {
                        true => known += 1,
                        false => unexpected.push(format!("{package}: {circle:?}")),
                    }
                }
            }
        }
        assert!(unexpected.is_empty(), "{unexpected:#?}");
        assert_eq!(
            known,
            EXCEPTIONS.len(),
            "an exception that no longer stands"
        );
        assert!(EXCEPTIONS.len() <= 5, "at most five circles may stand");
    }

    #[test]
    fn no_arrow_runs_back_up_between_the_modules_of_the_server() {
        let files = graph(&crate::repository().join("host/server/src")).unwrap();
        let module = |file: &str| file.split("::").next().unwrap().to_owned();
        let mut modules = Graph::new();
        for (file, imported) in &files {
            let others = imported.iter().map(|other| module(other));
            let edges = modules.entry(module(file)).or_default();
            edges.extend(others.filter(|other| *other != module(file)));
        }
        assert!(modules.len() > 20, "{:?}", modules.keys());
        assert_eq!(circles(&modules), Vec::<BTreeSet<String>>::new());
    }

    #[test]
    fn a_path_that_is_written_out_is_an_edge_unless_it_leads_to_a_child() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
        write("lib.rs", "mod a; mod b; fn run() { a::start(b::LIMIT) }").unwrap();
        write(
            "a.rs",
            "pub fn start(at: u8) -> super::b::Kind { super::c() }",
        )
        .unwrap();
        write(
            "b.rs",
            "pub struct Kind; pub const LIMIT: u8 = crate::a::LEAST;",
        )
        .unwrap();
        let found = graph(folder.path()).unwrap();
        assert!(found["the crate's root"].is_empty(), "{found:?}");
        let both = ["b", "the crate's root"].map(str::to_owned);
        assert_eq!(found["a"], BTreeSet::from(both));
        assert_eq!(found["b"], BTreeSet::from(["a".to_owned()]));
    }

    #[test]
    fn a_use_in_a_function_and_a_sibling_that_is_offered_on_are_edges() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("lib.rs", "mod a; mod b; mod c;");
        write("a.rs", "fn run() { use crate::b::Kind; }");
        write("b.rs", "pub use crate::c::Kind;");
        write("c.rs", "pub struct Kind;");
        let found = graph(folder.path()).unwrap();
        assert_eq!(found["a"], BTreeSet::from(["c".to_owned()]));
        assert_eq!(found["b"], BTreeSet::from(["c".to_owned()]));
    }

    #[test]
    fn a_re_export_of_a_child_adds_no_edge_and_resolves_to_the_defining_file() {
        let folder = std::env::temp_dir().join(format!("imports-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        write("lib.rs", "mod a; mod b; pub use a::{A, Old as New};");
        write("a.rs", "pub struct A; pub struct Old;");
        write(
            "b.rs",
            "use crate::New; use std::fs; #[cfg(test)] mod tests { use crate::c::C; }",
        );
        let found = graph(&folder).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found["b"], BTreeSet::from(["a".to_owned()]));
        assert!(found["the crate's root"].is_empty() && found["a"].is_empty());
    }
}
