//! A second estimate beside the reference model's: simple kriging of the sales round about.
//!
//! Every log price, carried to the valuation day by the index and freed of what size, age and rating are worth, is a
//! value of one Gaussian process over homes and days ([`covariance`] says how alike any two are) plus noise. The best
//! linear estimate at the subject weighs a sale by what it adds to the others: ten flats of one building do not count
//! ten times, which is where a kernel of neighbours goes wrong, and what the home itself fetched is one more sale.
//!
//! Noise is heavy-tailed. After a first pass each sale is foretold from the others (left out in turn, Dubrule's formula
//! for the inverse covariance), its noise is raised by the square of how far off that was, as for Cauchy errors, and
//! the system is solved once more.
//!
//! Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), equations 2.25, 2.26 and 5.12; Dubrule, Cross
//! validation of kriging in a unique neighborhood (1983).

pub mod covariance;
mod gather;

pub use covariance::Home;
pub use gather::{Observed, Question, observed};

use nalgebra::{DMatrix, DVector};

/// An estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kriged {
    /// Natural logarithm of pounds.
    pub log_value: f64,
    /// Standard deviation of the process there, in logarithms; without the noise of a sale.
    pub deviation: f64,
}

/// Fewest sales that an estimate is made of.
const LEAST_SALES: usize = 5;

/// Estimates the subject's log price from sales. None where they are too few, or their numbers are none.
pub fn krige(subject: &Home, level: f64, sales: &[Observed]) -> Option<Kriged> {
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
    let noise = |sale: &Observed| covariance::NOISE + sale.unsure;
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
    (log_value.is_finite() && deviation.is_finite()).then_some(Kriged {
        log_value,
        deviation,
    })
}

fn noisy(alike: &DMatrix<f64>, noise: &DVector<f64>) -> DMatrix<f64> {
    let mut with = alike.clone();
    for (at, noise) in noise.iter().enumerate() {
        with[(at, at)] += noise;
    }
    with
}

/// By how much each sale departs from what the others foretell: the square, over its variance.
fn left_out(
    alike: &DMatrix<f64>,
    noise: &DVector<f64>,
    prices: &DVector<f64>,
) -> Option<DVector<f64>> {
    let solved = noisy(alike, noise).cholesky()?;
    let departures = solved.solve(prices);
    let factor = solved.l_dirty();
    let count = prices.len();
    // The inverse's diagonal alone is wanted: of each column of the inverse factor, which begins at the diagonal.
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
