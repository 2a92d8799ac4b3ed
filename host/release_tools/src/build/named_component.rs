//! The component of a release, built again with the names of its functions.

use super::BuildError;
use super::model_source::ModelSource;
use super::parameters::PARAMETERS;
use super::settings::Settings;
use domesday_package::{Package, ValuationBody};
use domesday_registers::Progress;
use std::path::Path;

/// Builds the component of `package` from the model's folder, with the package's own parameters.
/// It is for tools alone: a release holds no names.
///
/// # Errors
/// [`BuildError`] if the model cannot be built.
pub fn named_component(
    model: &Path,
    package: &Package,
    progress: &mut Progress<'_>,
) -> Result<Vec<u8>, BuildError> {
    let source = ModelSource::of(model, &Settings::read(model)?)?;
    let body: ValuationBody = package.body()?;
    let parameters = match body.model.parameters_sha256 {
        Some(_) => Some(package.path(PARAMETERS)?),
        None => None,
    };
    source.named_component(parameters.as_deref(), progress)
}
