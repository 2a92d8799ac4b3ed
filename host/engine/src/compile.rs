//! Compilation of a component to machine code.

use crate::admission_error::AdmissionError;
use wasmtime::Engine;
use wasmtime::component::Component;

/// Compiles a component that passed the checks of [`crate::admission`].
pub(crate) fn compile(engine: &Engine, component: &[u8]) -> Result<Component, AdmissionError> {
    Component::from_binary(engine, component)
        .map_err(|error| AdmissionError::NotCompiled(format!("{error:#}")))
}
