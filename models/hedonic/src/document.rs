//! `parameters.json`: the model's numbers, and what they were fitted and calibrated on.
//!
//! The build script and the fitting program read it through this one place, so what can be built
//! and what can be written are the same.

use crate::bounds::check;
use crate::parameters::Parameters;
use serde::{Deserialize, Serialize};

/// The format that this version reads and writes.
pub const FORMAT: &str = "domesday-hedonic-parameters/4";

/// A file of parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// [`FORMAT`].
    pub format: String,
    /// For the reader: one sentence on where the numbers come from.
    pub about: String,
    /// Absent for defaults.
    pub fitted: Option<Fitted>,
    /// Absent until calibrated.
    pub calibrated: Option<Calibrated>,
    /// The numbers.
    pub parameters: Parameters,
}

/// What the effects were fitted on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fitted {
    /// Last day of sale that was used, YYYY-MM-DD.
    pub through: String,
    /// Sales read.
    pub sales_read: u64,
    /// Sales in the regression.
    pub sales_used: u64,
    /// Local levels in the regression, one to a postcode district.
    pub local_levels: u64,
    /// Robust standard deviation of the residuals.
    /// Absent where too few floor areas were known, and the effects stayed those of the base.
    pub residual_scale: Option<f64>,
    /// Pairs of sales of the same property behind the own-history variances.
    pub repeat_pairs: u64,
    /// Postcode areas with enough of them for a drift of their own.
    pub repeat_areas: u64,
}

/// What the ranges were calibrated on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibrated {
    /// First day of sale, YYYY-MM-DD; later than what was fitted on.
    pub from: String,
    /// Last day of sale, YYYY-MM-DD.
    pub through: String,
    /// Predictions read.
    pub predictions: u64,
    /// Of those, valued.
    pub valued: u64,
    /// Share of the calibration sales inside their ranges; by construction near the coverage.
    pub covered: f64,
}

/// Why a file of parameters cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// Not JSON of this shape.
    #[error("not a file of parameters: {0}")]
    Shape(#[from] serde_json::Error),
    /// Of another format.
    #[error("format is {found}, but this version reads {FORMAT}")]
    Format {
        /// The format that the file states.
        found: String,
    },
    /// A number out of its bounds.
    #[error("{path} is {value}, but must be from {least} to {greatest}")]
    OutOfBounds {
        /// Where in the file.
        path: String,
        /// The number found.
        value: f64,
        /// The least that is sensible.
        least: f64,
        /// The greatest that is sensible.
        greatest: f64,
    },
    /// Numbers that must rise do not.
    #[error("{path} must rise from one number to the next")]
    NotRising {
        /// Where in the file.
        path: &'static str,
    },
}

/// Reads and checks a file of parameters.
///
/// # Errors
/// Where it is not JSON of exactly this shape, or a number is out of its bounds.
pub fn read(text: &str) -> Result<Document, DocumentError> {
    /// Another format has another shape, so that its name is read first.
    #[derive(Deserialize)]
    struct Named {
        format: String,
    }
    let Named { format } = serde_json::from_str(text)?;
    if format != FORMAT {
        return Err(DocumentError::Format { found: format });
    }
    let document: Document = serde_json::from_str(text)?;
    check(&document.parameters)?;
    Ok(document)
}

/// Writes a file of parameters, one member a line, in the order of the shape.
///
/// # Errors
/// Where a number is not finite.
pub fn write(document: &Document) -> Result<String, DocumentError> {
    check(&document.parameters)?;
    let mut text = serde_json::to_string_pretty(document)?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformal::everywhere;
    use crate::parameters::{AuthorityRanges, Cell};

    const DEFAULTS: &str = include_str!("../parameters.json");

    #[test]
    fn defaults_are_read_and_survive_being_written() {
        let document = read(DEFAULTS).unwrap();
        assert_eq!(read(&write(&document).unwrap()).unwrap(), document);
    }

    #[test]
    fn a_number_out_of_bounds_is_named() {
        let text = DEFAULTS.replace("\"tukey\": 4.685", "\"tukey\": -1.0");
        let error = read(&text).unwrap_err();
        assert!(
            matches!(error, DocumentError::OutOfBounds { ref path, value: -1.0, .. } if path == "estimate.tukey")
        );
    }

    #[test]
    fn authorities_are_in_order_and_their_factors_within_bounds() {
        let mut document = read(DEFAULTS).unwrap();
        let none = Cell {
            sales: 0,
            quantile: None,
            median_absolute_error: None,
            within_10_percent: None,
        };
        let mut with = |new, authorities: [(&'static str, f64); 2]| {
            let mut conformal = everywhere(none);
            conformal.by_built.new.factor = new;
            conformal.by_authority = authorities
                .map(|(authority, factor)| AuthorityRanges {
                    authority,
                    sales: 0,
                    factor,
                })
                .to_vec()
                .into();
            document.parameters.conformal = Some(conformal);
            write(&document).and_then(|text| read(&text))
        };
        let in_order = [("E06000001", 0.9), ("E06000002", 1.1)];
        let [one, two] = in_order;
        assert!(with(1.0, in_order).is_ok());
        for wrong in [with(1.0, [two, one]), with(1.0, [one, one])] {
            assert!(matches!(wrong, Err(DocumentError::NotRising { .. })));
        }
        for wrong in [with(20.0, in_order), with(1.0, [one, ("E06000002", 0.0)])] {
            assert!(matches!(wrong, Err(DocumentError::OutOfBounds { .. })));
        }
    }

    #[test]
    fn an_unknown_member_and_another_format_are_refused() {
        let text = DEFAULTS.replace("\"few\": 6", "\"few\": 6, \"more\": 7");
        assert!(matches!(read(&text), Err(DocumentError::Shape(_))));
        let text = DEFAULTS
            .replace(FORMAT, "something/2")
            .replace("\"few\"", "\"less\"");
        assert!(matches!(read(&text), Err(DocumentError::Format { .. })));
    }
}
