//! Whether a component may run at all, before a single instruction of it does.
//!
//! In order: size, full validation, its shape (the import allow-list, the export, what it holds), compilation, the
//! resources that it declares, and the types of what it imports and exports. Its digest and signature are the
//! package's business and come first of all.

use crate::config::{LEFT_OUT, MAX_MEMORIES, MAX_MEMORY_BYTES, MAX_TABLES};
use crate::runtime::Limits;
use crate::shape::{self, Profile};
use crate::{v1, v1_1};
use wasmparser::{Parser, Validator, WasmFeatures};
use wasmtime::Engine;
use wasmtime::component::Component;

/// The largest component, bytes.
pub const MAX_COMPONENT_BYTES: usize = 64 << 20;

/// wasmtime states memory in pages.
pub(crate) const PAGE_BYTES: u64 = 64 << 10;

/// Why a component may not run.
#[derive(Debug, thiserror::Error)]
pub enum AdmissionError {
    /// Too large.
    #[error("the component has {bytes} bytes; at most {MAX_COMPONENT_BYTES} are admitted")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// Not a component: a core module, text, or something else.
    #[error(
        "these bytes are no WebAssembly component ({found}); `domesday release build` makes one of a model crate"
    )]
    NotAComponent {
        /// What they seem to be.
        found: &'static str,
    },
    /// It breaks the WebAssembly specification, or uses what the sandbox leaves out.
    #[error("the component is not valid at byte {offset}: {problem}")]
    Invalid {
        /// Where.
        offset: usize,
        /// What is wrong there.
        problem: String,
    },
    /// It wants something that a release may not have.
    #[error("the component imports {name:?}; a release may import only {evidence:?} with its types, and {packed:?}{more}", evidence = v1::EVIDENCE, packed = v1_1::PACKED_EVIDENCE, more = also(*profile))]
    ForbiddenImport {
        /// The import's name.
        name: String,
        /// The profile that it was held against.
        profile: Profile,
    },
    /// It is no release: nothing to call.
    #[error("the component does not export the function {name:?}; a release must", name = v1::VALUE)]
    NoExport,
    /// It defines a resource type, whose handles the host would keep for it.
    #[error(
        "the component defines a resource type at byte {offset}; a release has none of its own"
    )]
    OwnResource {
        /// Where.
        offset: usize,
    },
    /// A component within it makes instances of components.
    #[error(
        "a component within the component makes instances of components; a release does so at its outermost level only, if at all"
    )]
    NestedInstances,
    /// It needs more than a release may declare a need for.
    #[error("the component declares {found} {what}; at most {limit} are admitted")]
    NeedsTooMuch {
        /// What of.
        what: &'static str,
        /// How much.
        found: u64,
        /// How much is admitted.
        limit: u64,
    },
    /// It could not be compiled.
    #[error("the component could not be compiled: {0}")]
    NotCompiled(String),
    /// An import or export has other types than the interface.
    #[error("the component does not fit domesday:valuation@1.0.0: {0}")]
    DoesNotFit(String),
    /// Compiled code could not be kept or fetched.
    #[error(transparent)]
    Cache(#[from] crate::cache::CacheError),
}

/// Checks everything that can be checked without compiling.
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
    Validator::new_with_features(WasmFeatures::default() - LEFT_OUT)
        .validate_all(component)
        .map_err(invalid)?;
    shape::check(component, profile).map(drop)
}

/// Compiles a component that was examined.
pub(crate) fn compile(engine: &Engine, component: &[u8]) -> Result<Component, AdmissionError> {
    Component::from_binary(engine, component)
        .map_err(|error| AdmissionError::NotCompiled(format!("{error:#}")))
}

/// Checks what the component declares that it needs.
pub(crate) fn resources(component: &Component, limits: &Limits) -> Result<(), AdmissionError> {
    within(
        "bytes of memory by its manifest",
        limits.memory_bytes,
        MAX_MEMORY_BYTES as u64,
    )?;
    // A component that instantiates modules chosen at run time has no bound to check; ours have none.
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
        crate::config::MAX_TABLE_ELEMENTS as u64,
    )?;
    Ok(())
}

/// Whether what was found is within a limit.
pub(crate) fn within(what: &'static str, found: u64, limit: u64) -> Result<(), AdmissionError> {
    if found <= limit {
        Ok(())
    } else {
        Err(AdmissionError::NeedsTooMuch { what, found, limit })
    }
}

/// Linear memory that the component declares to begin with, bytes.
pub(crate) fn memory_at_start(component: &Component) -> u64 {
    component
        .resources_required()
        .and_then(|needs| needs.max_initial_memory_size)
        .unwrap_or(0)
        .saturating_mul(PAGE_BYTES)
}

/// What a component imports that it can call, in its own order.
///
/// # Errors
/// Where its shape is none that is admitted.
pub fn imports(component: &[u8], profile: Profile) -> Result<Vec<String>, AdmissionError> {
    shape::check(component, profile)
}

/// What a profile allows besides.
fn also(profile: Profile) -> &'static str {
    match profile {
        Profile::Pure => "",
        Profile::Wasi => ", and the interfaces of WASI 0.2 that a language's runtime needs",
    }
}

pub(crate) fn not_linked(error: wasmtime::Error) -> AdmissionError {
    AdmissionError::DoesNotFit(format!("{error:#}"))
}

pub(crate) fn invalid(error: wasmparser::BinaryReaderError) -> AdmissionError {
    AdmissionError::Invalid {
        offset: error.offset(),
        problem: error.message().to_owned(),
    }
}
