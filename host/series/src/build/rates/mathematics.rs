//! The arithmetic of a curve: discount factors, par rates, forward rates.
//!
//! The Bank's spot rates z are continuously compounded annual yields, so P(T) = exp(-z T). Terms
//! are whole years and months, counted as T = months / 12. Every maturity that the Bank publishes
//! is an exact node. A natural cubic spline on -ln P through all nodes and the origin gives the
//! points between two nodes at most half a year apart. Between nodes further apart, and past the
//! last node, there is no value.

use std::collections::BTreeMap;

/// The widest gap between nodes that a point is read within, months.
const WIDEST_GAP: u32 = 6;

/// One snapshot of a spot curve as discount factors.
#[derive(Debug, Clone, PartialEq)]
pub struct Discount {
    /// Maturities in months, ascending, the origin first.
    months: Vec<u32>,
    /// -ln P at each.
    logs: Vec<f64>,
    /// Second derivatives of the spline at each, by years squared.
    bends: Vec<f64>,
}

impl Discount {
    /// Returns the curve through spot rates in per cent by maturity in months; `None` without any.
    pub fn through(spot: &BTreeMap<u32, f64>) -> Option<Discount> {
        if spot.is_empty() || spot.contains_key(&0) {
            return None;
        }
        let mut months = vec![0];
        let mut logs = vec![0.0];
        for (&month, rate) in spot {
            months.push(month);
            logs.push(rate / 100.0 * years(month));
        }
        let bends = natural_bends(&months, &logs);
        Some(Discount {
            months,
            logs,
            bends,
        })
    }

    /// Returns -ln P at a maturity, if the curve reaches it without a gap.
    fn log(&self, month: u32) -> Option<f64> {
        match self.months.binary_search(&month) {
            Ok(at) => Some(self.logs[at]),
            Err(at) => {
                let (low, high) = (at.checked_sub(1)?, at);
                let (left, right) = (*self.months.get(low)?, *self.months.get(high)?);
                (right - left <= WIDEST_GAP).then(|| self.spline(low, high, month))
            }
        }
    }

    fn spline(&self, low: usize, high: usize, month: u32) -> f64 {
        let width = years(self.months[high]) - years(self.months[low]);
        let a = (years(self.months[high]) - years(month)) / width;
        let b = 1.0 - a;
        let bend = (a * a * a - a) * self.bends[low] + (b * b * b - b) * self.bends[high];
        a * self.logs[low] + b * self.logs[high] + bend * width * width / 6.0
    }

    /// Returns the discount factor P at a maturity in months.
    pub fn factor(&self, month: u32) -> Option<f64> {
        self.log(month).map(|log| libm::exp(-log))
    }

    /// Returns the par rate in per cent of a swap of annual payments over whole years. The swap
    /// starts `start` months after the snapshot. The rate is (P(s) - P(s+n)) / sum of P(s+i).
    pub fn par_rate(&self, start: u32, years: u32) -> Option<f64> {
        let mut annuity = 0.0;
        let mut last = f64::NAN;
        for year in 1..=years {
            last = self.factor(start + 12 * year)?;
            annuity += last;
        }
        (years > 0).then_some(100.0 * (self.factor(start)? - last) / annuity)
    }

    /// Returns the simple annual rate in per cent of the month that starts `start` months after the
    /// snapshot: 12 (P(s) / P(s+1) - 1).
    pub fn month_rate(&self, start: u32) -> Option<f64> {
        // From the difference of logarithms: P(s) / P(s+1) is near 1, and its digits would be lost.
        let growth = self.log(start + 1)? - self.log(start)?;
        Some(1200.0 * libm::expm1(growth))
    }
}

fn years(months: u32) -> f64 {
    f64::from(months) / 12.0
}

/// Computes the second derivatives of the natural cubic spline through the points.
///
/// They are zero at both ends and solve a tridiagonal system between.
fn natural_bends(months: &[u32], values: &[f64]) -> Vec<f64> {
    let count = months.len();
    let mut bends = vec![0.0; count];
    if count < 3 {
        return bends;
    }
    let width = |at: usize| years(months[at + 1]) - years(months[at]);
    let slope = |at: usize| (values[at + 1] - values[at]) / width(at);
    // Forward elimination: `upper` and `right` are the eliminated rows.
    let mut upper = vec![0.0; count];
    let mut right = vec![0.0; count];
    for at in 1..count - 1 {
        let (before, after) = (width(at - 1), width(at));
        let diagonal = 2.0 * (before + after) - before * upper[at - 1];
        upper[at] = after / diagonal;
        right[at] = (6.0 * (slope(at) - slope(at - 1)) - before * right[at - 1]) / diagonal;
    }
    for at in (1..count - 1).rev() {
        bends[at] = right[at] - upper[at] * bends[at + 1];
    }
    bends
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn flat(rate: f64) -> Discount {
        let nodes = (1..=60).chain((66..=300).step_by(6));
        Discount::through(&nodes.map(|month| (month, rate)).collect()).unwrap()
    }

    #[test]
    fn a_flat_curve_worked_by_hand() {
        // At 4 per cent continuously compounded every annual par rate is e^0.04 - 1 = 4.08107742...
        let curve = flat(4.0);
        for (start, term) in [(0, 1), (0, 25), (24, 5), (61, 10), (120, 2)] {
            let rate = curve.par_rate(start, term).unwrap();
            assert!(
                (rate - 4.081_077_419_238_82).abs() < 1e-10,
                "{start} {term} {rate}"
            );
        }
        // And every month's is 12 (e^(0.04 / 12) - 1) = 4.00667408...
        let month = curve.month_rate(120).unwrap();
        assert!((month - 4.006_674_080_250_95).abs() < 1e-9, "{month}");
    }

    #[test]
    fn a_swap_worked_by_hand() {
        // z(1) = 4, z(2) = 5: P = 0.960789, 0.904837; (1 - 0.904837) / 1.865627 = 5.100836...
        let nodes = BTreeMap::from([(12, 4.0), (24, 5.0)]);
        let curve = Discount::through(&nodes).unwrap();
        let rate = curve.par_rate(0, 2).unwrap();
        assert!((rate - 5.100_836_837).abs() < 1e-6, "{rate}");
    }

    #[test]
    fn nothing_is_read_past_the_end_or_over_a_gap() {
        let curve = Discount::through(&BTreeMap::from([(12, 4.0), (24, 5.0), (30, 5.0)])).unwrap();
        assert_eq!(curve.factor(31), None);
        assert_eq!(curve.factor(18), None);
        assert!(curve.factor(27).is_some());
        assert_eq!(curve.par_rate(0, 3), None);
        assert_eq!(curve.par_rate(0, 0), None);
    }

    proptest! {
        #[test]
        fn a_forward_swap_closes_two_spot_swaps(rates in proptest::collection::vec(0.1_f64..8.0, 20)) {
            let nodes: BTreeMap<u32, f64> = rates.iter().enumerate().map(|(at, rate)| (12 * (at as u32 + 1), *rate)).collect();
            let curve = Discount::through(&nodes).unwrap();
            // Years 3 to 7 at the forward rate and years 1 and 2 at the two-year rate pay as the
            // floating leg does. It pays 1 - P(7).
            let annuity = |from: u32, to: u32| (from..=to).map(|year| curve.factor(12 * year).unwrap()).sum::<f64>();
            let forward = curve.par_rate(24, 5).unwrap() / 100.0;
            let spot = curve.par_rate(0, 2).unwrap() / 100.0;
            let floating = 1.0 - curve.factor(84).unwrap();
            prop_assert!((forward * annuity(3, 7) + spot * annuity(1, 2) - floating).abs() < 1e-12);
        }
    }
}
