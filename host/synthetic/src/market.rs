//! The hidden market: the true value of a home on a day.
//!
//! ln value = national path + the authority's level, drift and swing + type + size + age + place +
//! lease + energy + quality. [`crate::sales`] adds the buyer's luck.

use crate::draw::Draw;
use crate::world::FIRST_DAY;
use chrono::{Datelike, NaiveDate};

/// The type of a dwelling, or of premises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Detached,
    SemiDetached,
    Terraced,
    Flat,
    Commercial,
}

impl Kind {
    /// Returns the letter of the price paid register.
    pub(crate) fn letter(self) -> &'static str {
        match self {
            Kind::Detached => "D",
            Kind::SemiDetached => "S",
            Kind::Terraced => "T",
            Kind::Flat => "F",
            Kind::Commercial => "O",
        }
    }

    /// Returns ln of value against a terraced house of the same size, in January 2024.
    fn effect(self) -> f64 {
        match self {
            Kind::Detached => 0.31,
            Kind::SemiDetached => 0.13,
            Kind::Terraced => 0.0,
            Kind::Flat => 0.02,
            Kind::Commercial => 0.10,
        }
    }
}

/// The size in square metres at which an authority's level is stated.
pub(crate) const USUAL_SIZE_M2: f64 = 90.0;

/// The growth of ln value with ln size.
const SIZE_ELASTICITY: f64 = 0.78;

/// Average price in thousands of pounds each January from 1995, in round figures. It has the boom
/// to 2007, the crash of 2008, the long recovery, and a gentle rise afterwards.
const JANUARIES: [f64; 33] = [
    55., 54., 56., 62., 67., 78., 84., 95., 119., 133., 149., 155., 170., 180., 155., 167., 165.,
    165., 165., 174., 187., 203., 215., 225., 229., 233., 251., 274., 292., 285., 292., 300., 308.,
];

/// Yearly growth after the last of [`JANUARIES`].
const LATER_GROWTH: f64 = 0.025;

/// Days per year on average.
const YEAR: f64 = 365.25;

/// Returns the years since 1995-01-01.
pub(crate) fn years(day: NaiveDate) -> f64 {
    (day - FIRST_DAY).num_days() as f64 / YEAR
}

/// Years from 1995-01-01 to 2024-01-01, where every index is 1.
const REFERENCE: f64 = 29.0;

/// Returns ln of the national path, 0 in January 2024, seasons included.
fn national(t: f64) -> f64 {
    let level = |year: f64| -> f64 {
        let last = JANUARIES.len() - 1;
        let year = year.max(0.0);
        if year >= last as f64 {
            return libm::log(JANUARIES[last]) + LATER_GROWTH * (year - last as f64);
        }
        let (whole, part) = (year as usize, year.fract());
        libm::log(JANUARIES[whole]) * (1.0 - part) + libm::log(JANUARIES[whole + 1]) * part
    };
    let season = |year: f64| 0.006 * libm::sin(std::f64::consts::TAU * (year - 0.4));
    level(t) - level(REFERENCE) + season(t) - season(REFERENCE)
}

/// The parameters of one authority's prices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Locale {
    /// ln of pounds per square metre of a terraced house of the usual size in January 2024.
    pub(crate) level: f64,
    /// Yearly growth beyond the nation's.
    drift: f64,
    /// Height of an eighteen-year swing around the nation's path.
    swing: f64,
    /// The beginning of the swing, in years.
    phase: f64,
}

/// Pounds per square metre at even steps of rank over the authorities, in round figures of 2024.
/// They spread as over the postcode districts of England and Wales.
const LEVELS: [f64; 11] = [
    1_400., 1_850., 2_100., 2_350., 2_650., 2_950., 3_250., 3_700., 4_250., 5_100., 7_200.,
];

impl Locale {
    /// Returns the prices of the authority of this rank, 0 (cheapest) to 1.
    pub(crate) fn new(rank: f64, draw: &mut Draw) -> Locale {
        let place = rank.clamp(0.0, 1.0) * (LEVELS.len() - 1) as f64;
        let low = (place as usize).min(LEVELS.len() - 2);
        let part = place - low as f64;
        Locale {
            level: libm::log(LEVELS[low]) * (1.0 - part) + libm::log(LEVELS[low + 1]) * part,
            drift: draw.normal(0.003 * (rank - 0.5) * 2.0, 0.0025),
            swing: draw.between(-0.06, 0.06),
            phase: draw.between(0.0, 18.0),
        }
    }

    /// Returns ln of the authority's index for one type, 0 in January 2024.
    pub(crate) fn index(&self, kind: Kind, day: NaiveDate) -> f64 {
        let t = years(day);
        let swing =
            |t: f64| self.swing * libm::sin(std::f64::consts::TAU * (t - self.phase) / 18.0);
        // Flats have lagged since 2016; large houses gained a little.
        let of_kind = match kind {
            Kind::Flat => -0.013 * ((t - 21.0).max(0.0) - (REFERENCE - 21.0)),
            Kind::Detached => 0.001 * (t - REFERENCE),
            _ => 0.0,
        };
        national(t) + self.drift * (t - REFERENCE) + swing(t) - swing(REFERENCE) + of_kind
    }

    /// Returns ln of the mean price of one type, as an index of prices would state it.
    pub(crate) fn typical(&self, kind: Kind, day: NaiveDate) -> f64 {
        let size = match kind {
            Kind::Detached => 128.0,
            Kind::SemiDetached => 92.0,
            Kind::Terraced => 84.0,
            Kind::Flat => 60.0,
            Kind::Commercial => 100.0,
        };
        self.level + size_part(size) + kind.effect() + self.index(kind, day)
    }
}

/// Returns ln of value per level, for a floor area in square metres.
fn size_part(area_m2: f64) -> f64 {
    libm::log(USUAL_SIZE_M2) + SIZE_ELASTICITY * libm::log(area_m2 / USUAL_SIZE_M2)
}

/// The features of a home that its value depends on, beside its location.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HomeFeatures {
    pub(crate) kind: Kind,
    pub(crate) bungalow: bool,
    pub(crate) area_m2: f64,
    pub(crate) built: i32,
    /// Years left on the lease, if any.
    pub(crate) lease_years: Option<f64>,
    /// Energy score, 1 to 100.
    pub(crate) score: u32,
    /// ln effects of field, street, plot, quality and condition together.
    pub(crate) effects: f64,
}

/// Returns the true market value in pounds.
pub(crate) fn value(locale: &Locale, seen: &HomeFeatures, day: NaiveDate) -> f64 {
    let age = match seen.built {
        ..=1899 => 0.03,
        1900..=1929 => 0.01,
        1930..=1949 => 0.02,
        1950..=1966 => -0.02,
        1967..=1975 => -0.05,
        1976..=1995 => 0.0,
        _ => 0.03,
    };
    // A new home's premium is gone after five years.
    let newness = 0.11 * (1.0 - (f64::from(day.year() - seen.built) / 5.0).clamp(0.0, 1.0));
    // The value that remains after a lease of n years, discounted at 4.5 %.
    let lease = seen
        .lease_years
        .map_or(0.0, |n| libm::log(1.0 - libm::exp(-0.045 * n.max(5.0))));
    let bungalow = if seen.bungalow { 0.07 } else { 0.0 };
    let energy = 0.0012 * (f64::from(seen.score) - 65.0);
    libm::exp(
        locale.level
            + size_part(seen.area_m2)
            + seen.kind.effect()
            + locale.index(seen.kind, day)
            + age
            + newness
            + lease
            + bungalow
            + energy
            + seen.effects,
    )
}

/// A smooth field of ln price effects over the ground: a few long waves.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    waves: [(f64, f64, f64); 5],
}

impl Field {
    /// Standard deviation of the field.
    const SPREAD: f64 = 0.12;

    /// Returns a field of waves between 2.5 and 12 km long.
    pub(crate) fn new(draw: &mut Draw) -> Field {
        Field {
            waves: std::array::from_fn(|_| {
                let (turn, length) = (
                    draw.between(0.0, std::f64::consts::TAU),
                    draw.between(2_500.0, 12_000.0),
                );
                let per_metre = std::f64::consts::TAU / length;
                (
                    per_metre * libm::cos(turn),
                    per_metre * libm::sin(turn),
                    draw.between(0.0, std::f64::consts::TAU),
                )
            }),
        }
    }

    /// Returns the effect at a point.
    pub(crate) fn at(&self, point: crate::land::Point) -> f64 {
        let height = Self::SPREAD * (2.0 / self.waves.len() as f64).sqrt();
        self.waves
            .iter()
            .map(|(x, y, phase)| height * libm::sin(x * point.easting + y * point.northing + phase))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Purpose;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn features_of(kind: Kind) -> HomeFeatures {
        HomeFeatures {
            kind,
            bungalow: false,
            area_m2: 90.0,
            built: 1960,
            lease_years: None,
            score: 65,
            effects: 0.0,
        }
    }

    #[test]
    fn prices_rise_crash_and_recover() {
        let at = |d| national(years(day(d)));
        assert!(at("2024-01-01").abs() < 1e-3);
        assert!(at("2007-12-01") > at("1996-01-01") + 1.0);
        assert!(at("2009-02-01") < at("2007-12-01") - 0.1);
        assert!(at("2040-01-01") > at("2027-01-01"));
    }

    #[test]
    fn types_size_and_leases_order_values() {
        let mut draw = Draw::new(1, Purpose::Authority, 0, 0);
        let locale = Locale::new(0.5, &mut draw);
        let on = |s: &HomeFeatures| value(&locale, s, day("2024-01-01"));
        assert!(on(&features_of(Kind::Detached)) > on(&features_of(Kind::SemiDetached)));
        assert!(on(&features_of(Kind::SemiDetached)) > on(&features_of(Kind::Terraced)));
        let large = HomeFeatures {
            area_m2: 180.0,
            ..features_of(Kind::Terraced)
        };
        let ratio = on(&large) / on(&features_of(Kind::Terraced));
        assert!((ratio - libm::pow(2.0, 0.78)).abs() < 1e-9, "{ratio}");
        let leases = [999.0, 99.0, 80.0, 60.0, 40.0].map(|n| {
            on(&HomeFeatures {
                lease_years: Some(n),
                ..features_of(Kind::Flat)
            })
        });
        assert!(leases.is_sorted_by(|a, b| a > b), "{leases:?}");
    }

    #[test]
    fn levels_span_the_believable() {
        let mut draw = Draw::new(1, Purpose::Authority, 0, 0);
        let of = |rank, draw: &mut Draw| libm::exp(Locale::new(rank, draw).level);
        assert!(
            (of(0.0, &mut draw) - 1_400.0).abs() < 1.0
                && (of(1.0, &mut draw) - 7_200.0).abs() < 1.0
        );
    }
}
