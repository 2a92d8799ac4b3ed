//! Estimates from repeat sales: drift from the index, the premium of a quick resale, and the
//! variance of an earlier price.
//!
//! The method is repeat-sales regression (Bailey, Muth and Nourse 1963) with a variance that grows
//! with time (Case and Shiller 1987), on index residuals. The logarithm of a pair's price ratio
//! over the index's is
//!
//! ```text
//! Σ over years j of (share of year j between the sales) × δj  +  a  +  b exp(−years between)
//! ```
//!
//! A ridge shrinks each δ towards that of the wider group: a type towards all homes, an area's type
//! towards the type and the area. Iteration finds Huber's weights.

use super::FitError;
use super::regression::{HUBER, cholesky, huber};
use super::rows::SaleRow;
use crate::embedded_parameters::StaticList;
use crate::parameters::{AreaDrift, DriftParameters, OwnHistoryParameters, PerType};
use crate::property_kind::PropertyKind;
use crate::robust_statistics::{MAD_TO_SCALE, median};
use crate::time::{DAYS_A_YEAR, years_between};
use domesday_sdk::Day;
use std::collections::BTreeMap;

/// Least pairs for any estimate, and for the drift of an area.
const MIN_PAIRS: usize = 200;
/// Greatest log difference of a pair. Beyond it lie rebuilt homes and bad prices.
const MAX_DIFFERENCE: f64 = 0.8;
/// Greatest log difference that the variances count. Beyond it lies a changed home, and the
/// valuation itself lowers the weight of such a sale.
const CLIP: f64 = 0.3;
const ROUNDS: usize = 5;
/// Initial variance of a pair: at no distance in time, and for each year.
const VARIANCE: (f64, f64) = (0.01, 0.0015);
/// Prior standard deviations of a year's drift. Homes drift from the index, a type and an area from
/// all homes, and an area's type from the sum of both.
const YEARLY: [f64; 4] = [0.03, 0.01, 0.02, 0.01];
/// Prior standard deviations of the resale premium. An area's is its type's.
const RESALE: [f64; 4] = [0.1, 0.03, 1e-4, 1e-4];

/// The counts of a fit on repeat sales.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepeatSalesSummary {
    /// Pairs of consecutive sales of a home.
    pub pairs: usize,
    /// Postcode areas with a drift of their own.
    pub areas: usize,
}

/// Two consecutive sales of a home.
struct SalePair<'a> {
    kind: PropertyKind,
    area: &'a str,
    /// Years from the first fitted year to the first sale.
    from: f64,
    to: f64,
    /// Log of the price ratio over the index's, without premiums of new homes.
    difference: f64,
}

impl SalePair<'_> {
    fn years(&self) -> f64 {
        self.to - self.from
    }

    /// Returns the nonzero columns: the years, then the two of the resale premium.
    fn columns(&self, years: usize) -> impl Iterator<Item = (usize, f64)> + use<> {
        let (from, to) = (self.from, self.to);
        let overlap = move |j: usize| {
            let start = j as f64;
            (j, to.min(start + 1.0) - from.max(start))
        };
        let last = (to.ceil() as usize).min(years);
        (from as usize..last)
            .map(overlap)
            .chain([(years, 1.0), (years + 1, libm::exp(from - to))])
    }
}

/// Fits drift and own-history parameters on consecutive sales of a home. With fewer than
/// [`MIN_PAIRS`] pairs both stay as they are.
///
/// # Errors
/// [`FitError::Singular`] if the equations have no solution.
pub fn learn(
    rows: &[SaleRow],
    new_build: f64,
    own: &mut OwnHistoryParameters,
    drift: &mut DriftParameters,
) -> Result<RepeatSalesSummary, FitError> {
    let (first_year, years) = span(rows);
    let pairs = pairs(rows, new_build, first_year);
    if pairs.len() < MIN_PAIRS {
        return Ok(RepeatSalesSummary {
            pairs: pairs.len(),
            areas: 0,
        });
    }
    let refs: Vec<&SalePair<'_>> = pairs.iter().collect();
    let nothing = vec![0.0; years + 2];
    let all = solve(&refs, &nothing, years, 0)?;
    let mut types = Vec::new();
    for kind in PropertyKind::ALL {
        let of_kind: Vec<_> = refs.iter().copied().filter(|p| p.kind == kind).collect();
        types.push(solve(&of_kind, &all, years, 1)?);
    }
    let mut by_area: BTreeMap<&str, Vec<&SalePair<'_>>> = BTreeMap::new();
    for pair in &pairs {
        by_area.entry(pair.area).or_default().push(pair);
    }
    let mut areas = Vec::new();
    let mut squares = Vec::new();
    for (area, here) in by_area {
        let enough = here.len() >= MIN_PAIRS && !area.is_empty();
        let local = match enough {
            true => Some(solve(&here, &all, years, 2)?),
            false => None,
        };
        let mut of_area = Vec::new();
        for (kind, of_type) in PropertyKind::ALL.into_iter().zip(&types) {
            let of_kind: Vec<_> = here.iter().copied().filter(|p| p.kind == kind).collect();
            let effects = match &local {
                Some(local) => {
                    // The resale premium is the type's. The drift is the area's plus the type's.
                    let expected = (0..years + 2).map(|j| match j < years {
                        true => local[j] + of_type[j] - all[j],
                        false => of_type[j],
                    });
                    solve(&of_kind, &expected.collect::<Vec<_>>(), years, 3)?
                }
                None => of_type.clone(),
            };
            squares.extend(of_kind.iter().map(|p| {
                let rest = (p.difference - expected_difference(p, &effects, years))
                    .abs()
                    .min(CLIP);
                (p.years(), rest * rest)
            }));
            of_area.push(effects);
        }
        if enough {
            let area: &'static str = area.to_owned().leak();
            areas.push(AreaDrift {
                area,
                by_type: knots(&of_area, years),
            });
        }
    }
    let summary = RepeatSalesSummary {
        pairs: pairs.len(),
        areas: areas.len(),
    };
    own.resale = per_type(|at| types[at][years]);
    own.quick_resale = per_type(|at| types[at][years + 1]);
    variances(&squares, own);
    *drift = DriftParameters {
        first_year,
        by_type: knots(&types, years),
        areas: areas.into(),
    };
    Ok(summary)
}

/// Returns the year of the first sale, and the number of years to the last.
fn span(rows: &[SaleRow]) -> (f64, usize) {
    let year = |day: Day| 1970.0 + f64::from(day) / DAYS_A_YEAR;
    let days = || rows.iter().map(|row| row.day);
    let first = days().min().map_or(1995.0, |day| year(day).floor());
    let last = days().max().map_or(first, |day| year(day).ceil());
    (first, (last - first).max(1.0) as usize)
}

fn pairs<'a>(rows: &'a [SaleRow], new_build: f64, first_year: f64) -> Vec<SalePair<'a>> {
    let mut last: BTreeMap<u64, &SaleRow> = BTreeMap::new();
    let mut pairs = Vec::new();
    for row in rows {
        let Some(uprn) = row.uprn else { continue };
        if let Some(before) = last.insert(uprn, row) {
            pairs.extend(pair(before, row, new_build, first_year));
        }
    }
    pairs
}

fn pair<'a>(
    before: &SaleRow,
    after: &'a SaleRow,
    new_build: f64,
    first_year: f64,
) -> Option<SalePair<'a>> {
    let premium = |row: &SaleRow| if row.new_build { new_build } else { 0.0 };
    let real = |row: &SaleRow| {
        Some(libm::log(row.price_gbp as f64) - libm::log(row.index?) - premium(row))
    };
    let difference = real(after)? - real(before)?;
    let years = years_between(before.day, after.day);
    let since = |day: Day| 1970.0 + f64::from(day) / DAYS_A_YEAR - first_year;
    (difference.abs() <= MAX_DIFFERENCE && years > 0.0).then(|| SalePair {
        kind: after.property_type.kind(),
        area: after.area(),
        from: since(before.day),
        to: since(after.day),
        difference,
    })
}

fn expected_difference(pair: &SalePair<'_>, effects: &[f64], years: usize) -> f64 {
    pair.columns(years).map(|(c, x)| x * effects[c]).sum()
}

/// Fits the effects of a group of pairs, shrunk towards `prior`.
fn solve(
    pairs: &[&SalePair<'_>],
    prior: &[f64],
    years: usize,
    level: usize,
) -> Result<Vec<f64>, FitError> {
    let n = years + 2;
    let mut effects = prior.to_vec();
    let mut scratch = Vec::new();
    for _ in 0..ROUNDS {
        let deviation = |p: &SalePair<'_>| (VARIANCE.0 + VARIANCE.1 * p.years()).sqrt();
        let rests: Vec<f64> = pairs
            .iter()
            .map(|p| (p.difference - expected_difference(p, &effects, years)) / deviation(p))
            .collect();
        let Some(spread) = median(rests.iter().map(|r| (r.abs(), 1.0)), &mut scratch) else {
            return Ok(effects);
        };
        let reach = HUBER * (spread * MAD_TO_SCALE).max(1e-6);
        let (mut matrix, mut right) = (vec![0.0; n * n], vec![0.0; n]);
        for (p, rest) in pairs.iter().zip(&rests) {
            let weight = huber(*rest, reach) / (deviation(p) * deviation(p));
            let beyond = p.difference - expected_difference(p, prior, years);
            for (i, x) in p.columns(years) {
                right[i] += weight * x * beyond;
                for (j, y) in p.columns(years) {
                    matrix[i * n + j] += weight * x * y;
                }
            }
        }
        for i in 0..n {
            let may = if i < years {
                YEARLY[level]
            } else {
                RESALE[level]
            };
            matrix[i * n + i] += 1.0 / (may * may);
        }
        cholesky(&mut matrix, &mut right, n).ok_or(FitError::Singular)?;
        effects = prior.iter().zip(right).map(|(a, b)| a + b).collect();
    }
    Ok(effects)
}

fn per_type<T>(of: impl Fn(usize) -> T) -> PerType<T> {
    PerType {
        detached: of(0),
        semi_detached: of(1),
        terraced: of(2),
        flat: of(3),
    }
}

/// Returns the cumulative drift of each type.
fn knots(types: &[Vec<f64>], years: usize) -> PerType<StaticList<f64>> {
    per_type(|at| {
        let mut sum = 0.0;
        let steps = types[at][..years].iter().map(|step| {
            sum += step;
            sum
        });
        StaticList::from(std::iter::once(0.0).chain(steps).collect::<Vec<f64>>())
    })
}

/// Fits the variance at no distance and that of each year, by least squares of the squared
/// difference on the years.
fn variances(squares: &[(f64, f64)], own: &mut OwnHistoryParameters) {
    let n = squares.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| squares.iter().map(of).sum::<f64>() / n;
    let (years, square) = (mean(|p| p.0), mean(|p| p.1));
    let covariance: f64 = squares.iter().map(|p| (p.0 - years) * (p.1 - square)).sum();
    let spread: f64 = squares.iter().map(|p| (p.0 - years) * (p.0 - years)).sum();
    let slope = if spread > 0.0 {
        covariance / spread
    } else {
        0.0
    };
    own.variance_per_year = slope.clamp(0.0, 0.02);
    own.variance = (square - own.variance_per_year * years).clamp(0.002, 0.2);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PARAMETERS;

    fn row(id: u64, year: f64, price: f64, kind: &str) -> SaleRow {
        let day = ((year - 1970.0) * DAYS_A_YEAR).round();
        let text = format!(
            r#"{{"id":{id},"day":{day},"price_gbp":{price:.0},"standard":true,"new_build":false,"uprn":{},"postcode":"QX1 1AA","authority":"","property_type":"{kind}","index":1.0}}"#,
            id % 1_000
        );
        serde_json::from_str(&text).unwrap()
    }

    fn learn_from(rows: &[SaleRow]) -> (RepeatSalesSummary, OwnHistoryParameters, DriftParameters) {
        let (mut own, mut drift) = (PARAMETERS.own_history, PARAMETERS.drift);
        let found = learn(rows, 0.0, &mut own, &mut drift).unwrap();
        (found, own, drift)
    }

    /// Returns a thousand homes sold from 2000 on and again some years later. `ratio` takes home,
    /// first year and years between.
    fn sold_twice(ratio: impl Fn(u64, f64, f64) -> f64) -> Vec<SaleRow> {
        let first = |id: u64| 2000.01 + (id / 8 % 10) as f64;
        let years = |id: u64| 1.0 + (id % 8) as f64;
        let of = |id: u64| row(id, first(id), 2e5, "flat");
        let mut rows: Vec<SaleRow> = (0..1_000).map(of).collect();
        rows.extend((0..1_000).map(|id| {
            let log = ratio(id, first(id), years(id));
            row(1_000 + id, first(id) + years(id), 2e5 * log.exp(), "flat")
        }));
        rows
    }

    #[test]
    fn a_drift_from_the_index_is_learnt_for_the_area_and_its_type() {
        // Drift is three per cent a year until 2004, then zero.
        let (found, _, drift) = learn_from(&sold_twice(|_, first, years| {
            0.03 * ((first + years).min(2004.0) - first.min(2004.0))
        }));
        assert_eq!((found.pairs, found.areas), (1_000, 1));
        let area = drift.areas.0[0];
        let at = |year: usize| area.by_type.flat.0[year - 2000];
        assert_eq!((area.area, drift.first_year), ("QX", 2000.0));
        assert!((at(2004) - at(2001) - 0.09).abs() < 0.02, "{drift:?}");
        assert!((at(2008) - at(2005)).abs() < 0.02, "{drift:?}");
    }

    #[test]
    fn the_premium_of_a_quick_resale_is_separated_from_drift() {
        let (_, own, drift) = learn_from(&sold_twice(|_, _, years| 0.3 * (-years).exp()));
        assert!((own.quick_resale.flat - 0.3).abs() < 0.12, "{own:?}");
        let drifted = drift.areas.0[0].by_type.flat.0[8];
        assert!(drifted.abs() < 0.03, "{drift:?}");
    }

    #[test]
    fn variance_grows_with_the_years() {
        let (_, own, _) = learn_from(&sold_twice(|id, _, years| {
            let sign = if id / 80 % 2 == 0 { 1.0 } else { -1.0 };
            sign * (0.004 + 0.002 * years).sqrt()
        }));
        assert!((own.variance_per_year - 0.002).abs() < 3e-4, "{own:?}");
        assert!((own.variance - 0.004).abs() < 8e-4, "{own:?}");
    }

    #[test]
    fn too_few_pairs_change_nothing() {
        let rows = sold_twice(|_, _, _| 0.1);
        let (found, own, drift) = learn_from(&rows[..1_100]);
        assert_eq!((found.pairs, found.areas), (100, 0));
        assert_eq!((own, drift), (PARAMETERS.own_history, PARAMETERS.drift));
    }
}
