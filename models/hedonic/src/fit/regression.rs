//! Robust ridge regression with one fixed effect for each place.
//!
//! Rows are sparse. The place's sums eliminate its fixed effect, so the equations have only as many
//! unknowns as columns. Iteration finds Huber's weights.

use super::FitError;
use crate::robust_statistics::{MAD_TO_SCALE, median};

/// One observation.
pub struct Observation {
    /// Dependent variable.
    pub y: f64,
    /// Number of its place, from 0.
    pub place: usize,
    /// Nonzero columns with their values.
    pub columns: Vec<(usize, f64)>,
}

impl Observation {
    /// Fixes a column's effect and removes the column from the regression.
    pub fn hold(&mut self, column: usize, effect: f64) {
        self.y -= effect
            * self
                .columns
                .iter()
                .filter(|c| c.0 == column)
                .map(|c| c.1)
                .sum::<f64>();
        self.columns.retain(|c| c.0 != column);
    }
}

/// The solution of a regression.
#[derive(Debug)]
pub struct Solution {
    /// Effect of each column.
    pub effects: Vec<f64>,
    /// Robust standard deviation of the residuals.
    pub scale: f64,
}

const ROUNDS: usize = 8;
/// Huber's constant: 95 % efficiency for normal residuals.
pub(super) const HUBER: f64 = 1.345;
const LEAST_SCALE: f64 = 1e-6;

/// Fits the effects. `ridges` adds a number to each column's sum of squares. In a column of zeros
/// and ones it counts in rows: with as many rows, the effect is halved.
///
/// # Errors
/// [`FitError::Singular`] if the equations have no unique solution or there are no rows.
pub fn fit(rows: &[Observation], places: usize, ridges: &[f64]) -> Result<Solution, FitError> {
    let mut weights = vec![1.0; rows.len()];
    let mut scratch = Vec::new();
    let mut solution = Solution {
        effects: Vec::new(),
        scale: 0.0,
    };
    for _ in 0..ROUNDS {
        solution.effects = solve(rows, &weights, places, ridges)?;
        let residuals = residuals(rows, &weights, &solution.effects, places);
        let spread = median(residuals.iter().map(|r| (r.abs(), 1.0)), &mut scratch)
            .ok_or(FitError::Singular)?;
        solution.scale = (spread * MAD_TO_SCALE).max(LEAST_SCALE);
        let reach = HUBER * solution.scale;
        for (weight, residual) in weights.iter_mut().zip(&residuals) {
            *weight = huber(*residual, reach);
        }
    }
    Ok(solution)
}

/// Returns Huber's weight of a residual: 1 within `reach`, and `reach` over the residual beyond it.
pub(super) fn huber(residual: f64, reach: f64) -> f64 {
    reach / residual.abs().max(reach)
}

fn dot(row: &Observation, effects: &[f64]) -> f64 {
    row.columns.iter().map(|&(c, x)| x * effects[c]).sum()
}

fn residuals(rows: &[Observation], weights: &[f64], effects: &[f64], places: usize) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); places];
    let rest: Vec<f64> = rows.iter().map(|row| row.y - dot(row, effects)).collect();
    for ((row, weight), rest) in rows.iter().zip(weights).zip(&rest) {
        let sum: &mut (f64, f64) = &mut sums[row.place];
        *sum = (sum.0 + weight * rest, sum.1 + weight);
    }
    let level = |place: usize| sums[place].0 / sums[place].1;
    rows.iter()
        .zip(rest)
        .map(|(row, rest)| rest - level(row.place))
        .collect()
}

/// Solves the weighted normal equations with the fixed effects eliminated.
fn solve(
    rows: &[Observation],
    weights: &[f64],
    places: usize,
    ridges: &[f64],
) -> Result<Vec<f64>, FitError> {
    let columns = ridges.len();
    let mut matrix = vec![0.0; columns * columns];
    let mut right = vec![0.0; columns];
    // For each place: Σw x by column, then Σw y, then Σw.
    let width = columns + 2;
    let mut sums = vec![0.0; places * width];
    for (row, &w) in rows.iter().zip(weights) {
        let sum = &mut sums[row.place * width..][..width];
        sum[columns] += w * row.y;
        sum[columns + 1] += w;
        for &(i, x) in &row.columns {
            sum[i] += w * x;
            right[i] += w * x * row.y;
            for &(j, z) in &row.columns {
                matrix[i * columns + j] += w * x * z;
            }
        }
    }
    for sum in sums.chunks_exact(width).filter(|s| s[columns + 1] > 0.0) {
        for i in (0..columns).filter(|&i| sum[i] != 0.0) {
            let share = sum[i] / sum[columns + 1];
            right[i] -= share * sum[columns];
            for j in 0..columns {
                matrix[i * columns + j] -= share * sum[j];
            }
        }
    }
    for (i, ridge) in ridges.iter().enumerate() {
        matrix[i * columns + i] += ridge;
    }
    cholesky(&mut matrix, &mut right, columns).ok_or(FitError::Singular)?;
    Ok(right)
}

/// Solves a symmetric positive definite system in place. Returns `None` if it is not one.
pub(super) fn cholesky(matrix: &mut [f64], right: &mut [f64], n: usize) -> Option<()> {
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| matrix[i * n + k] * matrix[j * n + k]).sum();
            let rest = matrix[i * n + j] - sum;
            if i == j {
                if rest.is_nan() || rest <= 0.0 {
                    return None;
                }
                matrix[i * n + i] = rest.sqrt();
            } else {
                matrix[i * n + j] = rest / matrix[j * n + j];
            }
        }
    }
    for i in 0..n {
        let sum: f64 = (0..i).map(|k| matrix[i * n + k] * right[k]).sum();
        right[i] = (right[i] - sum) / matrix[i * n + i];
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| matrix[k * n + i] * right[k]).sum();
        right[i] = (right[i] - sum) / matrix[i * n + i];
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(y: f64, place: usize, a: f64, b: f64) -> Observation {
        Observation {
            y,
            place,
            columns: vec![(0, a), (1, b)],
        }
    }

    #[test]
    fn effects_are_found_through_levels_and_bad_rows() {
        let mut rows: Vec<Observation> = (0..400)
            .map(|i| {
                let (a, b) = (f64::from(i % 7), f64::from(i % 11));
                let place = (i % 5) as usize;
                row(0.5 * a - 0.2 * b + 3.0 * place as f64, place, a, b)
            })
            .collect();
        for bad in (0..400).step_by(20) {
            rows[bad].y += 50.0;
        }
        let found = fit(&rows, 5, &[1e-6; 2]).unwrap();
        assert!(
            (found.effects[0] - 0.5).abs() < 0.005,
            "{:?}",
            found.effects
        );
        assert!(
            (found.effects[1] + 0.2).abs() < 0.005,
            "{:?}",
            found.effects
        );
    }

    #[test]
    fn a_column_without_rows_has_effect_zero() {
        let rows = [
            row(1.0, 0, 1.0, 0.0),
            row(2.0, 0, 2.0, 0.0),
            row(3.0, 0, 3.0, 0.0),
        ];
        let found = fit(&rows, 1, &[1e-9; 2]).unwrap();
        assert!((found.effects[0] - 1.0).abs() < 1e-6);
        assert_eq!(found.effects[1], 0.0);
        assert!(matches!(fit(&[], 1, &[1.0; 2]), Err(FitError::Singular)));
        assert!(matches!(fit(&rows, 1, &[0.0; 2]), Err(FitError::Singular)));
    }
}
