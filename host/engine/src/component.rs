//! Makes a component of a model's core module, and reads the imports and exports of a component.

use crate::admission_error::{AdmissionError, invalid};
use wasmparser::{BinaryReaderError, ComponentTypeRef, Parser, Payload};
use wit_component::ComponentEncoder;

/// The module could not be made a component.
#[derive(Debug, thiserror::Error)]
#[error("the module could not be made a component: {0}")]
pub struct EncodeError(String);

/// Wraps a core module that was built against the SDK for `wasm32-unknown-unknown`.
///
/// # Errors
/// [`EncodeError`] if the module is invalid, or imports a function that its world does not have.
pub fn encode(module: &[u8]) -> Result<Vec<u8>, EncodeError> {
    ComponentEncoder::default()
        .validate(true)
        .module(module)
        .and_then(|mut encoder| encoder.encode())
        .map_err(|error| EncodeError(format!("{error:#}")))
}

/// The names on a component's outside, in its own order, as a registry lists them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// Interfaces and functions that it takes.
    pub imports: Vec<String>,
    /// Interfaces and functions that it gives.
    pub exports: Vec<String>,
}

/// Reads a component without what is in its modules and nested components. Each of those is one
/// payload, with its bytes. An error within one is returned too.
pub(crate) fn outermost_payloads(
    component: &[u8],
) -> impl Iterator<Item = Result<Payload<'_>, BinaryReaderError>> {
    let mut depth = 0_u32;
    let payloads = Parser::new(0).parse_all(component);
    payloads.filter(move |payload| {
        let is_outermost = depth == 0;
        match payload {
            Ok(Payload::ModuleSection { .. } | Payload::ComponentSection { .. }) => depth += 1,
            Ok(Payload::End(_)) => depth = depth.saturating_sub(1),
            Ok(_) => {}
            Err(_) => return true,
        }
        is_outermost
    })
}

/// Reads the names on a component's outside. It judges nothing else.
///
/// # Errors
/// [`AdmissionError`] if the bytes are not WebAssembly.
pub fn outline(component: &[u8]) -> Result<Outline, AdmissionError> {
    let (mut imports, mut exports) = (Vec::new(), Vec::new());
    for payload in outermost_payloads(component) {
        match payload.map_err(invalid)? {
            Payload::ComponentImportSection(section) => {
                for import in section {
                    let import = import.map_err(invalid)?;
                    if !matches!(import.ty, ComponentTypeRef::Type(_)) {
                        imports.push(import.name.name.to_owned());
                    }
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section {
                    exports.push(export.map_err(invalid)?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(Outline { imports, exports })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_names_the_outermost_component_alone() {
        let text = r#"(component
            (import "first" (func $first))
            (component (import "inner" (func $inner)) (export "inner-out" (func $inner)))
            (core module)
            (type $record (record (field "number" u32)))
            (import "kind" (type $kind (eq $record)))
            (import "second" (instance))
            (export "out" (func $first)))"#;
        let found = outline(&wat::parse_str(text).unwrap()).unwrap();
        assert_eq!(found.imports, ["first", "second"]);
        assert_eq!(found.exports, ["out"]);
    }
}
