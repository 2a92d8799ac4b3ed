//! The features that can fill a model's columns.
//!
//! A feature is one number of the subject or of the evidence. Sandbox and training both use this
//! code. A missing value is NaN, as in training. A categorical feature is the position of its case
//! in the feature's list.

pub mod evidence;
mod figures;
mod history;
mod kriging;
mod nearby;
mod reference;
mod subject;
pub mod table;

pub use table::{FEATURES, Feature};

use evidence::RowEvidence;

/// Computes a feature.
type Source = fn(&RowEvidence<'_>) -> Option<f64>;

macro_rules! sources {
    ($($feature:ident $name:literal $source:path, $about:literal $(, [$($case:literal),*])?;)*) => {
        impl Feature {
            /// Returns the function that computes it.
            fn source(self) -> Source {
                match self { $(Feature::$feature => $source,)* }
            }
        }
    };
}
table::table!(sources);

impl Feature {
    /// Computes the feature, as NaN if it is missing.
    pub fn of(self, row: &RowEvidence<'_>) -> f64 {
        self.source()(row).unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests;
