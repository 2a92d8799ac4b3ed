//! A model's columns as they are baked in.

use crate::features::Feature;
use crate::features::seen::Seen;

/// One column of a model.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// As the model calls it.
    pub name: &'static str,
    /// What fills it.
    pub feature: Feature,
    /// What its number becomes.
    pub codes: Codes,
}

/// What a column makes of a feature's number.
#[derive(Clone, Copy, Debug)]
pub enum Codes {
    /// Nothing.
    AsIs,
    /// By its position, the number in the model; no number for a case that the model does not know.
    Cases(&'static [f64]),
    /// The position of the subject's local authority in this list.
    Authorities(&'static [&'static str]),
}

/// What the trees' answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Pounds.
    Price,
    /// Their natural logarithm.
    LogPrice,
}

impl Column {
    /// Its number for a row.
    pub fn of(&self, seen: &Seen<'_>) -> f64 {
        let number = || self.feature.of(seen);
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
                .position(|code| *code == seen.subject.authority)
                .map_or(f64::NAN, |at| at as f64),
        }
    }
}
