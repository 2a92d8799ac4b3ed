//! Trained trees, and reference scoring that walks them node by node.

use crate::Transform;

/// A trained model. Its raw score is a sum over all trees.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    /// Names of the inputs, in their order.
    pub inputs: Vec<String>,
    /// Trees in the order of the sum.
    pub trees: Vec<Tree>,
    /// Arithmetic of the library that trained the model.
    pub arithmetic: Arithmetic,
    /// True if a prediction averages the trees instead of summing them (random forests).
    pub averaged: bool,
    /// Transform from the raw score to the prediction.
    pub transform: Transform,
    /// Names of the categories of each input, in the order of their numbers, where the model names
    /// them. Empty if the model names none.
    pub category_names: Vec<Option<Vec<String>>>,
}

/// The arithmetic of inputs and sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arithmetic {
    /// LightGBM's: double precision, and inputs within 1e-35 of zero are zero.
    LightGbm,
    /// XGBoost's: single precision for inputs and sums.
    XgBoost {
        /// Base score, to which the leaves are added in order.
        base: f32,
    },
}

impl Arithmetic {
    /// Converts an input for comparisons.
    pub(crate) fn input(self, input: f64) -> f64 {
        match self {
            Arithmetic::LightGbm if input.abs() <= ZERO => 0.0,
            Arithmetic::LightGbm => input,
            Arithmetic::XgBoost { .. } => f64::from(input as f32),
        }
    }

    /// Returns the category of an input, or `None` if it is negative, too large or NaN.
    pub(crate) fn category(self, input: f64) -> Option<usize> {
        let named = match self {
            // C truncates: -0.5 is 0. Beyond 32 bits its conversion gives the least integer.
            Arithmetic::LightGbm => input > -1.0 && input < 2_147_483_648.0,
            // Single precision represents these integers exactly.
            Arithmetic::XgBoost { .. } => (0.0..16_777_216.0).contains(&input),
        };
        named.then_some(input as usize)
    }

    /// Sums the leaf values of a row, in the order of the trees.
    pub(crate) fn sum(self, leaves: impl Iterator<Item = f64>) -> f64 {
        match self {
            Arithmetic::LightGbm => leaves.fold(0.0, |sum, leaf| sum + leaf),
            Arithmetic::XgBoost { base } => {
                f64::from(leaves.fold(base, |sum, leaf| sum + leaf as f32))
            }
        }
    }
}

/// LightGBM reads inputs no further than this from 0 as 0.
const ZERO: f64 = 1e-35_f32 as f64;

/// A tree. A tree of one leaf has no node.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// Nodes. The first is the root.
    pub nodes: Vec<Node>,
    /// Values of the leaves.
    pub leaves: Vec<f64>,
}

/// A decision node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Number of the input.
    pub input: usize,
    /// Rule of the decision.
    pub split: Split,
    /// Child if the rule holds.
    pub left: Child,
    /// Child if the rule does not hold.
    pub right: Child,
}

/// The child of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// Number of a node of the same tree.
    Node(usize),
    /// Number of a leaf of the same tree.
    Leaf(usize),
}

/// The rule of a decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Split {
    /// Left if the input is at most the threshold.
    Numeric(Numeric),
    /// Left if the set contains the input. An input that names no category is in no set.
    Categorical(CategorySet),
}

/// A comparison with a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numeric {
    /// Greatest input that goes left. Infinite if only missing inputs go right.
    pub threshold: f64,
    /// Inputs that count as missing.
    pub missing: Missing,
    /// True if missing inputs go left.
    pub default_left: bool,
}

/// The inputs that count as missing in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Missing {
    /// None. NaN counts as 0.
    None,
    /// Zero and NaN.
    Zero,
    /// NaN.
    Nan,
}

/// A set of categories.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CategorySet {
    /// Bits of the categories.
    words: Vec<u32>,
    /// True if the set contains NaN.
    missing: bool,
}

impl CategorySet {
    /// Creates the set of the positions of one bits, without NaN.
    pub fn from_words(mut words: Vec<u32>) -> CategorySet {
        // Trailing zeros are dropped, so that equal sets compare equal.
        while words.last() == Some(&0) {
            words.pop();
        }
        CategorySet {
            words,
            missing: false,
        }
    }

    /// Sets whether the set contains NaN.
    pub fn with_missing(self, missing: bool) -> CategorySet {
        CategorySet { missing, ..self }
    }

    /// Returns whether the set contains a category.
    pub fn contains(&self, category: usize) -> bool {
        self.words
            .get(category / 32)
            .is_some_and(|word| word >> (category % 32) & 1 == 1)
    }

    /// Returns whether the set contains NaN.
    pub fn contains_missing(&self) -> bool {
        self.missing
    }

    /// Returns a bound on the categories of a set of this many words.
    pub fn end(&self) -> usize {
        self.words.len() * 32
    }
}

impl Tree {
    /// Returns the leaf value of a row by walking the tree.
    pub fn leaf(&self, row: &[f64], arithmetic: Arithmetic) -> f64 {
        let mut at = Child::Node(0);
        if self.nodes.is_empty() {
            at = Child::Leaf(0);
        }
        loop {
            match at {
                Child::Leaf(leaf) => return self.leaves[leaf],
                Child::Node(node) => at = self.nodes[node].next(row, arithmetic),
            }
        }
    }
}

impl Node {
    fn next(&self, row: &[f64], arithmetic: Arithmetic) -> Child {
        let input = arithmetic.input(row[self.input]);
        let left = match &self.split {
            Split::Categorical(set) if input.is_nan() => set.contains_missing(),
            Split::Categorical(set) => arithmetic
                .category(input)
                .is_some_and(|category| set.contains(category)),
            Split::Numeric(rule) => {
                let missing = match rule.missing {
                    Missing::None => false,
                    Missing::Zero => input.is_nan() || input == 0.0,
                    Missing::Nan => input.is_nan(),
                };
                let number = if input.is_nan() { 0.0 } else { input };
                if missing {
                    rule.default_left
                } else {
                    number <= rule.threshold
                }
            }
        };
        if left { self.left } else { self.right }
    }
}

impl Ensemble {
    /// Returns the raw score of a row, computed without packing. Tests compare
    /// [`crate::Forest::score`] with it.
    ///
    /// # Panics
    /// If the row has fewer numbers than the model has inputs.
    pub fn score(&self, row: &[f64]) -> f64 {
        let leaves = self
            .trees
            .iter()
            .map(|tree| tree.leaf(row, self.arithmetic));
        self.arithmetic.sum(leaves)
    }
}
