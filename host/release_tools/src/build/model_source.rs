//! What a release is built from: a crate, or a module in Python.

use super::BuildError;
use super::cargo_guest::Guest;
use super::python::Python;
use super::settings::Settings;
use domesday_engine::Profile;
use domesday_package::{Model, Sha256Digest, TrainingWindow};
use std::path::{Path, PathBuf};

/// A model's source.
pub enum ModelSource {
    /// A crate, which may have a `fit` program.
    Crate(Guest),
    /// A module in Python.
    Python {
        /// What `release.toml` says of it.
        python: Python,
        /// The model's folder.
        folder: PathBuf,
    },
}

impl ModelSource {
    /// Which of the two is in a model's folder.
    ///
    /// # Errors
    /// Where it is neither.
    pub fn of(folder: &Path, settings: &Settings) -> Result<ModelSource, BuildError> {
        Ok(match &settings.python {
            Some(python) => ModelSource::Python {
                python: python.clone(),
                folder: folder.to_owned(),
            },
            None => ModelSource::Crate(Guest::of(folder)?),
        })
    }

    /// The crate, where it has a `fit` program.
    pub fn fitted(&self) -> Option<&Guest> {
        match self {
            ModelSource::Crate(guest) if guest.is_fitted() => Some(guest),
            _ => None,
        }
    }

    /// What its component may import.
    pub fn profile(&self) -> Profile {
        match self {
            ModelSource::Crate(_) => Profile::Pure,
            ModelSource::Python { .. } => Profile::Wasi,
        }
    }

    /// The component, with these parameters in it where it is fitted.
    ///
    /// # Errors
    /// Where it cannot be built.
    pub fn component(&self, parameters: Option<&Path>) -> Result<Vec<u8>, BuildError> {
        Ok(match self {
            ModelSource::Crate(guest) => guest.component(parameters)?,
            ModelSource::Python { python, folder } => python.component(folder)?,
        })
    }

    /// The model as a manifest names it.
    pub fn described(
        &self,
        parameters: Option<Sha256Digest>,
        learnt: Option<TrainingWindow>,
    ) -> Model {
        match self {
            ModelSource::Crate(guest) => guest.described(parameters, learnt),
            ModelSource::Python { python, .. } => python.described(),
        }
    }
}
