//! The columns of a row: each input's rank under its rules, and a bit for each set.

use super::forest::Forest;
use super::layout::{BITS_A_WORD, Rule, high, low};

/// Rank of missing inputs that go right: above all thresholds but a leaf's.
const RIGHT: u16 = 0xFFFF;
/// Bits that are written at once.
const AT_ONCE: usize = 4;
/// Four bits as four columns, the lowest first.
const SPREAD: [[u16; AT_ONCE]; 1 << AT_ONCE] = {
    let mut spread = [[0; AT_ONCE]; 1 << AT_ONCE];
    let mut at = 0;
    while at < spread.len() * AT_ONCE {
        spread[at / AT_ONCE][at % AT_ONCE] = ((at / AT_ONCE) >> (at % AT_ONCE)) as u16 & 1;
        at += 1;
    }
    spread
};

impl Forest<'_> {
    /// Computes the columns of a row.
    pub(super) fn fill(&self, row: &[f64], columns: &mut Vec<u16>) {
        // Sets are written in whole words. A power of two spares the walk a bounds check.
        let wanted = (self.columns + BITS_A_WORD).next_power_of_two();
        if columns.len() != wanted {
            columns.clear();
            columns.resize(wanted, 0);
        }
        let next = self.ranks(row, columns);
        self.memberships(row, &mut columns[next..]);
    }

    /// Writes the columns of comparisons, and returns their number.
    fn ranks(&self, row: &[f64], columns: &mut [u16]) -> usize {
        let mut next = 0;
        let mut rules = self.rules.iter();
        for input in self.ranked.as_chunks::<3>().0 {
            let value = self.arithmetic.input(row[low(input[0])]);
            let thresholds = &self.thresholds[low(input[1])..][..high(input[1])];
            let nan = value.is_nan();
            let zero = value == 0.0;
            let rank = if nan || zero {
                low(input[2])
            } else {
                thresholds.partition_point(|threshold| f64::from_bits(*threshold) < value)
            } as u16;
            for rule in rules.by_ref().take(high(input[2])) {
                columns[next] = apply_rule(*rule, rank, nan, zero);
                next += 1;
            }
        }
        next
    }

    /// Writes the columns of sets.
    fn memberships(&self, row: &[f64], mut columns: &mut [u16]) {
        for input in self.sets.as_chunks::<3>().0 {
            let (rows, sets) = (low(input[1]), high(input[1]));
            let width = sets.div_ceil(BITS_A_WORD);
            let value = self.arithmetic.input(row[low(input[0])]);
            let at = if value.is_nan() {
                rows + 1
            } else {
                self.arithmetic.category(value).unwrap_or(rows).min(rows)
            };
            let words = &self.categories[low(input[2]) + at * width..][..width];
            for (word, columns) in words.iter().zip(columns.as_chunks_mut::<BITS_A_WORD>().0) {
                let mut word = *word;
                for columns in columns.as_chunks_mut::<AT_ONCE>().0 {
                    *columns = SPREAD[word as usize & (SPREAD.len() - 1)];
                    word >>= AT_ONCE;
                }
            }
            columns = &mut columns[sets..];
        }
    }
}

/// Applies a rule for missing values to a rank.
#[inline]
fn apply_rule(rule: u64, rank: u16, nan: bool, zero: bool) -> u16 {
    const ZERO_LEFT: u64 = Rule::ZeroLeft as u64;
    const ZERO_RIGHT: u64 = Rule::ZeroRight as u64;
    const NAN_LEFT: u64 = Rule::NanLeft as u64;
    const NAN_RIGHT: u64 = Rule::NanRight as u64;
    let (missing, side) = match rule {
        ZERO_LEFT => (nan || zero, 0),
        ZERO_RIGHT => (nan || zero, RIGHT),
        NAN_LEFT => (nan, 0),
        NAN_RIGHT => (nan, RIGHT),
        _ => (false, 0),
    };
    if missing { side } else { rank }
}
