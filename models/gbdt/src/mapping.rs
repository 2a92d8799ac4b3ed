//! The mapping file: which feature fills which of the model's columns.

use crate::features::table::Feature;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Names that a column may not have: the exported features use them.
const KEPT: [&str; 5] = ["sale", "day", "price_gbp", "offset", "target"];

/// A mapping file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// What the trees' answer is.
    pub target: TargetName,
    /// The feature that their answer is added to, where it is a departure from something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<String>,
    /// What fills each column of the model, by the model's names.
    pub columns: BTreeMap<String, Filled>,
    /// How the training script trains; the sandbox has no use for it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub training: BTreeMap<String, serde_json::Value>,
}

/// What the trees' answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetName {
    /// Pounds.
    Price,
    /// Their natural logarithm.
    LogPrice,
}

/// What fills a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Filled {
    /// A feature, as it is.
    Feature(String),
    /// A categorical feature with the model's own numbers.
    Categories(Categories),
}

/// A categorical feature of which each case has the model's number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Categories {
    /// The feature.
    pub feature: String,
    /// Its cases, each at the position that is its number in the model. A case that is not listed is missing.
    pub categories: Vec<String>,
}

/// Why a mapping cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MappingError {
    /// A name that is not on the list.
    #[error("{place}: there is no feature {found:?}; docs/gradient-boosted-trees.md lists them")]
    NoFeature {
        /// The column, or the offset.
        place: String,
        /// The name.
        found: String,
    },
    /// The model has a column that nothing fills.
    #[error("the model's column {0:?} is not in the mapping")]
    Unfilled(String),
    /// The mapping fills what the model does not have.
    #[error("the model has no column {0:?}; the mapping fills it")]
    NoColumn(String),
    /// A name that is kept for something else.
    #[error("a column may not be called {0:?}; the exported features use the name")]
    KeptName(String),
    /// Categories of a feature that has none.
    #[error("{column}: {feature} is an amount and has no categories")]
    NotCategorical {
        /// The column.
        column: String,
        /// The feature.
        feature: String,
    },
    /// A case that the feature does not have, or one that is listed twice.
    #[error(
        "{column}: {feature} has no case {case:?}, or it is listed twice; its cases are {cases}"
    )]
    NoCase {
        /// The column.
        column: String,
        /// The feature.
        feature: String,
        /// The case.
        case: String,
        /// Those that it has.
        cases: String,
    },
    /// Authorities are told apart by codes, which only the mapping can list.
    #[error(
        "{0}: authority needs categories = [\"E07000132\", …], in the order of the model's numbers"
    )]
    NoAuthorities(String),
    /// An offset that is no amount of the target's kind.
    #[error(
        "the offset {0:?} is categorical; it must be an amount that the trees' answer is added to"
    )]
    Offset(String),
}

impl Mapping {
    /// Checks every name.
    ///
    /// # Errors
    /// The first that cannot be used.
    pub fn check(&self) -> Result<(), MappingError> {
        if let Some(offset) = &self.offset
            && feature("offset", offset)?.is_categorical()
        {
            return Err(MappingError::Offset(offset.clone()));
        }
        self.columns.iter().try_for_each(|(column, filled)| {
            if KEPT.contains(&column.as_str()) {
                return Err(MappingError::KeptName(column.clone()));
            }
            filled.check(column)
        })
    }

    /// Checks that it fills exactly these columns of a model.
    ///
    /// # Errors
    /// The first column that only one of the two has.
    pub fn fits(&self, columns: &[String]) -> Result<(), MappingError> {
        if let Some(column) = columns.iter().find(|c| !self.columns.contains_key(*c)) {
            return Err(MappingError::Unfilled(column.clone()));
        }
        match self.columns.keys().find(|column| !columns.contains(column)) {
            Some(column) => Err(MappingError::NoColumn(column.clone())),
            None => Ok(()),
        }
    }
}

impl Filled {
    /// The feature's name.
    pub fn feature(&self) -> &str {
        match self {
            Filled::Feature(feature) => feature,
            Filled::Categories(of) => &of.feature,
        }
    }

    fn check(&self, column: &str) -> Result<(), MappingError> {
        let feature = feature(&format!("column {column:?}"), self.feature())?;
        let Filled::Categories(of) = self else {
            return match feature {
                Feature::Authority => Err(MappingError::NoAuthorities(column.to_owned())),
                _ => Ok(()),
            };
        };
        if !feature.is_categorical() {
            return Err(MappingError::NotCategorical {
                column: column.to_owned(),
                feature: of.feature.clone(),
            });
        }
        let known = |case: &String| {
            feature == Feature::Authority || feature.cases().contains(&case.as_str())
        };
        let mut cases = of.categories.iter().enumerate();
        match cases.find(|(at, case)| !known(case) || of.categories[..*at].contains(case)) {
            None => Ok(()),
            Some((_, case)) => Err(MappingError::NoCase {
                column: column.to_owned(),
                feature: of.feature.clone(),
                case: case.clone(),
                cases: feature.cases().join(", "),
            }),
        }
    }
}

fn feature(place: &str, name: &str) -> Result<Feature, MappingError> {
    Feature::named(name).ok_or_else(|| MappingError::NoFeature {
        place: place.to_owned(),
        found: name.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Mapping, String> {
        let mapping: Mapping = toml::from_str(text).map_err(|error| error.to_string())?;
        mapping.check().map_err(|error| error.to_string())?;
        Ok(mapping)
    }

    const SMALL: &str = r#"
        target = "log_price"
        offset = "reference_log_value"
        [columns]
        area = "floor_area_m2"
        place = { feature = "authority", categories = ["E07000132", "E06990001"] }
        type = { feature = "property_type", categories = ["flat", "terraced"] }
    "#;

    #[track_caller]
    fn refused(from: &str, to: &str) -> String {
        assert!(SMALL.contains(from));
        read(&SMALL.replace(from, to)).unwrap_err()
    }

    #[test]
    fn every_name_is_checked() {
        let cases = [
            (
                "\"floor_area_m2\"",
                "\"floor_area\"",
                "column \"area\": there is no feature \"floor_area\"",
            ),
            (
                "reference_log_value",
                "tenure",
                "the offset \"tenure\" is categorical",
            ),
            (
                "reference_log_value",
                "price",
                "offset: there is no feature \"price\"",
            ),
            (
                "\"terraced\"",
                "\"terrace\"",
                "property_type has no case \"terrace\", or it is listed twice; its cases are detached",
            ),
            ("\"terraced\"", "\"flat\"", "or it is listed twice"),
            (
                "feature = \"property_type\"",
                "feature = \"bedrooms\"",
                "bedrooms is an amount and has no categories",
            ),
            (
                "area = \"floor_area_m2\"",
                "area = \"authority\"",
                "area: authority needs categories",
            ),
            ("area =", "day =", "a column may not be called \"day\""),
            ("log_price", "rent", "unknown variant `rent`"),
            ("offset =", "offsets =", "unknown field `offsets`"),
        ];
        for (from, to, expected) in cases {
            let said = refused(from, to);
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn it_fills_exactly_the_models_columns() {
        let mapping = read(SMALL).unwrap();
        let fits = |columns: &[&str]| {
            let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
            mapping.fits(&columns).map_err(|error| error.to_string())
        };
        assert_eq!(fits(&["type", "area", "place"]), Ok(()));
        assert!(
            fits(&["type", "area", "place", "age"])
                .unwrap_err()
                .contains("column \"age\" is not in the mapping")
        );
        assert!(
            fits(&["type", "area"])
                .unwrap_err()
                .contains("no column \"place\"")
        );
    }
}
