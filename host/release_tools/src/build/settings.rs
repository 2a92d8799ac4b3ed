//! `release.toml` of a model: the promises of its releases.

use super::python::Python;
use super::{BuildError, SettingsError};
use domesday_package::{ConfidenceBand, Country, Endpoint, Monotone, PropertyType, RowLimits};
use domesday_property::ExportedSale;
use domesday_valuation::pipeline::eligibility::{lists_country, lists_type};
use serde::Deserialize;
use std::path::Path;

/// The settings that every release of a model states in its manifest.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Countries in which the release values.
    pub countries: Vec<Country>,
    /// The property types that it values.
    pub property_types: Vec<PropertyType>,
    /// Rows in a request.
    pub limits: RowLimits,
    /// Routes that it may be used by.
    pub endpoints: Vec<Endpoint>,
    /// Fuel of one row.
    pub fuel_per_row: u64,
    /// Linear memory of one row, bytes.
    pub memory_bytes: u64,
    /// Share of true values that its ranges are made to hold.
    pub nominal_coverage: f64,
    /// Lower end of each confidence band.
    pub confidence_bands: Vec<ConfidenceBand>,
    /// Inputs that move the estimate one way only.
    #[serde(default)]
    pub monotone: Vec<Monotone>,
    /// The Python module, for a model that is not a crate.
    pub python: Option<Python>,
}

impl Settings {
    /// Reads the file in the model's folder.
    ///
    /// # Errors
    /// [`BuildError::Settings`] if the file is missing or does not hold the settings.
    pub fn read(model: &Path) -> Result<Settings, BuildError> {
        let path = model.join("release.toml");
        let read = || -> Result<Settings, SettingsError> {
            let text = std::fs::read_to_string(&path)?;
            toml::from_str(&text).map_err(|error| SettingsError::Toml(Box::new(error)))
        };
        read().map_err(|source| BuildError::Settings {
            path: path.clone(),
            source,
        })
    }

    /// Returns whether the releases value the home of a sale. A service refers any other before a
    /// release runs.
    pub fn lists(&self, sold: &ExportedSale) -> bool {
        lists_type(&self.property_types, sold.sale.property_type)
            && lists_country(&self.countries, sold.country)
    }
}
