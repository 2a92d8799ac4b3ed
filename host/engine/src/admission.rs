//! Admission: the checks of a component before it runs its first instruction.
//!
//! In order: size, full validation, shape, compilation, the resources that it declares, and the
//! types of its imports and exports. The shape is the import allow-list, the export and its
//! contents. The package checks its digest and signature before any of them.

pub use crate::admission_error::AdmissionError;
use crate::admission_error::{invalid, within};
pub use crate::config::MAX_COMPONENT_BYTES;
use crate::config::{
    LEFT_OUT, MAX_MEMORIES, MAX_MEMORY_BYTES, MAX_TABLE_ELEMENTS, MAX_TABLES, PAGE_BYTES,
};
use crate::limits::Limits;
use crate::profile::Profile;
use crate::shape;

use wasmparser::types::Types;
use wasmparser::{BinaryReaderError, Parser, Validator, WasmFeatures};
use wasmtime::component::Component;

/// Runs the checks that need no compilation.
pub(crate) fn examine(component: &[u8], profile: Profile) -> Result<(), AdmissionError> {
    if component.len() > MAX_COMPONENT_BYTES {
        return Err(AdmissionError::TooLarge {
            bytes: component.len(),
        });
    }
    if !Parser::is_component(component) {
        let found = if Parser::is_core_wasm(component) {
            "a core module"
        } else {
            "another format"
        };
        return Err(AdmissionError::NotAComponent { found });
    }
    validate(component).map_err(invalid)?;
    shape::check(component, profile).map(drop)
}

/// Validates a component without the features that no release may use, and returns its types.
///
/// # Errors
/// The first place where it is not valid.
pub(crate) fn validate(component: &[u8]) -> Result<Types, BinaryReaderError> {
    Validator::new_with_features(WasmFeatures::default() - LEFT_OUT).validate_all(component)
}

/// Checks the resources that the component declares.
pub(crate) fn resources(component: &Component, limits: &Limits) -> Result<(), AdmissionError> {
    within(
        "bytes of memory by its manifest",
        limits.memory_bytes,
        MAX_MEMORY_BYTES as u64,
    )?;
    // A component that instantiates modules chosen at run time has no bound to check; ours have
    // none.
    let Some(needs) = component.resources_required() else {
        return Err(AdmissionError::DoesNotFit(
            "it imports or exports modules or components".to_owned(),
        ));
    };
    within("memories", needs.num_memories.into(), MAX_MEMORIES.into())?;
    within("tables", needs.num_tables.into(), MAX_TABLES.into())?;
    within(
        "bytes of memory at the start",
        memory_at_start(component),
        limits.memory_bytes,
    )?;
    within(
        "table elements at the start",
        needs.max_initial_table_size.unwrap_or(0),
        MAX_TABLE_ELEMENTS as u64,
    )?;
    Ok(())
}

/// Returns the linear memory that the component declares at its start, bytes.
pub(crate) fn memory_at_start(component: &Component) -> u64 {
    component
        .resources_required()
        .and_then(|needs| needs.max_initial_memory_size)
        .unwrap_or(0)
        .saturating_mul(PAGE_BYTES)
}

/// Returns the imports of a component that it can call, in its own order.
///
/// # Errors
/// The shape of the component is not admitted.
pub fn imports(component: &[u8], profile: Profile) -> Result<Vec<String>, AdmissionError> {
    shape::check(component, profile)
}

pub(crate) fn not_linked(error: wasmtime::Error) -> AdmissionError {
    AdmissionError::DoesNotFit(format!("{error:#}"))
}
