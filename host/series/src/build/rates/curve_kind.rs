//! The curves that the Bank publishes, and the datasets of their sides.

use std::ops::RangeInclusive;

/// The maturities that a node may have, months. No curve reaches further, and the end of a longer
/// interval would be a false date.
pub(super) const MATURITIES: RangeInclusive<u32> = 1..=1_200;

/// A yield curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CurveKind {
    /// Overnight index swaps.
    Ois,
    /// Nominal gilts.
    Nominal,
    /// Index-linked gilts.
    Real,
    /// Implied inflation.
    Inflation,
}

/// A side of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CurveSide {
    /// Spot rates.
    Spot,
    /// Instantaneous forward rates.
    Forward,
}

impl CurveKind {
    /// Returns the dataset of this side of the curve.
    pub fn dataset(self, side: CurveSide) -> &'static str {
        match (self, side) {
            (CurveKind::Ois, CurveSide::Spot) => "ois_spot_curve",
            (CurveKind::Ois, CurveSide::Forward) => "ois_forward_curve",
            (CurveKind::Nominal, CurveSide::Spot) => "nominal_gilt_spot_curve",
            (CurveKind::Nominal, CurveSide::Forward) => "nominal_gilt_forward_curve",
            (CurveKind::Real, CurveSide::Spot) => "real_gilt_spot_curve",
            (CurveKind::Real, CurveSide::Forward) => "real_gilt_forward_curve",
            (CurveKind::Inflation, CurveSide::Spot) => "market_implied_inflation",
            (CurveKind::Inflation, CurveSide::Forward) => "market_implied_inflation_forward",
        }
    }

    /// Returns all kinds with both sides.
    pub fn all() -> impl Iterator<Item = (CurveKind, CurveSide)> {
        let kinds = [
            CurveKind::Ois,
            CurveKind::Nominal,
            CurveKind::Real,
            CurveKind::Inflation,
        ];
        kinds
            .into_iter()
            .flat_map(|kind| [CurveSide::Spot, CurveSide::Forward].map(|side| (kind, side)))
    }
}
