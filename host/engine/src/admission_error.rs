//! The reasons why a component is not admitted.

use crate::cache_error::CacheError;
use crate::config::MAX_COMPONENT_BYTES;
use crate::profile::Profile;
use crate::{v1, v1_1};

/// The reason why a component is not admitted.
#[derive(Debug, thiserror::Error)]
pub enum AdmissionError {
    /// The component is too large.
    #[error("the component has {bytes} bytes; at most {MAX_COMPONENT_BYTES} are admitted")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// The bytes are not a component: a core module, text, or another format.
    #[error(
        "the file is not a WebAssembly component ({found}); build one from a model crate with `domesday release build`"
    )]
    NotAComponent {
        /// The format that was recognised.
        found: &'static str,
    },
    /// The component breaks the WebAssembly specification or uses a feature that the sandbox
    /// disables.
    #[error("the component is not valid at byte {offset}: {problem}")]
    Invalid {
        /// The offset of the error, bytes.
        offset: usize,
        /// The problem.
        problem: String,
    },
    /// The component imports an interface that its profile does not allow.
    #[error("the component imports {name:?}; a release may import only {evidence:?} with its types, and {packed:?}{more}", evidence = v1::EVIDENCE, packed = v1_1::PACKED_EVIDENCE, more = also(*profile))]
    ForbiddenImport {
        /// The import's name.
        name: String,
        /// The profile of the release.
        profile: Profile,
    },
    /// The component does not export the function that values a subject.
    #[error("the component does not export the function {name:?}; a release must", name = v1::VALUE)]
    NoExport,
    /// The component defines a resource type, whose handles would lie in the host's memory.
    #[error("the component defines a resource type at byte {offset}; a release may define none")]
    OwnResource {
        /// The offset of the type, bytes.
        offset: usize,
    },
    /// A nested component instantiates components.
    #[error(
        "a nested component instantiates components; only the outermost level of a release may"
    )]
    NestedInstances,
    /// The component declares more of a resource than a release may have.
    #[error("the component declares {found} {what}; at most {limit} are admitted")]
    NeedsTooMuch {
        /// The resource.
        what: &'static str,
        /// The declared amount.
        found: u64,
        /// The largest amount that is admitted.
        limit: u64,
    },
    /// Compilation failed.
    #[error("the component could not be compiled: {0}")]
    NotCompiled(String),
    /// The types of an import or export differ from the interface.
    #[error("the component does not fit domesday:valuation@1.0.0: {0}")]
    DoesNotFit(String),
    /// The cache of compiled code failed.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

/// Returns an error where `found` exceeds `limit`.
pub(crate) fn within(what: &'static str, found: u64, limit: u64) -> Result<(), AdmissionError> {
    if found <= limit {
        Ok(())
    } else {
        Err(AdmissionError::NeedsTooMuch { what, found, limit })
    }
}

/// Returns the text of an error message about the further imports of a profile.
fn also(profile: Profile) -> &'static str {
    match profile {
        Profile::Pure => "",
        Profile::Wasi => ", and the interfaces of WASI 0.2 that a language's runtime needs",
    }
}

pub(crate) fn invalid(error: wasmparser::BinaryReaderError) -> AdmissionError {
    AdmissionError::Invalid {
        offset: error.offset(),
        problem: error.message().to_owned(),
    }
}
