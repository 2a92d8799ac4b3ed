//! The declared directions in which an input moves a release's estimate.

use crate::BodyError;
use crate::body::check_rule;
use serde::{Deserialize, Serialize};

/// Homes that one probe may ask for.
const MOST_HOMES: u32 = 10_000;

/// One input that moves the estimate one way only, all else the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Monotone {
    /// The input.
    pub input: MonotoneInput,
    /// The way.
    pub direction: Direction,
    /// Share of the estimate by which it may go the other way and still be taken as level, 0 to
    /// below 1.
    #[serde(default)]
    pub tolerance: f64,
    /// Share of the probed homes that may break it, 0 to below 1.
    #[serde(default)]
    pub may_break: f64,
    /// Homes that are probed, at most, 1 to 10,000.
    #[serde(default = "homes")]
    pub homes: u32,
}

fn homes() -> u32 {
    200
}

/// An input with an order, as the public contract names it. Inputs that a client cannot state are
/// not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MonotoneInput {
    /// Internal floor area, square metres.
    FloorAreaM2,
    /// Bedrooms.
    Bedrooms,
    /// Living rooms.
    LivingRooms,
    /// Storeys of a house.
    Storeys,
    /// Years left of a lease.
    YearsRemaining,
    /// Ground rent, pounds a year.
    GroundRentGbpPerYear,
    /// Service charge, pounds a year.
    ServiceChargeGbpPerYear,
    /// Energy rating, from G up to A.
    EnergyRating,
    /// Energy efficiency score.
    EfficiencyScore,
}

/// Direction of the estimate as an input rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// It never falls.
    Up,
    /// It never rises.
    Down,
}

pub(crate) fn check(declared: &[Monotone]) -> Result<(), BodyError> {
    let field = "monotone";
    for (at, probe) in declared.iter().enumerate() {
        check_rule(
            !declared[..at]
                .iter()
                .any(|earlier| earlier.input == probe.input),
            field,
            "must name each input once",
        )?;
        for share in [probe.tolerance, probe.may_break] {
            check_rule(
                (0.0..1.0).contains(&share),
                field,
                "must have shares from 0 to below 1",
            )?;
        }
        check_rule(
            (1..=MOST_HOMES).contains(&probe.homes),
            field,
            "must probe 1 to 10000 homes",
        )?;
    }
    Ok(())
}
