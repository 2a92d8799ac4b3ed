//! A component with one more export, which sets the globals of a module to their first values.
//!
//! Nothing else changes: the numbers of its functions, types and globals stay, and so does the fuel
//! of each of its functions.

use super::state::{RESET, ResettableModule};
use crate::admission::validate;
use crate::component::outermost_payloads;
use std::borrow::Cow;
use wasm_encoder::{
    Alias, CanonicalFunctionSection, CanonicalOption, Component, ComponentAliasSection,
    ComponentExportKind, ComponentExportSection, ComponentTypeSection, ComponentValType,
    ExportKind, Instruction, Module, PrimitiveValType, RawSection, SectionId, ValType,
};
use wasm_encoder::{Encode, Function};
use wasmparser::types::TypesRef;
use wasmparser::{BinaryReader, Parser, Payload};

/// Adds the export. None where the component has no place for it, or would not be valid with it.
pub(super) fn with_reset(
    component: &[u8],
    types: TypesRef<'_>,
    module: &ResettableModule,
) -> Option<Vec<u8>> {
    let mut rewritten = Component::new();
    let mut number = 0;
    for payload in outermost_payloads(component) {
        let payload = payload.ok()?;
        let Some((id, range)) = payload.as_section() else {
            continue;
        };
        let mut data = Cow::Borrowed(component.get(range)?);
        if let Payload::ModuleSection { .. } = payload {
            if number == module.number {
                data = Cow::Owned(module_with_reset(&data, module)?);
            }
            number += 1;
        }
        rewritten.section(&RawSection { id, data: &data });
    }
    add_export(types, module, &mut rewritten)?;
    let rewritten = rewritten.finish();
    validate(&rewritten).is_ok().then_some(rewritten)
}

/// Lifts the module's function, whose parameter the host reads the memory by.
fn add_export(
    types: TypesRef<'_>,
    module: &ResettableModule,
    rewritten: &mut Component,
) -> Option<()> {
    if types.memory_count() == 0 {
        return None;
    }
    let mut function_type = ComponentTypeSection::new();
    let parameter = ComponentValType::Primitive(PrimitiveValType::U32);
    function_type
        .function()
        .params([("memory", parameter)])
        .result(None);
    let mut alias = ComponentAliasSection::new();
    alias.alias(Alias::CoreInstanceExport {
        instance: module.instance,
        kind: ExportKind::Func,
        name: RESET,
    });
    let mut lifted = CanonicalFunctionSection::new();
    lifted.lift(
        types.function_count(),
        types.component_type_count(),
        [CanonicalOption::Memory(0)],
    );
    let mut export = ComponentExportSection::new();
    let function = types.component_function_count();
    export.export(RESET, ComponentExportKind::Func, function, None);
    rewritten.section(&function_type);
    rewritten.section(&alias);
    rewritten.section(&lifted);
    rewritten.section(&export);
    Some(())
}

/// Adds the function to the module. None where the module lacks a section that it belongs in.
fn module_with_reset(bytes: &[u8], facts: &ResettableModule) -> Option<Vec<u8>> {
    let mut module = Module::new();
    let mut added = 0;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.ok()?;
        let Some((id, range)) = payload.as_section() else {
            continue;
        };
        let data = bytes.get(range)?;
        let item = if id == u8::from(SectionId::Type) {
            function_type()
        } else if id == u8::from(SectionId::Function) {
            encode_leb128(facts.types)
        } else if id == u8::from(SectionId::Export) {
            export(facts.functions)
        } else if id == u8::from(SectionId::Code) {
            body(&facts.globals)
        } else {
            module.section(&RawSection { id, data });
            continue;
        };
        let data = &with_item(data, &item)?;
        module.section(&RawSection { id, data });
        added += 1;
    }
    (added == 4).then(|| module.finish())
}

/// Returns a section with one more item at its end.
fn with_item(section: &[u8], item: &[u8]) -> Option<Vec<u8>> {
    let mut reader = BinaryReader::new(section, 0);
    let count = reader.read_var_u32().ok()?;
    let items = section.get(reader.current_position()..)?;
    let mut longer = encode_leb128(count.checked_add(1)?);
    longer.extend_from_slice(items);
    longer.extend_from_slice(item);
    Some(longer)
}

fn encode_leb128(number: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    number.encode(&mut bytes);
    bytes
}

/// Encodes the type of a function that takes a number and returns nothing.
fn function_type() -> Vec<u8> {
    const FUNCTION: u8 = 0x60;
    let mut bytes = vec![FUNCTION];
    [ValType::I32].as_slice().encode(&mut bytes);
    bytes.push(0);
    bytes
}

fn export(function: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    RESET.encode(&mut bytes);
    ExportKind::Func.encode(&mut bytes);
    function.encode(&mut bytes);
    bytes
}

/// Encodes the body of a function that sets each global to its first value.
fn body(globals: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut function = Function::new([]);
    for (global, value) in globals {
        function.raw(value.iter().copied());
        function.instruction(&Instruction::GlobalSet(*global));
    }
    function.instruction(&Instruction::End);
    let mut bytes = Vec::new();
    function.encode(&mut bytes);
    bytes
}
