//! The state that a component can change in its instance, beside its memory.
//!
//! Memory, and the mutable globals of one module, are set back after a row. A component that can
//! change anything else in its instance is given a fresh one for each row.

use crate::component::outermost_payloads;
use wasmparser::types::TypesRef;
use wasmparser::{
    CanonicalFunction, ComponentInstance, Instance, Operator, Parser, Payload, TypeRef,
};

/// The name of the function that is added to the module, and to the component.
pub(super) const RESET: &str = "domesday-reset";
/// Bytes that the first values of a module's globals may take, as instructions. A new instance
/// mostly gets them without fuel, and the function that sets them back needs fuel for each
/// instruction.
const MAX_VALUE_BYTES: usize = 64 << 10;

/// The module of a component whose globals can be set back.
pub(super) struct ResettableModule {
    /// Its number among the component's modules.
    pub(super) number: u32,
    /// The number of the core instance that is made of it.
    pub(super) instance: u32,
    /// Its functions with the imported ones.
    pub(super) functions: u32,
    /// Its types.
    pub(super) types: u32,
    /// The mutable globals, each by its number and the instructions of its first value.
    pub(super) globals: Vec<(u32, Vec<u8>)>,
}

/// The facts of one module that decide whether it can be set back.
#[derive(Default)]
struct ModuleFacts {
    defines_memory: bool,
    functions: u32,
    types: u32,
    globals: Vec<(u32, Vec<u8>)>,
}

/// Finds the module to set back. None where a row can change anything that would stay.
///
/// The component has these types, and its features are those of [`crate::config::LEFT_OUT`].
pub(super) fn resettable_module(component: &[u8], types: TypesRef<'_>) -> Option<ResettableModule> {
    let mut modules = Vec::new();
    // The module of each core instance. One that only gathers exports has none.
    let mut instances: Vec<Option<u32>> = Vec::new();
    for payload in outermost_payloads(component) {
        match payload.ok()? {
            Payload::ModuleSection {
                unchecked_range, ..
            } => modules.push(module_facts(component.get(unchecked_range)?)?),
            Payload::ComponentSection { .. } | Payload::ComponentStartSection { .. } => {
                return None;
            }
            Payload::ComponentCanonicalSection(section) => {
                for function in section {
                    // Anything else works on state of the component itself.
                    match function.ok()? {
                        CanonicalFunction::Lift { .. } | CanonicalFunction::Lower { .. } => {}
                        _ => return None,
                    }
                }
            }
            Payload::ComponentInstanceSection(section) => {
                for instance in section {
                    if matches!(instance.ok()?, ComponentInstance::Instantiate { .. }) {
                        return None;
                    }
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section {
                    if export.ok()?.name.name == RESET {
                        return None;
                    }
                }
            }
            Payload::InstanceSection(section) => {
                for instance in section {
                    instances.push(match instance.ok()? {
                        Instance::Instantiate { module_index, .. } => Some(module_index),
                        Instance::FromExports(_) => None,
                    });
                }
            }
            _ => {}
        }
    }
    // Each module stands in the component and has one number, and is instantiated once. An import,
    // an alias and an export would each give a module one more number. It could then be
    // instantiated twice, and one of its instances be set back.
    let mut made: Vec<u32> = instances.iter().copied().flatten().collect();
    made.sort_unstable();
    let once = made.len() == modules.len()
        && made.iter().zip(0..).all(|(a, b): (_, u32)| *a == b)
        && usize::try_from(types.module_count()).ok()? == modules.len();
    let number = once.then(|| module_to_reset(&modules)).flatten()?;
    let instance = instances.iter().position(|made| *made == Some(number))?;
    let module = modules.swap_remove(usize::try_from(number).ok()?);
    Some(ResettableModule {
        number,
        instance: u32::try_from(instance).ok()?,
        functions: module.functions,
        types: module.types,
        globals: module.globals,
    })
}

/// Returns the number of the module whose globals change, or of the one with the memory where no
/// global does. None where the globals of two modules change.
fn module_to_reset(modules: &[ModuleFacts]) -> Option<u32> {
    let with_globals: Vec<usize> = modules
        .iter()
        .enumerate()
        .filter(|(_, module)| !module.globals.is_empty())
        .map(|(number, _)| number)
        .collect();
    let number = match with_globals.as_slice() {
        [] => modules.iter().position(|module| module.defines_memory)?,
        [one] => *one,
        _ => return None,
    };
    u32::try_from(number).ok()
}

/// Reads a module. None where it runs code when it is made, or can change its tables or drop
/// segments, or shares a mutable global with another module.
fn module_facts(module: &[u8]) -> Option<ModuleFacts> {
    let mut facts = ModuleFacts::default();
    let (mut globals, mut value_bytes) = (0, 0);
    for payload in Parser::new(0).parse_all(module) {
        match payload.ok()? {
            Payload::StartSection { .. } => return None,
            Payload::TypeSection(section) => {
                for group in section {
                    facts.types += u32::try_from(group.ok()?.types().len()).ok()?;
                }
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    match import.ok()?.ty {
                        TypeRef::Func(_) | TypeRef::FuncExact(_) => facts.functions += 1,
                        TypeRef::Global(global) if global.mutable => return None,
                        TypeRef::Global(_) => globals += 1,
                        TypeRef::Table(_) | TypeRef::Memory(_) => {}
                        TypeRef::Tag(_) => return None,
                    }
                }
            }
            Payload::FunctionSection(section) => facts.functions += section.count(),
            Payload::MemorySection(section) => facts.defines_memory |= section.count() > 0,
            Payload::GlobalSection(section) => {
                for global in section {
                    let global = global.ok()?;
                    if global.ty.mutable {
                        let mut value = global.init_expr.get_binary_reader();
                        let length = value.bytes_remaining();
                        let instructions = value.read_bytes(length).ok()?;
                        value_bytes += length;
                        if value_bytes > MAX_VALUE_BYTES {
                            return None;
                        }
                        // Without the `end`.
                        let (_, value) = instructions.split_last()?;
                        facts.globals.push((globals, value.to_vec()));
                    }
                    globals += 1;
                }
            }
            Payload::ExportSection(section) => {
                for export in section {
                    if export.ok()?.name == RESET {
                        return None;
                    }
                }
            }
            Payload::CodeSectionEntry(body) => {
                let mut operators = body.get_operators_reader().ok()?;
                while !operators.eof() {
                    if changes_more_than_memory(&operators.read().ok()?) {
                        return None;
                    }
                }
            }
            _ => {}
        }
    }
    Some(facts)
}

/// Reports whether an instruction changes a table, or drops a segment.
fn changes_more_than_memory(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::TableSet { .. }
            | Operator::TableGrow { .. }
            | Operator::TableFill { .. }
            | Operator::TableCopy { .. }
            | Operator::TableInit { .. }
            | Operator::ElemDrop { .. }
            | Operator::DataDrop { .. }
    )
}
