//! What a column of a model may be filled from: a list of named features.
//!
//! Each is one number of the subject or of the evidence, computed here alone, in the sandbox and in training. What is
//! missing is no number (NaN), which is how trees are taught about it. A categorical feature is the position
//! of its case in the list that stands with it.

mod figures;
mod given;
mod history;
mod kriged;
mod near;
mod reference;
pub mod seen;
pub mod table;

pub use table::{FEATURES, Feature};

use seen::Seen;

/// Where a feature comes from.
type Source = fn(&Seen<'_>) -> Option<f64>;

macro_rules! sources {
    ($($feature:ident $name:literal $source:path, $about:literal $(, [$($case:literal),*])?;)*) => {
        impl Feature {
            /// How it is computed.
            fn source(self) -> Source {
                match self { $(Feature::$feature => $source,)* }
            }
        }
    };
}
table::table!(sources);

impl Feature {
    /// Its value; no number where it is missing.
    pub fn of(self, seen: &Seen<'_>) -> f64 {
        self.source()(seen).unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests;
