//! One plot of a street.

use crate::dwelling::Form;
use crate::market::Kind;

/// One unit of a plan: an address within the street and its building.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    pub(crate) saon: String,
    pub(crate) paon: String,
    pub(crate) kind: Kind,
    pub(crate) form: Form,
    /// Place along the street, 0 to 1.
    pub(crate) along: f64,
    /// The side of the street.
    pub(crate) left: bool,
    /// Storey and storeys, for flats.
    pub(crate) storey: Option<(i32, i32)>,
    /// Years that it is younger than its street.
    pub(crate) younger: i32,
}
