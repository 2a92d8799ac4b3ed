//! From a model's core module to a component.

use wit_component::ComponentEncoder;

/// The module could not be made a component.
#[derive(Debug, thiserror::Error)]
#[error("the module could not be made a component: {0}")]
pub struct EncodeError(String);

/// Wraps a core module that was built against the SDK for `wasm32-unknown-unknown`.
///
/// # Errors
/// Where the module is not valid, or imports a function that no interface of its world has.
pub fn encode(module: &[u8]) -> Result<Vec<u8>, EncodeError> {
    ComponentEncoder::default()
        .validate(true)
        .module(module)
        .and_then(|mut encoder| encoder.encode())
        .map_err(|error| EncodeError(format!("{error:#}")))
}
