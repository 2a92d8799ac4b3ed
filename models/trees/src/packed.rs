//! A packed model, used where it lies.
//!
//! Words of 64 bits, little-endian in a file. The header is [`MAGIC`]; the number of inputs; how scores are made (the
//! transform, at bit 8 whether trees are averaged, at bit 9 whether all is in single precision, and then in the high
//! half what leaves are added to); steps to the deepest leaf; the number of columns; then where each part begins (low
//! half) and how many words it has (high half), in the order of [`Part`]:
//!
//! - ranked inputs, three words each: input; first threshold and how many; rank of nought and how many rules;
//! - the rules of each, in the order of their columns;
//! - thresholds, rising within an input;
//! - categorical inputs, three words each: input; rows of categories and sets; first word of its table;
//! - tables: a row a category, one for all others and one for what is no number; a bit a set, set where the category is
//!   not of it;
//! - where trees begin: root (low half), number within its [`walk::BLOCK`] (high half), filled up to a multiple of
//!   [`walk::SIDE_BY_SIDE`];
//! - the first leaf of each tree;
//! - nodes, as many as a power of two: left child (low half), column, threshold. A leaf is its own
//!   left child, has the threshold [`LEAF`] and, for a column, its number in its tree. The last is a leaf of no tree;
//! - values of leaves.

mod fill;
pub(crate) mod walk;

use crate::Arithmetic;
use crate::transform::Transform;
use walk::Walks;

/// What a packed model begins with: the layout's name and version.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"DDTREES2");
/// Where the header says that trees are averaged.
pub(crate) const AVERAGED: u32 = 8;
/// Where it says that all is in single precision.
pub(crate) const SINGLE: u32 = 9;
/// The threshold of a leaf, which no number exceeds.
pub(crate) const LEAF: u16 = 0xFFFF;
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
    Starts,
    Firsts,
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
    arithmetic: Arithmetic,
    deepest: usize,
    ranked: &'a [u64],
    rules: &'a [u64],
    thresholds: &'a [u64],
    sets: &'a [u64],
    categories: &'a [u64],
    starts: &'a [u64],
    firsts: &'a [u64],
    nodes: &'a [u64],
    leaves: &'a [u64],
}

/// Room for one row under way, kept between rows.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    columns: Vec<u16>,
    walks: Walks,
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
            averaged: words[2] >> AVERAGED & 1 == 1,
            arithmetic: match words[2] >> SINGLE & 1 {
                0 => Arithmetic::LightGbm,
                _ => Arithmetic::XgBoost {
                    base: f32::from_bits((words[2] >> 32) as u32),
                },
            },
            deepest: low(words[3]),
            columns: low(words[4]),
            ranked: part(Part::Ranked)?,
            rules: part(Part::Rules)?,
            thresholds: part(Part::Thresholds)?,
            sets: part(Part::Sets)?,
            categories: part(Part::Categories)?,
            starts: part(Part::Starts)?,
            firsts: part(Part::Firsts)?,
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
        self.walk(&scratch.columns, &mut scratch.walks);
        self.arithmetic.sum(scratch.walks.values.iter().copied())
    }

    /// What the model's objective makes of a raw score.
    pub fn answer(&self, score: f64) -> f64 {
        let score = if self.averaged && !self.firsts.is_empty() {
            score / self.firsts.len() as f64
        } else {
            score
        };
        self.transform.of(score)
    }
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
