//! The accuracy of estimates against prices: the lender's figures and the assessor's.
//!
//! The *error* of an estimate is estimate / price - 1, so +0.05 is five per cent too high. The
//! *ratio* of the assessor's figures is estimate / price. COD, PRD and PRB are those of the
//! International Association of Assessing Officers' Standard on Ratio Studies (2013).

use crate::number::{Z95, count, effective_rows, mean, median, round, score_interval};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// A sale's price and its estimate, both in pounds and above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The price paid.
    pub price: f64,
    /// The estimate.
    pub estimate: f64,
}

/// The accuracy of estimates against prices. Shares are 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accuracy {
    /// Estimates compared.
    pub rows: usize,
    /// Median absolute error, a share of the price.
    pub mdape: f64,
    /// Share of estimates within 5 % of the price, the edge included.
    pub within_5: f64,
    /// Within 10 %.
    pub within_10: f64,
    /// Within 20 %.
    pub within_20: f64,
    /// Median error with its sign, a share of the price; above 0 is too high.
    pub median_error: f64,
    /// Forecast standard deviation: the sample standard deviation (n - 1) of ln(price / estimate).
    pub fsd: f64,
    /// Coefficient of dispersion, per cent: mean distance of the ratios from their median, over it.
    pub cod: f64,
    /// Price-related differential: mean ratio over the ratio of the sums. Above 1 the dear are
    /// valued too low against the cheap.
    pub prd: f64,
    /// Price-related bias; absent where all are worth the same.
    pub prb: Option<Prb>,
}

/// Price-related bias: by how much the ratio changes, as a share of its median, when value doubles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prb {
    /// The slope; below 0 the dear are valued too low against the cheap.
    pub value: f64,
    /// Its 95 % interval, by the slope's standard error.
    pub interval: [f64; 2],
}

impl Accuracy {
    /// Returns the figures of some pairs, or `None` for fewer than two, which have no spread.
    pub fn of(pairs: &[Pair]) -> Option<Accuracy> {
        if pairs.len() < 2 {
            return None;
        }
        let n = count(pairs.len());
        let ratios: Vec<f64> = pairs
            .iter()
            .map(|pair| pair.estimate / pair.price)
            .collect();
        let middle = median(ratios.clone())?;
        let absolute: Vec<f64> = pairs
            .iter()
            .map(|pair| (pair.estimate - pair.price).abs() / pair.price)
            .collect();
        let within = |most: f64| {
            // Tolerance: an estimate of 105 on a price of 100 is within 5 %, despite rounding.
            let inside = absolute.iter().filter(|error| **error <= most + 1e-12);
            round(count(inside.count()) / n)
        };
        let distance = ratios.iter().map(|ratio| (ratio - middle).abs());
        let (estimates, prices) = pairs.iter().fold((0.0, 0.0), |(estimates, prices), pair| {
            (estimates + pair.estimate, prices + pair.price)
        });
        Some(Accuracy {
            rows: pairs.len(),
            mdape: round(median(absolute.clone())?),
            within_5: within(0.05),
            within_10: within(0.10),
            within_20: within(0.20),
            median_error: round(middle - 1.0),
            fsd: round(deviation(pairs)?),
            cod: round(100.0 * distance.sum::<f64>() / n / middle),
            prd: round(mean(&ratios)? / (estimates / prices)),
            prb: prb(pairs, &ratios, middle),
        })
    }
}

fn deviation(pairs: &[Pair]) -> Option<f64> {
    let logs: Vec<f64> = pairs
        .iter()
        .map(|pair| libm::log(pair.price / pair.estimate))
        .collect();
    let centre = mean(&logs)?;
    let squares: f64 = logs.iter().map(|log| (log - centre).powi(2)).sum();
    Some((squares / (count(logs.len()) - 1.0)).sqrt())
}

/// Fits (ratio - median) / median to the binary logarithm of the value's proxy by least squares.
///
/// The proxy is the mean of the price and of the estimate over the median ratio. With either alone,
/// its errors would tilt the slope.
fn prb(pairs: &[Pair], ratios: &[f64], middle: f64) -> Option<Prb> {
    if pairs.len() < 3 {
        return None;
    }
    let proxies: Vec<f64> = pairs
        .iter()
        .map(|pair| libm::log2((pair.estimate / middle + pair.price) / 2.0))
        .collect();
    let sides: Vec<f64> = ratios
        .iter()
        .map(|ratio| (ratio - middle) / middle)
        .collect();
    let (mean_x, mean_y) = (mean(&proxies)?, mean(&sides)?);
    let (mut xx, mut xy) = (0.0, 0.0);
    for (x, y) in proxies.iter().zip(&sides) {
        xx += (x - mean_x).powi(2);
        xy += (x - mean_x) * (y - mean_y);
    }
    if xx <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    let squared_residuals: f64 = proxies
        .iter()
        .zip(&sides)
        .map(|(x, y)| (y - mean_y - slope * (x - mean_x)).powi(2))
        .sum();
    let error = (squared_residuals / (count(pairs.len()) - 2.0) / xx).sqrt();
    Some(Prb {
        value: round(slope),
        interval: [round(slope - Z95 * error), round(slope + Z95 * error)],
    })
}

/// Returns the share of rows on which the first estimate is nearer to the price than the second.
/// With it comes its 95 % interval. `None` without rows. Both come in the same order of rows.
///
/// A tie counts as half a row. It says nothing of the two, as in the sign test (Dixon and Mood,
/// *Journal of the American Statistical Association* 41, 1946). So the interval is the score
/// interval of the rows that differ, and each tie adds half a row to both ends. It holds one half
/// exactly where the interval of the rows that differ does. The sample then cannot tell the two
/// apart.
///
/// `clusters` has the cluster of each row. Rows of one cluster resemble each other. Without it,
/// each row counts for itself.
pub(crate) fn nearer(
    first: &[Pair],
    second: &[Pair],
    clusters: Option<&[&str]>,
) -> Option<(f64, [f64; 2])> {
    if first.is_empty() {
        return None;
    }
    let error = |pair: &Pair| (pair.estimate - pair.price).abs();
    let orders: Vec<Ordering> = first
        .iter()
        .zip(second)
        .map(|(ours, theirs)| error(ours).total_cmp(&error(theirs)))
        .collect();
    let wins = orders.iter().filter(|order| order.is_lt()).count();
    let ties = orders.iter().filter(|order| order.is_eq()).count();
    let different = orders.len() - ties;
    let share = |wins: f64| round((wins + count(ties) / 2.0) / count(orders.len()));
    if different == 0 {
        return Some((share(0.0), [share(0.0); 2]));
    }
    let effective = match clusters {
        None => count(different),
        Some(clusters) => effective_rows(
            clusters
                .iter()
                .zip(&orders)
                .filter(|(_, order)| order.is_ne())
                .map(|(cluster, order)| (*cluster, order.is_lt())),
        ),
    };
    let ends = score_interval(count(wins) / count(different), effective);
    Some((
        share(count(wins)),
        ends.map(|end| share(end * count(different))),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs(of: &[(f64, f64)]) -> Vec<Pair> {
        of.iter()
            .map(|&(price, estimate)| Pair { price, estimate })
            .collect()
    }

    /// Returns the accuracy of five homes worked by hand: prices 100, 200, 300, 400, 500 and ratios
    /// 1.2, 1.1, 1.0, 0.9, 0.8.
    fn five() -> Accuracy {
        let five = pairs(&[
            (100.0, 120.0),
            (200.0, 220.0),
            (300.0, 300.0),
            (400.0, 360.0),
            (500.0, 400.0),
        ]);
        Accuracy::of(&five).unwrap()
    }

    #[test]
    fn errors_by_hand() {
        let found = five();
        // Absolute errors 0.2, 0.1, 0, 0.1, 0.2.
        assert_eq!(found.rows, 5);
        assert_eq!(found.mdape, 0.1);
        assert_eq!(found.within_5, 0.2);
        assert_eq!(found.within_10, 0.6);
        assert_eq!(found.within_20, 1.0);
        assert_eq!(found.median_error, 0.0);
        // ln(price / estimate): -0.182322, -0.095310, 0, 0.105361, 0.223144; mean 0.010174;
        // squares 0.037055 + 0.011127 + 0.000104 + 0.009060 + 0.045356 = 0.102702, over 4, rooted.
        assert!((found.fsd - 0.160236).abs() < 1e-5, "{}", found.fsd);
    }

    #[test]
    fn assessors_figures_by_hand() {
        let found = five();
        // Distances from the median 1.0: 0.2, 0.1, 0, 0.1, 0.2, mean 0.12.
        assert_eq!(found.cod, 12.0);
        // Mean ratio 1.0; sums 1,400 / 1,500 = 0.933333.
        assert_eq!(found.prd, 1.071429);
        // Proxies 110, 210, 300, 380, 450; sides 0.2, 0.1, 0, -0.1, -0.2, whose mean is 0.
        let prb = found.prb.unwrap();
        let logs = [110.0_f64, 210.0, 300.0, 380.0, 450.0].map(f64::log2);
        let centre = logs.iter().sum::<f64>() / 5.0;
        let xx: f64 = logs.iter().map(|log| (log - centre).powi(2)).sum();
        let xy = 0.2 * logs[0] + 0.1 * logs[1] - 0.1 * logs[3] - 0.2 * logs[4];
        assert!((prb.value - xy / xx).abs() < 1e-6, "{}", prb.value);
        assert!((prb.value + 0.1886).abs() < 1e-3, "{}", prb.value);
        assert!(prb.interval[0] < prb.value && prb.value < prb.interval[1]);
        assert!(prb.interval[1] < 0.0, "a clear slope: {:?}", prb.interval);
    }

    #[test]
    fn a_uniform_error_has_no_dispersion_or_price_bias() {
        let high = pairs(&[(100.0, 110.0), (200.0, 220.0), (400.0, 440.0)]);
        let found = Accuracy::of(&high).unwrap();
        assert_eq!(found.median_error, 0.1);
        assert_eq!(found.within_10, 1.0);
        assert_eq!(found.fsd, 0.0);
        assert_eq!(found.cod, 0.0);
        assert_eq!(found.prd, 1.0);
        assert_eq!(found.prb.unwrap().value, 0.0);
    }

    #[test]
    fn no_spread_gives_no_figure() {
        assert_eq!(Accuracy::of(&[]), None);
        assert_eq!(Accuracy::of(&pairs(&[(100.0, 100.0)])), None);
        let alike = pairs(&[(100.0, 100.0); 4]);
        assert_eq!(Accuracy::of(&alike).unwrap().prb, None);
    }

    /// Returns two rules on homes of 100: the first is nearer on `wins` of them, and the second on
    /// `losses`.
    fn rules(wins: usize, losses: usize, ties: usize) -> (Vec<Pair>, Vec<Pair>) {
        let (near, far) = ((100.0, 101.0), (100.0, 102.0));
        let of = |near_rows: usize, far_rows: usize| {
            let rows = std::iter::repeat_n(near, near_rows);
            rows.chain(std::iter::repeat_n(far, far_rows))
        };
        let first: Vec<_> = of(wins, losses).chain(of(ties, 0)).collect();
        let second: Vec<_> = of(0, wins).chain(of(losses + ties, 0)).collect();
        (pairs(&first), pairs(&second))
    }

    #[test]
    fn ties_say_nothing_of_which_is_nearer() {
        // 120 of the 200 that differ: 0.530837 to 0.665394. Each tie adds half a row to both ends.
        let (first, second) = rules(120, 80, 1_800);
        let (share, [low, high]) = nearer(&first, &second, None).unwrap();
        assert_eq!(share, 0.51);
        assert!((low - (900.0 + 200.0 * 0.530837) / 2_000.0).abs() < 1e-6);
        assert!((high - (900.0 + 200.0 * 0.665394) / 2_000.0).abs() < 1e-6);
        assert!(low > 0.5);
        let (same, also) = rules(0, 0, 40);
        assert_eq!(nearer(&same, &also, None), Some((0.5, [0.5, 0.5])));
        assert_eq!(nearer(&[], &[], None), None);
    }

    #[test]
    fn an_odd_tie_favours_neither() {
        let (first, second) = rules(40, 59, 1);
        let (share, [low, high]) = nearer(&first, &second, None).unwrap();
        assert_eq!(share, 0.405);
        assert!((low - 0.314591).abs() < 1e-6, "{low}");
        assert!((high - 0.502506).abs() < 1e-6, "{high}");
    }

    #[test]
    fn rows_of_one_cluster_that_agree_decide_little() {
        // Eight blocks of ten homes, all nearer in six of them: as much as seven rows say.
        let (first, second) = rules(60, 20, 0);
        let names: Vec<String> = (0..80).map(|at| (at / 10).to_string()).collect();
        let blocks: Vec<&str> = names.iter().map(String::as_str).collect();
        let low = |clusters| nearer(&first, &second, clusters).unwrap().1[0];
        assert!(low(None) > 0.5);
        assert!(low(Some(blocks.as_slice())) < 0.5);
    }

    proptest! {
        #[test]
        fn swapping_the_two_mirrors_the_interval(
            rows in prop::collection::vec((0_u8..20, 98_u8..=102, 98_u8..=102), 1..200),
            clustered in any::<bool>(),
        ) {
            let of = |estimate: fn(&(u8, u8, u8)) -> u8| -> Vec<Pair> {
                let pair = |row| Pair { price: 100.0, estimate: f64::from(estimate(row)) };
                rows.iter().map(pair).collect()
            };
            let (first, second) = (of(|row| row.1), of(|row| row.2));
            let names: Vec<String> = rows.iter().map(|row| row.0.to_string()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let clusters = clustered.then_some(names.as_slice());
            let (there, [low, high]) = nearer(&first, &second, clusters).unwrap();
            let (back, mirrored) = nearer(&second, &first, clusters).unwrap();
            prop_assert!((there + back - 1.0).abs() < 2e-6);
            prop_assert!((low + mirrored[1] - 1.0).abs() < 2e-6);
            prop_assert!((high + mirrored[0] - 1.0).abs() < 2e-6);
            prop_assert!(low <= there + 1e-6 && there <= high + 1e-6);
        }
    }
}
