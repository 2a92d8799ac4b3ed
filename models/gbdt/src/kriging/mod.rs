//! A second estimate beside the reference model's: simple kriging of nearby sales.
//!
//! The index carries every price to the valuation day, and the effects of size, age and rating are
//! subtracted. The log price is then a Gaussian process over homes and days, with the covariance of
//! [`covariance`], plus noise. The best linear estimate weighs a sale by what it adds to the
//! others. So ten flats of one building do not count ten times, unlike in a kernel estimate. An own
//! sale is one more observation.
//!
//! Noise is heavy-tailed. A first pass predicts each sale from the others by leave-one-out
//! (Dubrule's formula for the inverse covariance). It raises the sale's noise by the squared error,
//! as for Cauchy errors. Then the system is solved once more.
//!
//! Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), equations 2.25, 2.26 and
//! 5.12; Dubrule, Cross validation of kriging in a unique neighborhood (1983).

pub mod covariance;
mod gather;

pub use covariance::Home;
pub use gather::{KrigingQuery, Observation, observe};

use nalgebra::{DMatrix, DVector};

/// A kriging estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KrigingEstimate {
    /// Natural logarithm of pounds.
    pub log_value: f64,
    /// Standard deviation of the process at the subject in log price, without the noise of a sale.
    pub deviation: f64,
    /// The weight of the subject's own sales, from 0 to 1.
    pub own_share: f64,
}

/// Least sales of an estimate.
const LEAST_SALES: usize = 5;

/// Estimates the subject's log price. Returns `None` if the sales are too few or not finite.
pub fn krige(subject: &Home, level: f64, sales: &[Observation]) -> Option<KrigingEstimate> {
    if sales.len() < LEAST_SALES {
        return None;
    }
    let count = sales.len();
    let mean = sales.iter().map(|sale| sale.log_price).sum::<f64>() / count as f64;
    let prices = DVector::from_iterator(count, sales.iter().map(|sale| sale.log_price - mean));
    let mut alike = DMatrix::zeros(count, count);
    for (at, sale) in sales.iter().enumerate() {
        for (before, other) in sales[..=at].iter().enumerate() {
            let found = covariance::between(&sale.home, &other.home);
            alike[(at, before)] = found;
            alike[(before, at)] = found;
        }
    }
    let noise = |sale: &Observation| covariance::NOISE + sale.unsure;
    let first = DVector::from_iterator(count, sales.iter().map(noise));
    let departures = left_out(&alike, &first, &prices)?;
    let heavier = first.zip_map(&departures, |noise, ratio| {
        noise * (1.0 + ratio / covariance::TAIL)
    });

    let solved = noisy(&alike, &heavier).cholesky()?;
    let to_subject = DVector::from_iterator(
        count,
        sales.iter().map(|s| covariance::between(subject, &s.home)),
    );
    let weights = solved.solve(&to_subject);
    let variance = covariance::between(subject, subject) - weights.dot(&to_subject);
    let log_value = level + mean + weights.dot(&prices);
    let deviation = variance.max(0.0).sqrt();
    // What the weights leave goes to the mean, and so to each sale alike.
    let of_mean = (1.0 - weights.sum()) / count as f64;
    let own_share: f64 = sales
        .iter()
        .zip(weights.iter())
        .filter(|(sale, _)| subject.uprn.is_some() && sale.home.uprn == subject.uprn)
        .map(|(_, weight)| weight + of_mean)
        .sum();
    (log_value.is_finite() && deviation.is_finite()).then_some(KrigingEstimate {
        log_value,
        deviation,
        own_share: own_share.clamp(0.0, 1.0),
    })
}

fn noisy(alike: &DMatrix<f64>, noise: &DVector<f64>) -> DMatrix<f64> {
    let mut with = alike.clone();
    for (at, noise) in noise.iter().enumerate() {
        with[(at, at)] += noise;
    }
    with
}

/// Returns each sale's squared leave-one-out error over its variance.
fn left_out(
    alike: &DMatrix<f64>,
    noise: &DVector<f64>,
    prices: &DVector<f64>,
) -> Option<DVector<f64>> {
    let solved = noisy(alike, noise).cholesky()?;
    let departures = solved.solve(prices);
    let factor = solved.l_dirty();
    let count = prices.len();
    // Computes only the diagonal of the inverse, from the columns of the inverse factor below its
    // diagonal.
    let squares = (0..count).map(|at| {
        let mut column = DVector::zeros(count - at);
        column[0] = 1.0;
        let rest = factor.view((at, at), (count - at, count - at));
        let solved = rest.solve_lower_triangular_mut(&mut column);
        solved.then(|| departures[at] * departures[at] / column.norm_squared())
    });
    squares.collect::<Option<Vec<_>>>().map(DVector::from_vec)
}

#[cfg(test)]
mod tests;
