//! A packed model, used where it lies.
//!
//! Words of 64 bits, little-endian in a file. The header is [`MAGIC`], the number of inputs, the transform
//! with whether trees are averaged (bit 8), the number of trees and that of columns; then where each part
//! begins (low half) and how many words it has (high half), in the order of [`Part`]:
//!
//! - ranked inputs, three words each: input; first threshold and how many; rank of nought and how many rules;
//! - the rules of each, in the order of their columns;
//! - thresholds, rising within an input;
//! - categorical inputs, three words each: input; rows of categories and sets; first word of its table;
//! - tables: a row a category and one for all others, a bit a set, set where the category is not of it;
//! - groups of [`SIDE_BY_SIDE`] trees: steps to the farthest leaf;
//! - trees in the order of walking, two words each: root and first leaf; the tree's own number;
//! - nodes, as many as a power of two: left child (low half), column, threshold. A leaf is its own
//!   left child, has the threshold [`LEAF`] and, for a column, its number in its tree;
//! - values of leaves.

use crate::ensemble::{ZERO, category};
use crate::transform::Transform;

/// What a packed model begins with: the layout's name and version.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"DDTREES1");
/// Trees that are walked side by side. Fewer leave the processor waiting for memory, and more do not fit
/// into its registers.
pub(crate) const SIDE_BY_SIDE: usize = 8;
/// The threshold of a leaf, which no number exceeds.
pub(crate) const LEAF: u16 = 0xFFFF;
/// What is missing and goes right: more than any threshold but a leaf's.
const RIGHT: u16 = 0xFFFF;
/// Sets in a word of a table.
pub(crate) const BITS_A_WORD: usize = 64;
/// Words of the header: five, and where the nine parts are.
pub(crate) const HEADER_WORDS: usize = 14;
const FIRST_PART: usize = 5;

/// A part of a packed model.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    Ranked,
    Rules,
    Thresholds,
    Sets,
    Categories,
    Groups,
    Trees,
    Nodes,
    Leaves,
}

impl Part {
    /// Where the header says of it.
    pub(crate) fn header(self) -> usize {
        FIRST_PART + self as usize
    }
}

/// What a column makes of an input that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    /// No number is nought.
    Plain,
    /// Nought and no number go left.
    ZeroLeft,
    /// Nought and no number go right.
    ZeroRight,
    /// No number goes left.
    NanLeft,
    /// No number goes right.
    NanRight,
}

/// A node of these numbers.
pub(crate) fn node(left: usize, column: usize, threshold: usize) -> u64 {
    left as u64 | (column as u64) << 32 | (threshold as u64) << 48
}

/// Words are no packed model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackedError {
    /// They begin otherwise, or are of another version of the layout.
    #[error("these are not the words of a packed model of this version; pack the model again")]
    NotPacked,
    /// They end too early.
    #[error("the packed model is cut short")]
    CutShort,
}

/// A packed model. Reading one looks at its header only.
#[derive(Clone, Copy, Debug)]
pub struct Forest<'a> {
    inputs: usize,
    columns: usize,
    transform: Transform,
    averaged: bool,
    trees: usize,
    ranked: &'a [u64],
    rules: &'a [u64],
    thresholds: &'a [u64],
    sets: &'a [u64],
    categories: &'a [u64],
    steps: &'a [u64],
    walked: &'a [u64],
    nodes: &'a [u64],
    leaves: &'a [u64],
}

/// Room for one row under way, kept between rows.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    columns: Vec<u16>,
    values: Vec<f64>,
}

impl<'a> Forest<'a> {
    /// The model that was packed into these words.
    ///
    /// # Errors
    /// Where they are no packed model, or not all of one.
    pub fn read(words: &'a [u64]) -> Result<Forest<'a>, PackedError> {
        if words.first() != Some(&MAGIC) || words.len() < HEADER_WORDS {
            return Err(PackedError::NotPacked);
        }
        let part = |part: Part| {
            let place = words[part.header()];
            let (start, length) = (low(place), high(place));
            words
                .get(start..start.saturating_add(length))
                .ok_or(PackedError::CutShort)
        };
        let nodes = part(Part::Nodes)?;
        if !nodes.len().is_power_of_two() {
            return Err(PackedError::CutShort);
        }
        Ok(Forest {
            inputs: low(words[1]),
            transform: Transform::numbered(words[2] & 0xFF).ok_or(PackedError::NotPacked)?,
            averaged: words[2] >> 8 & 1 == 1,
            trees: low(words[3]),
            columns: low(words[4]),
            ranked: part(Part::Ranked)?,
            rules: part(Part::Rules)?,
            thresholds: part(Part::Thresholds)?,
            sets: part(Part::Sets)?,
            categories: part(Part::Categories)?,
            steps: part(Part::Groups)?,
            walked: part(Part::Trees)?,
            nodes,
            leaves: part(Part::Leaves)?,
        })
    }

    /// How many inputs a row has.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The maker's raw score of a row, to the bit.
    ///
    /// # Panics
    /// Where the row has fewer numbers than the model has inputs.
    pub fn score(&self, row: &[f64], scratch: &mut Scratch) -> f64 {
        self.fill(row, &mut scratch.columns);
        self.walk(&scratch.columns, &mut scratch.values);
        scratch.values.iter().fold(0.0, |sum, value| sum + value)
    }

    /// What the model's objective makes of a raw score.
    pub fn answer(&self, score: f64) -> f64 {
        let score = if self.averaged && self.trees > 0 {
            score / self.trees as f64
        } else {
            score
        };
        self.transform.of(score)
    }

    /// Puts a row into columns.
    fn fill(&self, row: &[f64], columns: &mut Vec<u16>) {
        // Sets are written by whole words, and a power of two lets the walk do without a check.
        let wanted = (self.columns + BITS_A_WORD).next_power_of_two();
        if columns.len() != wanted {
            columns.clear();
            columns.resize(wanted, 0);
        }
        let mut next = 0;
        let mut rules = self.rules.iter();
        for input in self.ranked.as_chunks::<3>().0 {
            let value = row[low(input[0])];
            let thresholds = &self.thresholds[low(input[1])..][..high(input[1])];
            let nan = value.is_nan();
            let zero = value.abs() <= ZERO;
            let rank = if nan || zero {
                low(input[2])
            } else {
                thresholds.partition_point(|threshold| f64::from_bits(*threshold) < value)
            } as u16;
            for rule in rules.by_ref().take(high(input[2])) {
                columns[next] = ruled(*rule, rank, nan, zero);
                next += 1;
            }
        }
        for input in self.sets.as_chunks::<3>().0 {
            let (rows, sets) = (low(input[1]), high(input[1]));
            let width = sets.div_ceil(BITS_A_WORD);
            let value = row[low(input[0])];
            let of = category(if value.abs() <= ZERO { 0.0 } else { value });
            let at = of.unwrap_or(rows).min(rows);
            let words = &self.categories[low(input[2]) + at * width..][..width];
            for (word, columns) in words
                .iter()
                .zip(columns[next..].chunks_exact_mut(BITS_A_WORD))
            {
                for (bit, column) in columns.iter_mut().enumerate() {
                    *column = (word >> bit) as u16 & 1;
                }
            }
            next += sets;
        }
    }

    /// Walks every tree and keeps the value of its leaf.
    fn walk(&self, columns: &[u16], values: &mut Vec<f64>) {
        values.resize(self.trees, 0.0);
        let groups = self.walked.as_chunks::<{ 2 * SIDE_BY_SIDE }>().0;
        for (steps, group) in self.steps.iter().zip(groups) {
            let at = walk(self.nodes, columns, group, *steps);
            for (k, at) in at.into_iter().enumerate() {
                let leaf = (self.nodes[at & (self.nodes.len() - 1)] >> 32) as u16;
                let first = high(group[2 * k]);
                let value = self.leaves[first + usize::from(leaf)];
                values[low(group[2 * k + 1])] = f64::from_bits(value);
            }
        }
    }
}

/// Walks a group of trees side by side; where each arrives.
#[inline]
fn walk(
    nodes: &[u64],
    columns: &[u16],
    group: &[u64; 2 * SIDE_BY_SIDE],
    steps: u64,
) -> [usize; SIDE_BY_SIDE] {
    let mut at: [usize; SIDE_BY_SIDE] = std::array::from_fn(|k| low(group[2 * k]));
    if nodes.is_empty() || columns.is_empty() {
        return at;
    }
    // Both are as long as a power of two.
    let (last_node, last_column) = (nodes.len() - 1, columns.len() - 1);
    for _ in 0..steps {
        for at in &mut at {
            let node = nodes[*at & last_node];
            let column = columns[usize::from((node >> 32) as u16) & last_column];
            *at = low(node) + usize::from(column > (node >> 48) as u16);
        }
    }
    at
}

/// What a rule makes of an input.
#[inline]
fn ruled(rule: u64, rank: u16, nan: bool, zero: bool) -> u16 {
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

#[inline]
fn low(word: u64) -> usize {
    word as u32 as usize
}

#[inline]
fn high(word: u64) -> usize {
    (word >> 32) as usize
}

#[cfg(test)]
mod tests;
