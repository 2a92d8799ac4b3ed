//! The covariance of two homes' log prices, by place, type, tenure and day.
//!
//! It is a sum of parts with their own ranges. A part that falls with distance or time is a
//! rational quadratic of power one, 1 / (1 + d²/L²). That is positive definite in any number of
//! dimensions, has a long tail and needs no exponential. Sums and products of such parts, and parts
//! of equality, are positive definite too.
//!
//! The constants were chosen once for all places, by predicting each sale from earlier ones. The
//! sales were those of Bristol from October 2021 to June 2022 and of Reading from 2005 to 2010
//! (docs/reference/gradient-boosted-trees.md).

use domesday_hedonic::property_kind::PropertyKind;
use domesday_hedonic::time::DAYS_A_YEAR;
use domesday_sdk::{Day, Place};

/// The attributes of a home on a day that its covariance depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Home {
    /// UPRN, if known.
    pub uprn: Option<u64>,
    /// British National Grid.
    pub place: Place,
    /// Property type.
    pub kind: PropertyKind,
    /// True if the home is leasehold.
    pub leasehold: bool,
    /// True if it is sold new.
    pub new_build: bool,
    /// Day of its sale or of its valuation.
    pub day: Day,
}

// Standard deviations of the parts in log price, and their ranges in metres and years.
const LEVEL: f64 = 1.5;
const TYPE: f64 = 0.17;
const TITLE: f64 = 0.17;
const NEW: f64 = 0.065;
const TOWN: f64 = 0.26;
const TOWN_M: f64 = 1_500.0;
const QUARTER: f64 = 0.22;
const QUARTER_M: f64 = 120.0;
const TYPE_HERE: f64 = 0.12;
const TYPE_HERE_M: f64 = 210.0;
const POSTCODE: f64 = 0.15;
const HOME: f64 = 0.16;
const HOME_YEARS: f64 = 45.0;
const MARKET: f64 = 0.10;
const MARKET_YEARS: f64 = 2.8;
const LOCAL_MARKET: f64 = 0.13;
const LOCAL_MARKET_M: f64 = 2_000.0;
const LOCAL_MARKET_YEARS: f64 = 2.7;
const NOISE_DEVIATION: f64 = 0.125;
const TAIL_RATIO: f64 = 0.625;

/// Noise variance of a sale: the difference between one buyer and another.
pub const NOISE: f64 = NOISE_DEVIATION * NOISE_DEVIATION;
/// Squared departure over its variance at which a sale's noise doubles.
pub const TAIL: f64 = TAIL_RATIO * TAIL_RATIO;

/// Returns the covariance of two homes' log prices, each on its day.
pub fn between(one: &Home, other: &Home) -> f64 {
    let metres = |a: i32, b: i32| f64::from(a) - f64::from(b);
    let east = metres(one.place.easting, other.place.easting);
    let north = metres(one.place.northing, other.place.northing);
    let distance = east * east + north * north;
    let years = (f64::from(one.day) - f64::from(other.day)) / DAYS_A_YEAR;
    let time = years * years;
    let shared = |shared: bool, deviation: f64| if shared { deviation * deviation } else { 0.0 };
    let mut sum = LEVEL * LEVEL
        + shared(one.leasehold == other.leasehold, TITLE)
        + shared(one.new_build == other.new_build, NEW)
        + TOWN * TOWN * within(distance, TOWN_M)
        + QUARTER * QUARTER * within(distance, QUARTER_M)
        + MARKET * MARKET * within(time, MARKET_YEARS)
        + LOCAL_MARKET
            * LOCAL_MARKET
            * within(distance, LOCAL_MARKET_M)
            * within(time, LOCAL_MARKET_YEARS);
    if one.kind == other.kind {
        sum += TYPE * TYPE
            + TYPE_HERE * TYPE_HERE * within(distance, TYPE_HERE_M)
            + shared(distance == 0.0, POSTCODE);
    }
    if one.uprn.is_some() && one.uprn == other.uprn {
        sum += HOME * HOME * within(time, HOME_YEARS);
    }
    sum
}

/// Returns the rational quadratic of a squared distance: one at zero, a half at `reach`.
fn within(squared: f64, reach: f64) -> f64 {
    1.0 / (1.0 + squared / (reach * reach))
}
