//! Exact arithmetic over published rates: spreads, their summaries and the steps of scenarios.
//!
//! A published figure is a decimal, and so is the difference of two. A par rate of a curve is a
//! binary number and enters as the decimal that it is. Results are rounded to six places of a basis
//! point, half to even.

use rust_decimal::{Decimal, RoundingStrategy};

use super::RatesErrorKind;

/// Places of a basis point that results have.
const BASIS_POINT_PLACES: u32 = 6;
/// The same places of a rate in per cent, which is 100 basis points.
const PER_CENT_PLACES: u32 = BASIS_POINT_PLACES + 2;

/// Parses a published figure, without the zeros at its end.
///
/// # Errors
///
/// The text is no number (`Number`), or has more digits than a decimal holds (`Precision`).
pub(super) fn parse(text: &str) -> Result<Decimal, RatesErrorKind> {
    // The decimal's own parser takes underscores between digits.
    if !text.parse::<f64>().is_ok_and(f64::is_finite) {
        return Err(RatesErrorKind::Number(text.to_owned()));
    }
    Decimal::from_str_exact(text)
        .or_else(|_| Decimal::from_scientific(text))
        .map(|value| value.normalize())
        .map_err(|_| RatesErrorKind::Precision(text.to_owned()))
}

/// Returns a computed rate as a decimal, if it is in the range of one.
pub(super) fn of_computed(rate: f64) -> Option<Decimal> {
    Decimal::from_f64_retain(rate)
}

/// Returns the number nearest to a decimal.
pub(super) fn to_number(value: Decimal) -> f64 {
    // The decimal's own conversion divides, so the last digit of a long one may differ.
    let nearest = value.to_string().parse();
    nearest.unwrap_or_else(|_| value.as_f64())
}

/// Returns a spread in basis points: (rate - reference) x 100, both in per cent, rounded.
pub(super) fn spread_bp(rate: Decimal, reference: Decimal) -> Option<Decimal> {
    let difference = rate.checked_sub(reference)?;
    let basis_points = difference.checked_mul(Decimal::ONE_HUNDRED)?;
    Some(round(basis_points, BASIS_POINT_PLACES))
}

/// Returns a spread in per cent.
pub(super) fn in_per_cent(basis_points: Decimal) -> Option<Decimal> {
    basis_points.checked_div(Decimal::ONE_HUNDRED)
}

/// Returns the sum of the parts of a rate in per cent, rounded.
pub(super) fn rate_pct(parts: &[Decimal]) -> Option<Decimal> {
    Some(round(sum(parts)?, PER_CENT_PLACES))
}

/// Returns the mean of spreads, rounded.
pub(super) fn mean(spreads: &[Decimal]) -> Option<Decimal> {
    let mean = sum(spreads)?.checked_div(Decimal::from(spreads.len()))?;
    Some(round(mean, BASIS_POINT_PLACES))
}

/// Returns the median of spreads; of an even count the mean of the middle two.
pub(super) fn median(spreads: &[Decimal]) -> Option<Decimal> {
    let mut sorted = spreads.to_vec();
    sorted.sort();
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        count if count % 2 == 1 => Some(sorted[middle]),
        _ => mean(&sorted[middle - 1..=middle]),
    }
}

fn sum(values: &[Decimal]) -> Option<Decimal> {
    let mut values = values.iter();
    values.try_fold(Decimal::ZERO, |sum, value| sum.checked_add(*value))
}

fn round(value: Decimal, places: u32) -> Decimal {
    let rounded = value.round_dp_with_strategy(places, RoundingStrategy::MidpointNearestEven);
    // A negative zero becomes zero.
    rounded.normalize()
}

/// Returns the decimal that a text states.
#[cfg(test)]
pub(super) fn decimal(text: &str) -> Decimal {
    parse(text).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimals(texts: &[&str]) -> Vec<Decimal> {
        texts.iter().copied().map(decimal).collect()
    }

    #[test]
    fn a_spread_of_6_77_against_3_75_is_302_basis_points() {
        let spread = spread_bp(decimal("6.77"), decimal("3.75")).unwrap();
        assert_eq!(to_number(spread).to_string(), "302");
        // Binary numbers differ by 301.99999999999994.
        assert_ne!((6.77 - 3.75) * 100.0, 302.0);
    }

    #[test]
    fn results_are_rounded_half_to_even_to_six_places_of_a_basis_point() {
        let spread = |rate: &str| {
            let spread = spread_bp(decimal(rate), Decimal::ZERO).unwrap();
            to_number(spread).to_string()
        };
        assert_eq!(spread("0.000000005"), "0");
        assert_eq!(spread("0.000000015"), "0.000002");
        assert_eq!(spread("0.000000025"), "0.000002");
        assert_eq!(spread("0.00000002500001"), "0.000003");
        assert_eq!(spread("-0.000000015"), "-0.000002");
        assert_eq!(spread("-0.000000001"), "0");
        let rate = |text: &str| {
            rate_pct(&[decimal(text), Decimal::ONE])
                .unwrap()
                .to_string()
        };
        assert_eq!(rate("3.000000005"), "4");
        assert_eq!(rate("3.000000015"), "4.00000002");
    }

    #[test]
    fn a_median_of_an_even_count_is_the_mean_of_the_middle_two() {
        assert_eq!(median(&decimals(&["3", "1", "2"])), Some(Decimal::TWO));
        let even = decimals(&["302", "88.1", "90.2", "-15"]);
        assert_eq!(median(&even), Some(decimal("89.15")));
        assert_eq!(median(&[]), None);
        assert_eq!(mean(&decimals(&["0.1", "0.2"])), Some(decimal("0.15")));
        assert_eq!(mean(&decimals(&["1", "1", "0"])), Some(decimal("0.666667")));
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn figures_are_read_as_they_are_written() {
        let read = |text: &str| parse(text).map(|value| value.to_string()).ok();
        for (text, value) in [
            ("3.750", "3.75"),
            ("4", "4"),
            ("+4.0", "4"),
            ("-0.5", "-0.5"),
            (".5", "0.5"),
            ("5.", "5"),
            ("-0", "0"),
            ("1.25E-1", "0.125"),
            ("2e2", "200"),
            (
                "0.1234567890123456789012345678",
                "0.1234567890123456789012345678",
            ),
        ] {
            assert_eq!(read(text).as_deref(), Some(value), "{text}");
        }
        for text in ["", "3_75", "n/a", "inf", "NaN", "1,5", "0x1", "1e400"] {
            let error = parse(text);
            assert!(matches!(error, Err(RatesErrorKind::Number(_))), "{text}");
        }
        for text in ["0.12345678901234567890123456789", "1e30", "1e-30"] {
            let error = parse(text);
            assert!(matches!(error, Err(RatesErrorKind::Precision(_))), "{text}");
        }
    }

    #[test]
    fn nothing_overflows() {
        let most = Decimal::MAX;
        assert_eq!(spread_bp(most, Decimal::ZERO), None);
        assert_eq!(spread_bp(most, -most), None);
        assert_eq!(mean(&[most, most]), None);
        assert_eq!(rate_pct(&[most, most]), None);
        for rate in [f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(of_computed(rate), None);
        }
    }

    /// Returns `number` / 10^`places` as text.
    fn decimal_text(number: i64, places: u32) -> String {
        let unit = 10_i64.pow(places);
        let sign = if number < 0 { "-" } else { "" };
        let (whole, part) = ((number / unit).abs(), (number % unit).abs());
        match places {
            0 => format!("{sign}{whole}"),
            _ => format!("{sign}{whole}.{part:0width$}", width = places as usize),
        }
    }

    proptest! {
        #[test]
        fn a_spread_is_exactly_a_hundred_times_the_difference(
            (rate, rate_places) in (-200_000_i64..2_000_000, 0_u32..=4),
            (reference, reference_places) in (-200_000_i64..2_000_000, 0_u32..=4),
        ) {
            let spread = spread_bp(
                decimal(&decimal_text(rate, rate_places)),
                decimal(&decimal_text(reference, reference_places)),
            );
            // In hundredths of a basis point, by whole numbers alone.
            let scaled = |number: i64, places: u32| number * 10_i64.pow(4 - places);
            let hundredths = scaled(rate, rate_places) - scaled(reference, reference_places);
            let expected = decimal_text(hundredths, 2);
            prop_assert_eq!(spread.unwrap(), decimal(&expected));
            prop_assert_eq!(to_number(spread.unwrap()), expected.parse::<f64>().unwrap());
        }

        #[test]
        fn a_median_lies_between_the_halves(
            numbers in proptest::collection::vec(-1_000_000_i64..1_000_000, 1..=12),
        ) {
            let mut numbers = numbers;
            let spreads: Vec<Decimal> = numbers.iter().map(|n| Decimal::new(*n, 2)).collect();
            numbers.sort_unstable();
            let (low, high) = (numbers[(numbers.len() - 1) / 2], numbers[numbers.len() / 2]);
            let expected = Decimal::new((low + high) * 5, 3);
            prop_assert_eq!(median(&spreads), Some(expected));
        }
    }
}
