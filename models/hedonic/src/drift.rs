//! Drift of prices from the published index.
//!
//! The index covers a whole authority or region and the average home. The fit learns the drift of a
//! postcode area and type from homes sold twice (`fit/repeat_sales.rs`). This module adds it to
//! prices. After the last fitted year, prices are assumed to follow the index.

use crate::parameters::{DriftParameters, OwnHistoryParameters};
use crate::property_kind::PropertyKind;
use crate::time::DAYS_A_YEAR;
use domesday_sdk::Day;

/// The drift of one type in one place, relative to one valuation day.
pub struct Drift {
    knots: &'static [f64],
    first_year: f64,
    now: f64,
    /// Years from the last fitted year to the valuation day.
    pub years_since_fit: f64,
}

impl Drift {
    /// Selects the drift of the home's postcode area, or of its type if the area has none.
    pub fn of(
        p: &DriftParameters,
        kind: PropertyKind,
        postcode: &str,
        valuation_day: Day,
    ) -> Drift {
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
            years_since_fit: 0.0,
        };
        if let Some(last) = drift.knots.len().checked_sub(1) {
            drift.years_since_fit = (drift.year(valuation_day) - last as f64).max(0.0);
        }
        drift.now = drift.at(valuation_day);
        drift
    }

    /// Returns the years since the first knot.
    fn year(&self, day: Day) -> f64 {
        1970.0 + f64::from(day) / DAYS_A_YEAR - self.first_year
    }

    /// Interpolates linearly between the beginnings of years, and extrapolates as a constant.
    fn at(&self, day: Day) -> f64 {
        let Some(last) = self.knots.len().checked_sub(1) else {
            return 0.0;
        };
        let year = self.year(day).clamp(0.0, last as f64);
        let before = year as usize;
        let (from, to) = (self.knots[before], self.knots[(before + 1).min(last)]);
        from + (to - from) * (year - before as f64)
    }

    /// Returns the log drift from a day to the valuation day. Add it to an indexed log price.
    pub fn log_since(&self, day: Day) -> f64 {
        self.now - self.at(day)
    }
}

/// Returns the log premium of a home resold after this many years, over its indexed price. Homes
/// bought to be improved are resold early, so the premium falls with time.
pub fn resale_premium(p: &OwnHistoryParameters, kind: PropertyKind, years: f64) -> f64 {
    p.resale.of(kind) + p.quick_resale.of(kind) * libm::exp(-years)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded_parameters::StaticList;
    use crate::parameters::{AreaDrift, PerType};

    const LEVEL: PerType<StaticList<f64>> = PerType {
        detached: StaticList(&[]),
        semi_detached: StaticList(&[]),
        terraced: StaticList(&[0.0, 0.1, 0.1]),
        flat: StaticList(&[]),
    };
    const FLATS: PerType<StaticList<f64>> = PerType {
        flat: StaticList(&[0.0, -0.2]),
        ..LEVEL
    };
    const P: DriftParameters = DriftParameters {
        first_year: 2000.0,
        by_type: LEVEL,
        areas: StaticList(&[
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
    fn drift_is_the_areas_own_or_else_the_types() {
        let since =
            |kind, postcode, from| Drift::of(&P, kind, postcode, day(2010.0)).log_since(day(from));
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-3, "{a} {b}");
        near(since(PropertyKind::Flat, "QX1 1AA", 2000.0), -0.2);
        near(since(PropertyKind::Flat, "QX1 1AA", 2000.5), -0.1);
        near(since(PropertyKind::Flat, "Q1 1AA", 2000.0), 0.0);
        near(since(PropertyKind::Terraced, "Q1 1AA", 2000.5), 0.05);
        // Drift is constant before the first and after the last year.
        near(since(PropertyKind::Terraced, "Q1 1AA", 1990.0), 0.1);
        near(since(PropertyKind::Terraced, "Q1 1AA", 2005.0), 0.0);
        near(since(PropertyKind::Flat, "", 2000.0), 0.0);
        let unlearnt = |kind| Drift::of(&P, kind, "QX1 1AA", day(2010.0)).years_since_fit;
        near(unlearnt(PropertyKind::Flat), 9.0);
        near(unlearnt(PropertyKind::Detached), 0.0);
    }
}
