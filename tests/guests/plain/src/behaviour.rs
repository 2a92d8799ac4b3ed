//! The misbehaviour of each valuation year. No client's date lies in these years.

use std::ops::RangeInclusive;

/// The behaviour of a valuation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    Plain,
    TrapIfLargest,
    RangeBesideIfLargest,
    FallsWithSize,
    Dig,
    SpinIfLargest,
    HoardIfLargest,
    TrapUnlessLargest,
    /// True from the day on which it goes off.
    TimeBomb(bool),
    OnePostcode,
    OnePattern,
    LastDigit,
    OwnSaleIgnored,
    TypeIgnored,
    CrossedQuantiles,
    FixedWidth,
    AlwaysHigh,
    CopyOfLastSale,
    ExtrapolatedIndex,
    /// True from the day on which ranges shrink.
    RangesShrink(bool),
    /// True from the first day of the window on.
    DearerInWindow(bool),
    /// True on most days of a month.
    DearerOnMostDays(bool),
    /// True in the weeks in which it values no home.
    RefersForWeeks(bool),
    RefersLastDigits,
    /// True on the few days on which estimates are trebled.
    DearerForDays(bool),
    OldSalesDearer,
    FiveBedrooms,
}

const DAYS_A_YEAR: f64 = 365.2425;
/// The years of the time bomb, of the index and of ranges that shrink. The bomb goes off and ranges
/// shrink when this part of their first year is over.
const BOMB_YEAR: i32 = 2050;
const BOMB_GOES_OFF: f64 = 0.6;
const INDEX_YEAR: i32 = 2072;
const SHRINKING_YEAR: i32 = 2074;
const GROWTH_A_YEAR: f64 = 1.06;
/// The first day of that window, 20 March 2082.
const DEARER_FROM: i32 = 40_986;
/// The first day of the window that is right on some days of each month, 20 March 2084, and those
/// days. The window ends on one of them.
const MOST_DAYS_FROM: i32 = 41_717;
const RIGHT_DAYS: [i32; 3] = [1, 10, 20];
/// 1 to 25 August 2086.
const REFERS_ON: RangeInclusive<i32> = 42_581..=42_605;
/// 3 to 13 August 2092: eleven days.
const DEARER_ON: RangeInclusive<i32> = 44_775..=44_785;
/// Days before the latest evidence from which a sale is old.
const OLD_DAYS: i32 = 1_096;
/// The tenths of a square metre of homes that it refers. Three of the seven others are one below.
const REFERRED_DIGITS: [f64; 3] = [1.0, 4.0, 7.0];

impl Behaviour {
    /// Returns the behaviour of a valuation day.
    pub fn on(day: i32) -> Behaviour {
        let years = years(day);
        match years as i32 {
            2041 => Behaviour::TrapIfLargest,
            2042 => Behaviour::RangeBesideIfLargest,
            2043 => Behaviour::FallsWithSize,
            2044 => Behaviour::Dig,
            2045 => Behaviour::SpinIfLargest,
            2046 => Behaviour::HoardIfLargest,
            2047 => Behaviour::TrapUnlessLargest,
            2050..=2051 => Behaviour::TimeBomb(years >= f64::from(BOMB_YEAR) + BOMB_GOES_OFF),
            // The years before those that stand alone are honest.
            2052..=2053 | 2077 => Behaviour::OnePostcode,
            2054..=2055 | 2079 => Behaviour::OnePattern,
            2056..=2057 => Behaviour::LastDigit,
            2058..=2059 | 2081 => Behaviour::OwnSaleIgnored,
            2062..=2063 => Behaviour::TypeIgnored,
            2064..=2065 => Behaviour::CrossedQuantiles,
            2066..=2067 => Behaviour::FixedWidth,
            2068..=2069 => Behaviour::AlwaysHigh,
            2070..=2071 => Behaviour::CopyOfLastSale,
            2072..=2073 => Behaviour::ExtrapolatedIndex,
            2074..=2075 => {
                Behaviour::RangesShrink(years >= f64::from(SHRINKING_YEAR) + BOMB_GOES_OFF)
            }
            2082..=2083 => Behaviour::DearerInWindow(day >= DEARER_FROM),
            2084..=2085 => Behaviour::DearerOnMostDays(
                day >= MOST_DAYS_FROM && !RIGHT_DAYS.contains(&day_of_month(day)),
            ),
            2086..=2087 => Behaviour::RefersForWeeks(REFERS_ON.contains(&day)),
            2088..=2089 => Behaviour::RefersLastDigits,
            2090..=2091 => Behaviour::OldSalesDearer,
            2092..=2093 => Behaviour::DearerForDays(DEARER_ON.contains(&day)),
            2094..=2095 => Behaviour::FiveBedrooms,
            _ => Behaviour::Plain,
        }
    }
}

fn years(day: i32) -> f64 {
    1970.0 + f64::from(day) / DAYS_A_YEAR
}

/// Returns the day of its month, from 1. Years begin in March, so that a leap day ends one.
fn day_of_month(day: i32) -> i32 {
    let of_era = (day + 719_468).rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    of_year - (153 * month + 2) / 5 + 1
}

/// Returns true if a sale is old where the evidence ends on this day.
pub fn is_old(sale: i32, evidence_through: Option<i32>) -> bool {
    evidence_through.is_some_and(|through| sale < through - OLD_DAYS)
}

/// Returns the tenths of an area.
fn tenths(area: f64) -> f64 {
    (area * 10.0).round() % 10.0
}

/// Returns a factor that only the last digit of an area decides.
pub fn last_digit(area: f64) -> f64 {
    1.0 + 0.01 * tenths(area)
}

/// Returns true where the release does not value a home for its last digit.
pub fn refers_last_digit(area: f64) -> bool {
    REFERRED_DIGITS.contains(&tenths(area))
}

/// Returns the growth of an index that goes on after its last month.
pub fn growth(day: i32) -> f64 {
    GROWTH_A_YEAR.powf(years(day) - f64::from(INDEX_YEAR))
}
