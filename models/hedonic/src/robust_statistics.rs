//! Weighted statistics that a few bad sales cannot move. The register holds part sales, gifts and
//! typing errors.
//!
//! Every sum runs in the order of its input, so the caller's order decides the bits.

/// Returns the weighted median: the least value at which half of the weight is reached. Returns
/// `None` without weight.
///
/// Uses selection, because sorting everything took a tenth of a valuation. `scratch` is cleared and
/// reused, so that one allocation serves many calls.
pub fn median(
    values: impl Iterator<Item = (f64, f64)>,
    scratch: &mut Vec<(i64, f64)>,
) -> Option<f64> {
    scratch.clear();
    scratch.extend(
        values
            .filter(|value| value.1 > 0.0)
            .map(|(value, weight)| (order_key(value), weight)),
    );
    let half = scratch.iter().map(|v| v.1).sum::<f64>() / 2.0;
    let mut rest = scratch.as_mut_slice();
    // Weight of the values known to be less than all of the rest.
    let mut below = 0.0;
    while rest.len() > SORTED_WHOLE {
        let (less, &mut (value, weight), more) =
            rest.select_nth_unstable_by_key(rest.len() / 2, |v| v.0);
        let before = below + less.iter().map(|v| v.1).sum::<f64>();
        if before >= half {
            rest = less;
        } else if before + weight >= half || more.is_empty() {
            return Some(value_of(value));
        } else {
            below = before + weight;
            rest = more;
        }
    }
    rest.sort_unstable_by_key(|v| v.0);
    // Sums in another order may differ in the last bit. The greatest value is then the median.
    let last = rest.last().map(|v| v.0);
    rest.iter()
        .find(|(_, weight)| {
            below += weight;
            below >= half
        })
        .map(|v| v.0)
        .or(last)
        .map(value_of)
}

/// At most this many values are sorted rather than partitioned.
const SORTED_WHOLE: usize = 12;

/// Maps a value to an integer of the same order, so that comparisons are of integers. For negative
/// values it inverts all bits but the sign.
fn order_key(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    bits ^ (((bits >> 63) as u64) >> 1).cast_signed()
}

fn value_of(number: i64) -> f64 {
    let bits = number ^ (((number >> 63) as u64) >> 1).cast_signed();
    f64::from_bits(bits.cast_unsigned())
}

/// Returns the weighted mean, or `None` without weight.
pub fn mean(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (sum, weights) = values.fold((0.0, 0.0), |(s, w), (value, weight)| {
        (s + value * weight, w + weight)
    });
    (weights > 0.0).then(|| sum / weights)
}

/// Returns Tukey's biweight: 1 at no departure, 0 beyond `reach`.
pub fn biweight(departure: f64, reach: f64) -> f64 {
    let ratio = departure / reach;
    let rest = 1.0 - ratio * ratio;
    if rest > 0.0 { rest * rest } else { 0.0 }
}

/// Factor from the median absolute deviation to the standard deviation of a normal distribution.
pub const MAD_TO_SCALE: f64 = 1.482_602_218_505_602;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_follows_the_weight() {
        let mut scratch = Vec::new();
        let of = |v: &[(f64, f64)], s: &mut Vec<_>| median(v.iter().copied(), s);
        assert_eq!(
            of(&[(3.0, 1.0), (1.0, 1.0), (2.0, 1.0)], &mut scratch),
            Some(2.0)
        );
        assert_eq!(of(&[(1.0, 5.0), (9.0, 1.0)], &mut scratch), Some(1.0));
        assert_eq!(of(&[(1.0, 0.0), (9.0, 1.0)], &mut scratch), Some(9.0));
        assert_eq!(of(&[], &mut scratch), None);
    }

    #[test]
    fn numbers_order_as_their_values() {
        let rising = [
            f64::NEG_INFINITY,
            -2.0,
            -1e-300,
            -0.0,
            0.0,
            1e-300,
            1.5,
            f64::INFINITY,
        ];
        assert!(rising.map(order_key).is_sorted_by(|a, b| a < b));
        for value in rising {
            assert_eq!(value_of(order_key(value)).to_bits(), value.to_bits());
        }
    }

    #[test]
    fn biweight_forgets_the_far() {
        assert_eq!(biweight(0.0, 2.0), 1.0);
        assert_eq!(biweight(-1.0, 2.0), biweight(1.0, 2.0));
        assert_eq!(biweight(2.0, 2.0), 0.0);
        assert_eq!(biweight(9.0, 2.0), 0.0);
    }
}
