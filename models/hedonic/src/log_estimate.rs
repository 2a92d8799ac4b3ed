//! An estimate with its uncertainty.

/// An estimate of a log price and its variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogEstimate {
    /// Natural logarithm of pounds.
    pub value: f64,
    /// Variance of the estimate.
    pub variance: f64,
}
