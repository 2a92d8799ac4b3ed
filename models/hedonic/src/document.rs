//! `parameters.json`: the model's parameters and the records of their fit and calibration.
//!
//! The build script and the program `fit` both use this module, so every file that `fit` writes can
//! be built.

use crate::bounds::{BoundsError, check};
use crate::parameters::Parameters;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Format that this version writes.
pub const FORMAT: &str = "domesday-hedonic-parameters/6";

/// Formats that this version reads besides. In both, `covered` is `covered_in_sample`. Files of the
/// first lack `unknown_area` too, and get the defaults.
pub const FORMER_FORMATS: [&str; 2] = [
    "domesday-hedonic-parameters/4",
    "domesday-hedonic-parameters/5",
];

/// A file of parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// [`FORMAT`].
    pub format: String,
    /// One sentence for the reader on the origin of the numbers.
    pub about: String,
    /// Record of the fit. Absent in the defaults.
    pub fitted: Option<FitRecord>,
    /// Record of the calibration. Absent until calibrated.
    pub calibrated: Option<CalibrationRecord>,
    /// The parameters.
    pub parameters: Parameters,
}

/// The record of a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitRecord {
    /// Last day of sale used, YYYY-MM-DD.
    pub through: String,
    /// Sales read.
    pub sales_read: u64,
    /// Sales in the regression.
    pub sales_used: u64,
    /// Local levels in the regression, one for each postcode district.
    pub local_levels: u64,
    /// Robust standard deviation of the residuals. Absent if too few floor areas were known, so
    /// that the base's effects stayed.
    pub residual_scale: Option<f64>,
    /// Pairs of sales of one property, used for the own-history variances.
    pub repeat_pairs: u64,
    /// Postcode areas with enough pairs for a drift of their own.
    pub repeat_areas: u64,
}

/// The record of a calibration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationRecord {
    /// First day of sale, YYYY-MM-DD. It is later than the last day of the fit.
    pub from: String,
    /// Last day of sale, YYYY-MM-DD.
    pub through: String,
    /// Predictions read.
    pub predictions: u64,
    /// Predictions with a value.
    pub valued: u64,
    /// Coverage that the quantiles are for, where the stated one was adapted to the latest sales.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapted_coverage: Option<f64>,
    /// Share of the calibration sales inside their own ranges: in-sample coverage. It says nothing
    /// about other sales, since by construction it is near the coverage.
    pub covered_in_sample: f64,
}

/// The reason why a file of parameters is refused.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The text is not JSON of this shape.
    #[error("not a file of parameters in format {FORMAT}: {0}")]
    Shape(#[from] serde_json::Error),
    /// The file has another format.
    #[error("unsupported format {found:?}; this version reads {FORMAT:?} and {FORMER_FORMATS:?}")]
    Format {
        /// Format that the file states.
        found: String,
    },
    /// A number is out of its bounds, or a list does not increase.
    #[error(transparent)]
    Bounds(#[from] BoundsError),
}

/// Reads and checks a file of parameters.
///
/// # Errors
/// [`DocumentError`] if the text is not JSON of exactly this shape, or a number is out of bounds.
pub fn read(text: &str) -> Result<Document, DocumentError> {
    /// Other formats have other shapes, so the format is read first.
    #[derive(Deserialize)]
    struct Header {
        format: String,
    }
    let Header { format } = serde_json::from_str(text)?;
    if format != FORMAT && !FORMER_FORMATS.contains(&format.as_str()) {
        return Err(DocumentError::Format { found: format });
    }
    let document: Document = if format == FORMAT {
        serde_json::from_str(text)?
    } else {
        serde_json::from_value(former(serde_json::from_str(text)?))?
    };
    check(&document.parameters)?;
    Ok(document)
}

/// Converts a file of one of the [`FORMER_FORMATS`] to [`FORMAT`].
fn former(mut document: Value) -> Value {
    document["format"] = FORMAT.into();
    let record = document
        .get_mut("calibrated")
        .and_then(Value::as_object_mut);
    if let Some(record) = record
        && let Some(share) = record.remove("covered")
    {
        record.insert("covered_in_sample".to_owned(), share);
    }
    document
}

/// Writes a file of parameters with one member a line, in the order of the shape.
///
/// # Errors
/// [`DocumentError::Bounds`] if a number is out of bounds or not finite.
pub fn write(document: &Document) -> Result<String, DocumentError> {
    check(&document.parameters)?;
    let mut text = serde_json::to_string_pretty(document)?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformal::uniform;
    use crate::parameters::{AuthorityFactor, SegmentQuantile};

    const DEFAULTS: &str = include_str!("../parameters.json");

    #[test]
    fn defaults_are_read_and_survive_being_written() {
        let document = read(DEFAULTS).unwrap();
        assert_eq!(read(&write(&document).unwrap()).unwrap(), document);
    }

    #[test]
    fn files_of_former_formats_are_read() {
        let mut document = read(DEFAULTS).unwrap();
        document.calibrated = Some(CalibrationRecord {
            from: "2026-01-01".to_owned(),
            through: "2026-06-30".to_owned(),
            predictions: 120,
            valued: 118,
            adapted_coverage: None,
            covered_in_sample: 0.79,
        });
        let text = write(&document).unwrap();
        for format in FORMER_FORMATS {
            let former = text
                .replace(FORMAT, format)
                .replace("\"covered_in_sample\"", "\"covered\"");
            assert_eq!(read(&former).unwrap(), document);
        }
    }

    #[test]
    fn a_number_out_of_bounds_is_named() {
        let text = DEFAULTS.replace("\"tukey\": 4.685", "\"tukey\": -1.0");
        let error = read(&text).unwrap_err();
        assert!(matches!(
            error,
            DocumentError::Bounds(BoundsError::OutOfBounds {
                name: "estimate.tukey",
                value: -1.0,
                ..
            })
        ));
    }

    #[test]
    fn authorities_are_in_order_and_their_factors_within_bounds() {
        let mut document = read(DEFAULTS).unwrap();
        let none = SegmentQuantile {
            sales: 0,
            quantile: None,
            median_absolute_error: None,
            within_10_percent: None,
        };
        let mut with = |new, authorities: [(&'static str, f64); 2]| {
            let mut conformal = uniform(none);
            conformal.by_build_period.new.factor = new;
            conformal.by_authority = authorities
                .map(|(authority, factor)| AuthorityFactor {
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
            assert!(matches!(
                wrong,
                Err(DocumentError::Bounds(BoundsError::NotIncreasing { .. }))
            ));
        }
        for wrong in [with(20.0, in_order), with(1.0, [one, ("E06000002", 0.0)])] {
            assert!(matches!(
                wrong,
                Err(DocumentError::Bounds(BoundsError::OutOfBounds { .. }))
            ));
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
