//! Names of functions, for a profile.

use super::call_tree::Function;
use crate::admission_error::{AdmissionError, invalid};
use std::collections::BTreeMap;
use wasmparser::{ExternalKind, KnownCustom, Name, Parser, Payload};

/// The names of the functions of a component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionNames {
    /// By module, and then by the function's number.
    modules: Vec<BTreeMap<u32, String>>,
}

/// The named build is another program than the release.
#[derive(Debug, thiserror::Error)]
pub enum NamesError {
    /// A component cannot be read.
    #[error(transparent)]
    NotRead(#[from] AdmissionError),
    /// Their code differs, so a number does not name the same function in both.
    #[error("the build with names has other code than the release; build the release's own source")]
    OtherCode,
}

impl FunctionNames {
    /// Reads the names that a component holds: its name sections, and its exports elsewhere.
    ///
    /// # Errors
    /// [`AdmissionError::Invalid`] if the bytes are not WebAssembly.
    pub fn of(component: &[u8]) -> Result<FunctionNames, AdmissionError> {
        let mut modules = Vec::new();
        for payload in Parser::new(0).parse_all(component) {
            match payload.map_err(invalid)? {
                Payload::ModuleSection { .. } => modules.push(BTreeMap::new()),
                Payload::ExportSection(section) => {
                    let Some(names) = modules.last_mut() else {
                        continue;
                    };
                    for export in section {
                        let export = export.map_err(invalid)?;
                        if export.kind == ExternalKind::Func {
                            names.insert(export.index, export.name.to_owned());
                        }
                    }
                }
                Payload::CustomSection(section) => {
                    if let (Some(names), KnownCustom::Name(parts)) =
                        (modules.last_mut(), section.as_known())
                    {
                        for part in parts {
                            // Names change no answer, so a broken section is none.
                            let Ok(Name::Function(functions)) = part else {
                                continue;
                            };
                            for name in functions.into_iter().filter_map(Result::ok) {
                                names.insert(name.index, readable(name.name));
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(FunctionNames { modules })
    }

    /// Reads the names of a release from a build of the same source that kept them.
    ///
    /// # Errors
    /// [`NamesError::OtherCode`] if a function differs.
    pub fn of_build(component: &[u8], named: &[u8]) -> Result<FunctionNames, NamesError> {
        if bodies(component)? != bodies(named)? {
            return Err(NamesError::OtherCode);
        }
        Ok(FunctionNames::of(named)?)
    }

    /// Returns the name of a function, or its number.
    pub(super) fn name(&self, function: Function) -> String {
        let (module, index) = match function {
            Function::Defined { module, index } => (module, index),
            Function::OuterCalls => return "(outer calls)".to_owned(),
            Function::Initialization => return "(initialization of a module)".to_owned(),
        };
        let names = usize::try_from(module)
            .ok()
            .and_then(|at| self.modules.get(at));
        match names.and_then(|names| names.get(&index)) {
            Some(name) => name.clone(),
            None => format!("module {module} function {index}"),
        }
    }
}

/// Returns a name of Rust's as its source has it, without the hash.
fn readable(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}

/// Returns the bodies of all functions of all modules, in order.
fn bodies(component: &[u8]) -> Result<Vec<&[u8]>, AdmissionError> {
    let mut bodies = Vec::new();
    for payload in Parser::new(0).parse_all(component) {
        if let Payload::CodeSectionEntry(body) = payload.map_err(invalid)? {
            bodies.push(&component[body.range()]);
        }
    }
    Ok(bodies)
}
