//! The source of a model: a crate, or a module in Python.

use super::BuildError;
use super::cargo_guest::Guest;
use super::python::Python;
use super::settings::Settings;
use domesday_engine::Profile;
use domesday_package::{Model, Sha256Digest, TrainingWindow};
use domesday_registers::Progress;
use std::path::{Path, PathBuf};

/// A model's source.
pub enum ModelSource {
    /// A crate, which may have a `fit` program.
    Crate(Guest),
    /// A module in Python.
    Python {
        /// The settings in `release.toml`.
        python: Python,
        /// The model's folder.
        folder: PathBuf,
    },
}

impl ModelSource {
    /// Returns the source of the model in a folder.
    ///
    /// # Errors
    /// The folder is neither a crate nor a Python model.
    pub fn of(folder: &Path, settings: &Settings) -> Result<ModelSource, BuildError> {
        Ok(match &settings.python {
            Some(python) => ModelSource::Python {
                python: python.clone(),
                folder: folder.to_owned(),
            },
            None => ModelSource::Crate(Guest::of(folder)?),
        })
    }

    /// Returns the crate, where it has a `fit` program.
    pub fn fit_crate(&self) -> Option<&Guest> {
        match self {
            ModelSource::Crate(guest) if guest.is_fitted() => Some(guest),
            _ => None,
        }
    }

    /// Returns the profile that the component needs.
    pub fn profile(&self) -> Profile {
        match self {
            ModelSource::Crate(_) => Profile::Pure,
            ModelSource::Python { .. } => Profile::Wasi,
        }
    }

    /// Builds the component, with these parameters in it where it is fitted.
    ///
    /// # Errors
    /// [`BuildError`] if it cannot be built.
    pub fn component(
        &self,
        parameters: Option<&Path>,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<u8>, BuildError> {
        Ok(match self {
            ModelSource::Crate(guest) => guest.component(parameters, progress)?,
            ModelSource::Python { python, folder } => python.component(folder)?,
        })
    }

    /// Builds the component with the names of its functions, where the builder can keep them.
    ///
    /// # Errors
    /// [`BuildError`] if it cannot be built.
    pub fn named_component(
        &self,
        parameters: Option<&Path>,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<u8>, BuildError> {
        match self {
            ModelSource::Crate(guest) => Ok(guest.named_component(parameters, progress)?),
            ModelSource::Python { .. } => self.component(parameters, progress),
        }
    }

    /// Returns the model's entry in a manifest.
    pub fn manifest_entry(
        &self,
        parameters: Option<Sha256Digest>,
        training_window: Option<TrainingWindow>,
    ) -> Model {
        match self {
            ModelSource::Crate(guest) => guest.manifest_entry(parameters, training_window),
            ModelSource::Python { python, .. } => python.manifest_entry(),
        }
    }
}
