//! A model's columns, as the build embeds them.

use crate::features::Feature;
use crate::features::evidence::RowEvidence;

/// One column of a model.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Name in the model.
    pub name: &'static str,
    /// Feature that fills it.
    pub feature: Feature,
    /// Conversion of the feature's value.
    pub codes: Codes,
}

/// The conversion of a feature's value to a column's.
#[derive(Clone, Copy, Debug)]
pub enum Codes {
    /// No conversion.
    AsIs,
    /// The model's number of each case, by position. NaN for a case that the model does not know.
    Cases(&'static [f64]),
    /// The position of the subject's local authority in this list.
    Authorities(&'static [&'static str]),
}

/// The meaning of the trees' score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Pounds.
    Price,
    /// Natural logarithm of pounds.
    LogPrice,
}

impl Column {
    /// Computes the column's value for a row.
    pub fn of(&self, row: &RowEvidence<'_>) -> f64 {
        let number = || self.feature.of(row);
        match self.codes {
            Codes::AsIs => number(),
            Codes::Cases(codes) => {
                let number = number();
                if number.is_nan() {
                    return number;
                }
                codes.get(number as usize).copied().unwrap_or(f64::NAN)
            }
            Codes::Authorities(codes) => codes
                .iter()
                .position(|code| *code == row.subject.authority)
                .map_or(f64::NAN, |at| at as f64),
        }
    }
}
