//! The layout of a packed model.
//!
//! A packed model is a sequence of 64-bit words, little-endian in a file. The header holds:
//!
//! - [`MAGIC`];
//! - the number of inputs;
//! - the scoring: the transform, [`AVERAGED`] and [`SINGLE`] as bits, and in the high half the base
//!   score;
//! - the number of steps to the deepest leaf;
//! - the number of columns;
//! - for each [`Part`], its first word (low half) and its number of words (high half).
//!
//! The parts are:
//!
//! - ranked inputs, three words each: (1) the input, (2) its first threshold and their number,
//!   (3) the rank of zero and the number of rules;
//! - the rules of each ranked input, in the order of their columns;
//! - the thresholds, increasing within an input;
//! - categorical inputs, three words each: (1) the input, (2) the numbers of categories and of
//!   sets, (3) the first word of its table;
//! - the tables: a row for each category, one for other categories and one for missing values. A
//!   row has a bit for each set, which is 1 if the category is not in the set;
//! - the starts of the trees: the root (low half) and the number within its block (high half). They
//!   are padded to a multiple of the trees that are walked side by side;
//! - the first leaf of each tree;
//! - the nodes, a power of two in number: the left child (low half), the column and the threshold.
//!   A leaf is its own left child. It has the threshold [`LEAF`], and its number within the tree
//!   for a column. The last node is a padding leaf of no tree;
//! - the values of the leaves.

/// First word: the layout's name and version.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"DDTREES2");
/// Bit of the header for averaged trees.
pub(crate) const AVERAGED: u32 = 8;
/// Bit of the header for single precision.
pub(crate) const SINGLE: u32 = 9;
/// Threshold of a leaf, which no rank exceeds.
pub(crate) const LEAF: u16 = 0xFFFF;
/// Sets in a word of a table.
pub(crate) const BITS_A_WORD: usize = 64;
/// Words of the header: five, and one for each part.
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
    /// Returns the header word of the part.
    pub(crate) fn header(self) -> usize {
        FIRST_PART + self as usize
    }
}

/// A column's rule for missing inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    /// NaN counts as zero.
    Plain,
    /// Zero and NaN go left.
    ZeroLeft,
    /// Zero and NaN go right.
    ZeroRight,
    /// NaN goes left.
    NanLeft,
    /// NaN goes right.
    NanRight,
}

/// Packs a node into a word.
pub(crate) fn node(left: usize, column: usize, threshold: usize) -> u64 {
    left as u64 | (column as u64) << 32 | (threshold as u64) << 48
}

#[inline]
pub(super) fn low(word: u64) -> usize {
    word as u32 as usize
}

#[inline]
pub(super) fn high(word: u64) -> usize {
    (word >> 32) as usize
}
