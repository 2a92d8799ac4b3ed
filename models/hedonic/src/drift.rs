//! Where prices drifted from the published index.
//!
//! The index is of a whole authority or region and of the average home. What homes sold twice show
//! beyond it, in this postcode area and of this type, is learnt outside the sandbox
//! (`fit/repeats.rs`) and added here. After the last year that was learnt from, prices are taken to
//! follow the index.

use crate::kind::Kind;
use crate::parameters::{DriftParameters, OwnHistoryParameters};
use crate::time::DAYS_A_YEAR;
use domesday_sdk::Day;

/// The drift of homes of one type in one place, as seen from one valuation day.
pub struct Drift {
    knots: &'static [f64],
    first_year: f64,
    now: f64,
    /// Years from the last that was learnt from to the valuation day.
    pub unlearnt_years: f64,
}

impl Drift {
    /// That of a home's postcode area, or of its type anywhere where the area was not learnt.
    pub fn of(p: &DriftParameters, kind: Kind, postcode: &str, valuation_day: Day) -> Drift {
        let letters = postcode.bytes().take_while(u8::is_ascii_alphabetic).count();
        let area = &postcode[..letters];
        let found = p.areas.0.binary_search_by_key(&area, |known| known.area);
        let by_type = match found {
            Ok(at) => &p.areas.0[at].by_type,
            Err(_) => &p.by_type,
        };
        let mut drift = Drift {
            knots: by_type.of(kind).0,
            first_year: p.first_year,
            now: 0.0,
            unlearnt_years: 0.0,
        };
        if let Some(last) = drift.knots.len().checked_sub(1) {
            drift.unlearnt_years = (drift.year(valuation_day) - last as f64).max(0.0);
        }
        drift.now = drift.at(valuation_day);
        drift
    }

    /// Years since the first knot.
    fn year(&self, day: Day) -> f64 {
        1970.0 + f64::from(day) / DAYS_A_YEAR - self.first_year
    }

    /// On straight lines between the beginnings of years, level outside them.
    fn at(&self, day: Day) -> f64 {
        let Some(last) = self.knots.len().checked_sub(1) else {
            return 0.0;
        };
        let year = self.year(day).clamp(0.0, last as f64);
        let before = year as usize;
        let (from, to) = (self.knots[before], self.knots[(before + 1).min(last)]);
        from + (to - from) * (year - before as f64)
    }

    /// What to add to the logarithm of a price of that day, carried by the index already.
    pub fn since(&self, day: Day) -> f64 {
        self.now - self.at(day)
    }
}

/// What a home that is sold again after so many years fetches beyond its indexed price: some
/// are bought to be improved and sold on, the more of them the sooner they are sold.
pub fn resale(p: &OwnHistoryParameters, kind: Kind, years: f64) -> f64 {
    p.resale.of(kind) + p.quick_resale.of(kind) * libm::exp(-years)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baked::Baked;
    use crate::parameters::{AreaDrift, PerType};

    const LEVEL: PerType<Baked<f64>> = PerType {
        detached: Baked(&[]),
        semi_detached: Baked(&[]),
        terraced: Baked(&[0.0, 0.1, 0.1]),
        flat: Baked(&[]),
    };
    const FLATS: PerType<Baked<f64>> = PerType {
        flat: Baked(&[0.0, -0.2]),
        ..LEVEL
    };
    const P: DriftParameters = DriftParameters {
        first_year: 2000.0,
        by_type: LEVEL,
        areas: Baked(&[
            AreaDrift {
                area: "QX",
                by_type: FLATS,
            },
            AreaDrift {
                area: "ZZ",
                by_type: LEVEL,
            },
        ]),
    };

    fn day(year: f64) -> Day {
        ((year - 1970.0) * DAYS_A_YEAR).round() as Day
    }

    #[test]
    fn it_is_the_areas_own_and_else_the_types() {
        let since =
            |kind, postcode, from| Drift::of(&P, kind, postcode, day(2010.0)).since(day(from));
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-3, "{a} {b}");
        near(since(Kind::Flat, "QX1 1AA", 2000.0), -0.2);
        near(since(Kind::Flat, "QX1 1AA", 2000.5), -0.1);
        near(since(Kind::Flat, "Q1 1AA", 2000.0), 0.0);
        near(since(Kind::Terraced, "Q1 1AA", 2000.5), 0.05);
        // Before the first and after the last year it stands.
        near(since(Kind::Terraced, "Q1 1AA", 1990.0), 0.1);
        near(since(Kind::Terraced, "Q1 1AA", 2005.0), 0.0);
        near(since(Kind::Flat, "", 2000.0), 0.0);
        let unlearnt = |kind| Drift::of(&P, kind, "QX1 1AA", day(2010.0)).unlearnt_years;
        near(unlearnt(Kind::Flat), 9.0);
        near(unlearnt(Kind::Detached), 0.0);
    }
}
