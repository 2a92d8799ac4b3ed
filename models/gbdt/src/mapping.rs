//! The mapping file: the feature of each of the model's columns.

use crate::features::table::Feature;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Names that no column may have, because the exported features use them.
const RESERVED: [&str; 12] = [
    "sale",
    "day",
    "price_gbp",
    "offset",
    "target",
    "member_reference",
    "member_kriging",
    "member_trees",
    "member_own_sale",
    "weight_reference",
    "weight_kriging",
    "weight_trees",
];

/// A mapping file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// Meaning of the trees' score.
    pub target: TargetName,
    /// Feature that the score is added to, if the score is a departure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<String>,
    /// Source of each column, by the model's names.
    pub columns: BTreeMap<String, ColumnSource>,
    /// True if the estimate is a weighted mean of the reference model's, kriging's and the trees'.
    /// Otherwise it is the trees' alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stack: bool,
    /// True if the build trains the trees. Without it a trained model must stand beside the file.
    #[serde(default, skip_serializing)]
    pub train: bool,
    /// Parameters of the training script. The sandbox ignores them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub training: BTreeMap<String, serde_json::Value>,
}

/// The meaning of the trees' score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetName {
    /// Pounds.
    Price,
    /// Natural logarithm of pounds.
    LogPrice,
}

/// The source of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ColumnSource {
    /// A feature without conversion.
    Feature(String),
    /// A categorical feature with the model's own numbers.
    Categories(Categories),
}

/// A categorical feature with the model's number of each case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Categories {
    /// Name of the feature.
    pub feature: String,
    /// Its cases. A case's position is its number in the model. A case that is not listed is
    /// missing.
    pub categories: Vec<String>,
}

/// The reason why a mapping is refused.
#[derive(Debug, thiserror::Error)]
pub enum MappingError {
    /// A feature does not exist.
    #[error(
        "{place}: there is no feature {found:?}; choose one from docs/reference/gradient-boosted-trees.md"
    )]
    UnknownFeature {
        /// The column or the offset.
        place: String,
        /// Name in the mapping.
        found: String,
    },
    /// The mapping lacks a column of the model.
    #[error("the model's column {0:?} is not in the mapping; add it under [columns]")]
    UnmappedColumn(String),
    /// The mapping has a column that the model lacks.
    #[error("the model has no column {0:?}; remove it from the mapping")]
    UnknownColumn(String),
    /// A column has a reserved name.
    #[error("a column may not be called {0:?}: the exported features use the name; rename it")]
    ReservedName(String),
    /// A numeric feature has categories.
    #[error("{column}: {feature} is numeric and has no categories; remove them")]
    NotCategorical {
        /// The column.
        column: String,
        /// The feature.
        feature: String,
    },
    /// A case does not exist or is listed twice.
    #[error(
        "{column}: {feature} has no case {case:?}, or it is listed twice; its cases are {cases}"
    )]
    UnknownCase {
        /// The column.
        column: String,
        /// The feature.
        feature: String,
        /// The case.
        case: String,
        /// Cases of the feature.
        cases: String,
    },
    /// The model was trained with other categories, or with these in another order.
    #[error(
        "{column}: the model's categories are {model}, and those of the mapping are {mapping}; list the model's, in its order"
    )]
    OtherCategories {
        /// The column.
        column: String,
        /// Categories in the model.
        model: String,
        /// Categories in the mapping, or the feature's cases.
        mapping: String,
    },
    /// Only the mapping can list the codes of authorities.
    #[error(
        "{0}: authority needs categories = [\"E07000132\", …], in the order of the model's numbers"
    )]
    MissingAuthorities(String),
    /// The offset is categorical.
    #[error("the offset {0:?} is categorical; use a numeric feature")]
    Offset(String),
}

impl Mapping {
    /// Checks every name.
    ///
    /// # Errors
    /// [`MappingError`] for the first invalid name.
    pub fn check(&self) -> Result<(), MappingError> {
        if let Some(offset) = &self.offset
            && feature("offset", offset)?.is_categorical()
        {
            return Err(MappingError::Offset(offset.clone()));
        }
        self.columns.iter().try_for_each(|(column, source)| {
            if RESERVED.contains(&column.as_str()) {
                return Err(MappingError::ReservedName(column.clone()));
            }
            source.check(column)
        })
    }

    /// Checks that it fills exactly these columns of a model.
    ///
    /// # Errors
    /// [`MappingError`] for the first column that only one of the two has.
    pub fn fits(&self, columns: &[String]) -> Result<(), MappingError> {
        if let Some(column) = columns.iter().find(|c| !self.columns.contains_key(*c)) {
            return Err(MappingError::UnmappedColumn(column.clone()));
        }
        match self.columns.keys().find(|column| !columns.contains(column)) {
            Some(column) => Err(MappingError::UnknownColumn(column.clone())),
            None => Ok(()),
        }
    }
}

impl Mapping {
    /// Returns whether a column has a categorical feature.
    pub fn is_categorical(&self, column: &str) -> bool {
        let source = self.columns.get(column);
        let feature = source.and_then(|source| Feature::from_name(source.feature()));
        feature.is_some_and(Feature::is_categorical)
    }

    /// Checks that the categories that a model names are those of the mapping, in one order.
    ///
    /// # Errors
    /// [`MappingError::OtherCategories`] for the first column where they differ.
    pub fn fits_categories(
        &self,
        columns: &[String],
        names: &[Option<Vec<String>>],
    ) -> Result<(), MappingError> {
        let named = columns.iter().zip(names);
        for (column, names) in named.filter_map(|(column, names)| Some((column, names.as_ref()?))) {
            let Some(source) = self.columns.get(column) else {
                continue;
            };
            let mapped: Vec<&str> = match source {
                ColumnSource::Categories(of) => of.categories.iter().map(String::as_str).collect(),
                ColumnSource::Feature(name) => feature(column, name)?.cases().to_vec(),
            };
            if *names != mapped {
                return Err(MappingError::OtherCategories {
                    column: column.clone(),
                    model: names.join(", "),
                    mapping: mapped.join(", "),
                });
            }
        }
        Ok(())
    }
}

impl ColumnSource {
    /// Returns the name of the feature.
    pub fn feature(&self) -> &str {
        match self {
            ColumnSource::Feature(feature) => feature,
            ColumnSource::Categories(of) => &of.feature,
        }
    }

    fn check(&self, column: &str) -> Result<(), MappingError> {
        let feature = feature(&format!("column {column:?}"), self.feature())?;
        let ColumnSource::Categories(of) = self else {
            return match feature {
                Feature::Authority => Err(MappingError::MissingAuthorities(column.to_owned())),
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
            Some((_, case)) => Err(MappingError::UnknownCase {
                column: column.to_owned(),
                feature: of.feature.clone(),
                case: case.clone(),
                cases: feature.cases().join(", "),
            }),
        }
    }
}

fn feature(place: &str, name: &str) -> Result<Feature, MappingError> {
    Feature::from_name(name).ok_or_else(|| MappingError::UnknownFeature {
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
    fn refusal(from: &str, to: &str) -> String {
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
                "bedrooms is numeric and has no categories",
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
            let message = refusal(from, to);
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn the_categories_that_a_model_names_are_those_of_the_mapping_in_one_order() {
        let mapping = read(SMALL).unwrap();
        let columns = ["type", "area"].map(str::to_owned);
        let fits = |names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            let names = [Some(names), None];
            let fit = mapping.fits_categories(&columns, &names);
            fit.map_err(|error| error.to_string())
        };
        assert_eq!(fits(&["flat", "terraced"]), Ok(()));
        for other in [
            &["terraced", "flat"][..],
            &["flat"],
            &["flat", "terraced", "other"],
        ] {
            let refused = fits(other).unwrap_err();
            let expected = format!("type: the model's categories are {}", other.join(", "));
            assert!(refused.starts_with(&expected), "{refused}");
            assert!(
                refused.contains("those of the mapping are flat, terraced"),
                "{refused}"
            );
        }
        let named = mapping.fits_categories(&columns, &[None, Some(vec!["small".to_owned()])]);
        assert!(named.is_err(), "a numeric feature has no categories");
    }

    #[test]
    fn a_column_is_categorical_as_its_feature_is() {
        let mapping = read(SMALL).unwrap();
        let columns = ["area", "place", "type", "other"];
        let found = columns.map(|column| mapping.is_categorical(column));
        assert_eq!(found, [false, true, true, false]);
    }

    #[test]
    fn a_mapping_fills_exactly_the_models_columns() {
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
