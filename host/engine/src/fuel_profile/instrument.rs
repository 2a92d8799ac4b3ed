//! A component whose functions report each return of a call, for the same fuel.
//!
//! The engine checks its deadline where a function begins and where a loop begins. An empty loop
//! after each call adds a check there. A loop and its end cost no fuel, so a row of the changed
//! component spends exactly the fuel of the release.

use crate::admission_error::{AdmissionError, invalid};
use crate::component::outermost_payloads;
use wasm_encoder::{CodeSection, Component, Module, NameSection, RawSection};
use wasmparser::{FunctionBody, Operator, Parser, Payload, TypeRef};

/// `loop` without parameters and results, and its `end`.
const EMPTY_LOOP: [u8; 3] = [0x03, 0x40, 0x0b];

/// The changed component.
pub(super) struct InstrumentedComponent {
    /// Its bytes. Each core module has its number in the component as its name.
    pub(super) component: Vec<u8>,
    /// By module and function: the offset of the first instruction in the function. Imported ones
    /// have 0.
    pub(super) first_instructions: Vec<Vec<usize>>,
}

/// Adds a check after each call of each core module.
///
/// # Errors
/// [`AdmissionError::Invalid`] if the bytes are not a component.
pub(super) fn instrument(component: &[u8]) -> Result<InstrumentedComponent, AdmissionError> {
    let mut first_instructions = Vec::new();
    let component = rewrite_component(component, &mut first_instructions)?;
    Ok(InstrumentedComponent {
        component,
        first_instructions,
    })
}

fn rewrite_component(
    bytes: &[u8],
    first_instructions: &mut Vec<Vec<usize>>,
) -> Result<Vec<u8>, AdmissionError> {
    let mut component = Component::new();
    for payload in outermost_payloads(bytes) {
        let payload = payload.map_err(invalid)?;
        let Some((id, range)) = payload.as_section() else {
            continue;
        };
        let section = &bytes[range];
        match payload {
            Payload::ModuleSection { .. } => {
                let module = rewrite_module(section, first_instructions)?;
                push(&mut component, id, &module);
            }
            Payload::ComponentSection { .. } => {
                let inner = rewrite_component(section, first_instructions)?;
                push(&mut component, id, &inner);
            }
            _ => push(&mut component, id, section),
        }
    }
    Ok(component.finish())
}

fn push(component: &mut Component, id: u8, data: &[u8]) {
    component.section(&RawSection { id, data });
}

/// Rewrites the code of a module. Custom sections are left out: none changes an answer.
fn rewrite_module(
    bytes: &[u8],
    first_instructions: &mut Vec<Vec<usize>>,
) -> Result<Vec<u8>, AdmissionError> {
    let mut module = Module::new();
    let mut code = CodeSection::new();
    let mut firsts = Vec::new();
    let mut bodies = 0;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(invalid)? {
            Payload::CodeSectionStart { count, .. } => {
                bodies = count;
                if bodies == 0 {
                    module.section(&code);
                }
            }
            Payload::CodeSectionEntry(body) => {
                let (first, rewritten) = rewrite_body(bytes, &body).map_err(invalid)?;
                code.raw(&rewritten);
                firsts.push(first);
                if code.len() == bodies {
                    module.section(&code);
                }
            }
            Payload::CustomSection(_) => {}
            other => {
                if let Payload::ImportSection(imports) = &other {
                    for import in imports.clone().into_imports() {
                        let kind = import.map_err(invalid)?.ty;
                        if matches!(kind, TypeRef::Func(_) | TypeRef::FuncExact(_)) {
                            firsts.push(0);
                        }
                    }
                }
                if let Some((id, range)) = other.as_section() {
                    module.section(&RawSection {
                        id,
                        data: &bytes[range],
                    });
                }
            }
        }
    }
    let mut names = NameSection::new();
    names.module(&first_instructions.len().to_string());
    module.section(&names);
    first_instructions.push(firsts);
    Ok(module.finish())
}

/// Returns the offset of the first instruction, and the body with an empty loop after each call.
fn rewrite_body(
    bytes: &[u8],
    body: &FunctionBody<'_>,
) -> Result<(usize, Vec<u8>), wasmparser::BinaryReaderError> {
    let range = body.range();
    let mut rewritten = Vec::with_capacity(range.len() * 2);
    let mut copied = range.start;
    let mut reader = body.get_operators_reader()?;
    let first = reader.original_position();
    while !reader.eof() {
        let operator = reader.read()?;
        if matches!(
            operator,
            Operator::Call { .. } | Operator::CallIndirect { .. } | Operator::CallRef { .. }
        ) {
            let end = reader.original_position();
            rewritten.extend_from_slice(&bytes[copied..end]);
            rewritten.extend_from_slice(&EMPTY_LOOP);
            copied = end;
        }
    }
    rewritten.extend_from_slice(&bytes[copied..range.end]);
    Ok((first - range.start, rewritten))
}
