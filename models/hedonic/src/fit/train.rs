//! Fit of the effects on sales up to a day.

use super::rows::SaleRow;
use super::{
    FitError, design, json_lines, regression, repeat_sales, typical_areas, unknown_area, write_day,
};
use crate::document::{Document, FitRecord};
use crate::parameters::HedonicParameters;
use crate::time::month_of;
use domesday_sdk::{Day, Month};
use std::collections::BTreeMap;
use std::io::BufRead;

/// Least sales of a fit.
const MIN_SALES: u64 = 100;
/// Number of sales that an effect of the base parameters counts for.
const RIDGE: f64 = 20.0;
/// The same for an elasticity, whose column holds log sizes of variance near 0.1.
const ELASTICITY_RIDGE: f64 = 0.1 * RIDGE;
/// Ridge of a monthly effect. It only makes the equations solvable where months and places overlap.
const MONTH_RIDGE: f64 = 1e-3;

/// Reads the standard sales up to and including `through` with a plausible price.
fn read(source: impl BufRead, through: Day) -> Result<(u64, Vec<SaleRow>), FitError> {
    let mut usable = Vec::new();
    let (mut count, mut last) = (0, None);
    for row in json_lines::read::<SaleRow>(source) {
        let (line, row) = row?;
        count += 1;
        let key = (row.day, row.id);
        if last.is_some_and(|last| key <= last) {
            return Err(FitError::Order { line, id: row.id });
        }
        last = Some(key);
        let index = row.index.is_none_or(|i| i.is_finite() && i > 0.0);
        if row.day <= through && row.standard && row.price_gbp >= 1_000 && index {
            usable.push(row);
        }
    }
    Ok((count, usable))
}

/// Numbers for names, in the order of first use.
#[derive(Default)]
struct NumberedNames<K>(BTreeMap<K, usize>);

impl<K: Ord> NumberedNames<K> {
    fn of(&mut self, name: K) -> usize {
        let next = self.0.len();
        *self.0.entry(name).or_insert(next)
    }
}

/// Builds the regression's observations from sales with a known floor area, relative to the base's
/// effects. Returns the numbers of places and of months as well.
fn observations(
    hedonic: &HedonicParameters,
    start: &[f64],
    rows: &[SaleRow],
) -> (Vec<regression::Observation>, usize, usize) {
    let mut places = NumberedNames::<&str>::default();
    let mut months = NumberedNames::<Month>::default();
    let mut observations = Vec::new();
    for row in rows {
        let Some(area) = row.floor_area_m2.filter(|a| (8.0..=2_000.0).contains(a)) else {
            continue;
        };
        let mut columns = design::columns(hedonic, row, area);
        let known: f64 = columns.iter().map(|&(c, x)| x * start[c]).sum();
        // Without an index, each month of sale has an effect of its own.
        if row.index.is_none() {
            columns.push((design::EFFECTS + months.of(month_of(row.day).0), 1.0));
        }
        observations.push(regression::Observation {
            y: libm::log(row.price_gbp as f64) - row.index.map_or(0.0, libm::log) - known,
            place: places.of(row.local()),
            columns,
        });
    }
    (observations, places.0.len(), months.0.len())
}

/// Fits the effects, and returns them after the robust standard deviation of the residuals.
fn effects(
    observations: &mut [regression::Observation],
    start: &mut [f64],
    places: usize,
    months: usize,
) -> Result<(f64, Vec<f64>), FitError> {
    let mut ridges = vec![RIDGE; design::EFFECTS];
    ridges[design::ELASTICITIES].fill(ELASTICITY_RIDGE);
    ridges.resize(design::EFFECTS + months, MONTH_RIDGE);
    loop {
        let found = regression::fit(observations, places, &ridges)?;
        let effects: Vec<f64> = start
            .iter()
            .zip(&found.effects)
            .map(|(a, b)| a + b)
            .collect();
        // An effect out of bounds is fixed at its bound, and the others are fitted again. A fixed
        // column leaves the rows, so the loop ends.
        let Some((column, bound)) = design::beyond(&effects) else {
            return Ok((found.scale, effects));
        };
        for observation in observations.iter_mut() {
            observation.hold(column, bound - start[column]);
        }
        start[column] = bound;
    }
}

/// Fits the effects, areas and their reliability, drift and own-history variances. All else stays
/// as in `base`, except that ranges calibrated for other effects are dropped.
///
/// # Errors
/// [`FitError`] if a line cannot be read, the lines are out of order, or the sales are too few.
pub fn train(base: Document, source: impl BufRead, through: Day) -> Result<Document, FitError> {
    let (sales_read, rows) = read(source, through)?;
    let mut document = base;
    let hedonic = &mut document.parameters.hedonic;
    let mut start = design::to_vector(hedonic).to_vec();
    if (rows.len() as u64) < MIN_SALES {
        return Err(FitError::TooFew {
            found: rows.len() as u64,
            needed: MIN_SALES,
        });
    }
    let (mut observations, places, months) = observations(hedonic, &start, &rows);
    let used = observations.len() as u64;
    let mut residual_scale = None;
    // Without certificates nothing tells the value of attributes, so the base's effects stay.
    if used >= MIN_SALES {
        let (scale, effects) = effects(&mut observations, &mut start, places, months)?;
        design::from_vector(&effects, hedonic);
        residual_scale = Some(scale);
    }
    typical_areas::learn(&rows, hedonic);
    let hedonic = *hedonic;
    let new_build = hedonic.new_build;
    let parameters = &mut document.parameters;
    unknown_area::learn(&rows, &hedonic, &mut parameters.unknown_area);
    let repeats = repeat_sales::learn(
        &rows,
        new_build,
        &mut parameters.own_history,
        &mut parameters.drift,
    )?;
    document.parameters.conformal = None;
    document.calibrated = None;
    document.about =
        "Fitted by regression of log price with a level for every postcode district.".to_owned();
    document.fitted = Some(FitRecord {
        through: write_day(through),
        sales_read,
        sales_used: used,
        local_levels: places as u64,
        residual_scale,
        repeat_pairs: repeats.pairs as u64,
        repeat_areas: repeats.areas as u64,
    });
    Ok(document)
}
