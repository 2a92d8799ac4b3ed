//! How far a home's indexed earlier price lies from its later one, by the years between.

use super::rows::SaleRow;
use crate::parameters::OwnHistoryParameters;
use crate::time::years_between;
use std::collections::BTreeMap;

/// Fewest pairs from which variances are learnt.
const LEAST: usize = 200;
/// Log differences beyond this tell of a rebuilt home or a bad price, not of drift.
const GREATEST: f64 = 0.8;

/// Learns the variance at no distance and that of each year from pairs of consecutive sales of
/// the same home, by least squares of squared difference on years. Gives the pairs found; below
/// [`LEAST`] the parameters stay.
pub fn learn(rows: &[SaleRow], new_build: f64, own: &mut OwnHistoryParameters) -> usize {
    let mut last: BTreeMap<u64, &SaleRow> = BTreeMap::new();
    let mut pairs = Vec::new();
    for row in rows {
        let Some(uprn) = row.uprn else { continue };
        if let Some(before) = last.insert(uprn, row) {
            pairs.extend(pair(before, row, new_build));
        }
    }
    if pairs.len() < LEAST {
        return pairs.len();
    }
    let n = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
    let (years, squares) = (mean(|p| p.0), mean(|p| p.1));
    let covariance: f64 = pairs.iter().map(|p| (p.0 - years) * (p.1 - squares)).sum();
    let spread: f64 = pairs.iter().map(|p| (p.0 - years) * (p.0 - years)).sum();
    own.variance_per_year = if spread > 0.0 {
        covariance / spread
    } else {
        0.0
    }
    .clamp(0.0, 0.02);
    own.variance = (squares - own.variance_per_year * years).clamp(0.002, 0.2);
    pairs.len()
}

/// Years between, and squared log difference beyond the index.
fn pair(before: &SaleRow, after: &SaleRow, new_build: f64) -> Option<(f64, f64)> {
    let premium = |row: &SaleRow| if row.new_build { new_build } else { 0.0 };
    let real = |row: &SaleRow| {
        Some(libm::log(row.price_gbp as f64) - libm::log(row.index?) - premium(row))
    };
    let difference = real(after)? - real(before)?;
    let years = years_between(before.day, after.day);
    (difference.abs() <= GREATEST && years > 0.0).then_some((years, difference * difference))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PARAMETERS;

    #[test]
    fn drift_with_the_years_is_learnt() {
        let row = |id: u64, day: i32, price: f64| -> SaleRow {
            let text = format!(
                r#"{{"id":{id},"day":{day},"price_gbp":{price:.0},"standard":true,"new_build":false,"uprn":{},"postcode":"","authority":"","property_type":"flat","index":1.0}}"#,
                id % 400
            );
            serde_json::from_str(&text).unwrap()
        };
        // Two years apart by ±0.1, or ten years apart by ±0.2.
        let mut rows: Vec<SaleRow> = (0..400).map(|id| row(id, 0, 2e5)).collect();
        for id in 0..400 {
            let (years, step) = if id % 2 == 0 { (2.0, 0.1) } else { (10.0, 0.2) };
            let sign = if id % 4 < 2 { 1.0 } else { -1.0 };
            rows.push(row(
                id,
                (years * 365.2425) as i32,
                2e5 * f64::exp(sign * step),
            ));
        }
        let mut own = PARAMETERS.own_history;
        assert_eq!(learn(&rows, 0.0, &mut own), 400);
        assert!((own.variance_per_year - 0.03 / 8.0).abs() < 1e-4, "{own:?}");
        assert!((own.variance - 0.0025).abs() < 1e-4, "{own:?}");
        let mut few = PARAMETERS.own_history;
        learn(&rows[..500], 0.0, &mut few);
        assert_eq!(few, PARAMETERS.own_history);
    }
}
