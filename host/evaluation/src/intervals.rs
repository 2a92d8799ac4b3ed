//! The 95 % intervals of accuracy, by clusters of homes.
//!
//! Sales of one block of flats or one new street resemble each other, so they say less than as many
//! sales apart. A cluster is a postcode: a block, or a part of a street.

use crate::number::{count, effective_rows, quantile, round, score_interval};
use crate::row::Row;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The intervals of a group's accuracy. Shares are 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intervals {
    /// Postcodes among the values.
    pub postcodes: usize,
    /// Of the median absolute error: the errors at the ends of one half's score interval
    /// (Woodruff, *Journal of the American Statistical Association* 47, 1952).
    pub mdape: [f64; 2],
    /// Of the share within 10 %: its score interval.
    pub within_10: [f64; 2],
}

impl Intervals {
    /// Returns the intervals of the valued rows, or `None` without any.
    pub fn of(rows: &[&Row]) -> Option<Intervals> {
        let mut errors: Vec<(&str, f64)> = rows
            .iter()
            .filter_map(|row| {
                let error = (row.estimate()? - row.price).abs() / row.price;
                Some((row.postcode.as_str(), error))
            })
            .collect();
        errors.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
        let sorted: Vec<f64> = errors.iter().map(|(_, error)| *error).collect();
        let middle = quantile(&sorted, 0.5)?;
        let below = |most: f64| {
            errors
                .iter()
                .map(move |(place, error)| (*place, *error <= most))
        };
        let ends = score_interval(0.5, effective_rows(below(middle)));
        // The edge is included, despite rounding.
        let near = 0.10 + 1e-12;
        let share = count(below(near).filter(|(_, within)| *within).count()) / count(sorted.len());
        let postcodes: BTreeSet<&str> = errors.iter().map(|(place, _)| *place).collect();
        Some(Intervals {
            postcodes: postcodes.len(),
            mdape: [
                round(quantile(&sorted, ends[0])?),
                round(quantile(&sorted, ends[1])?),
            ],
            within_10: score_interval(share, effective_rows(below(near))).map(round),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::row;

    /// Returns a hundred sales with errors of 0.1 to 10 %, in so many postcodes.
    fn sales(postcodes: usize, by_error: bool) -> Vec<Row> {
        (0..100)
            .map(|at| {
                let place = if by_error {
                    at * postcodes / 100
                } else {
                    at % postcodes
                };
                Row {
                    postcode: format!("ZZ1 {place}"),
                    ..row(1_000.0, 1_001.0 + at as f64)
                }
            })
            .collect()
    }

    fn of(rows: &[Row]) -> Intervals {
        Intervals::of(&rows.iter().collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn the_interval_holds_the_median_and_narrows_with_independent_homes() {
        let apart = of(&sales(100, false));
        assert_eq!(apart.postcodes, 100);
        // The score interval of one half of a hundred rows: the 41st to the 60th error.
        assert!((apart.mdape[0] - 0.0409).abs() < 2e-4, "{apart:?}");
        assert!((apart.mdape[1] - 0.0601).abs() < 2e-4, "{apart:?}");
        assert_eq!(apart.within_10[1], 1.0);
    }

    #[test]
    fn blocks_with_errors_of_their_own_widen_it() {
        let (apart, blocks) = (of(&sales(100, false)), of(&sales(10, true)));
        let width = |found: &Intervals| found.mdape[1] - found.mdape[0];
        assert!(width(&blocks) > 2.0 * width(&apart), "{blocks:?}");
        // Blocks that are alike widen nothing.
        let alike = width(&of(&sales(10, false)));
        assert!((alike / width(&apart) - 1.0).abs() < 0.01, "{alike}");
    }

    #[test]
    fn no_values_have_no_interval() {
        assert_eq!(Intervals::of(&[]), None);
    }
}
