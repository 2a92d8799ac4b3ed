//! Trees as they were trained, and the plain way of scoring with them.

use crate::Transform;

/// A trained model: its scores are sums over all trees.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    /// Names of the inputs, in their order.
    pub inputs: Vec<String>,
    /// In the order of their sum.
    pub trees: Vec<Tree>,
    /// Whose arithmetic the scores are in.
    pub arithmetic: Arithmetic,
    /// Whether the answer is of the mean over the trees rather than their sum (random forests).
    pub averaged: bool,
    /// What the maker does to the score to make it an answer.
    pub transform: Transform,
}

/// How inputs are read and leaves are summed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arithmetic {
    /// LightGBM's: double precision, and an input within 1e-35 of nought is nought.
    LightGbm,
    /// XGBoost's: single precision, inputs and sums.
    XgBoost {
        /// What the leaves are added to, one after the other.
        base: f32,
    },
}

impl Arithmetic {
    /// An input as it is compared.
    pub(crate) fn input(self, input: f64) -> f64 {
        match self {
            Arithmetic::LightGbm if input.abs() <= ZERO => 0.0,
            Arithmetic::LightGbm => input,
            Arithmetic::XgBoost { .. } => f64::from(input as f32),
        }
    }

    /// The category that an input names, as it is compared; none where it is negative, too large or no number.
    pub(crate) fn category(self, input: f64) -> Option<usize> {
        let named = match self {
            // As C truncates: -0.5 is 0. Beyond 32 bits its conversion gives the least integer.
            Arithmetic::LightGbm => input > -1.0 && input < 2_147_483_648.0,
            // The integers that single precision tells apart.
            Arithmetic::XgBoost { .. } => (0.0..16_777_216.0).contains(&input),
        };
        named.then_some(input as usize)
    }

    /// The score of a row whose leaves have these values, in the order of the trees.
    pub(crate) fn sum(self, leaves: impl Iterator<Item = f64>) -> f64 {
        match self {
            Arithmetic::LightGbm => leaves.fold(0.0, |sum, leaf| sum + leaf),
            Arithmetic::XgBoost { base } => {
                f64::from(leaves.fold(base, |sum, leaf| sum + leaf as f32))
            }
        }
    }
}

/// LightGBM's nought: as it reads a row, what is no further from 0 than this is 0.
const ZERO: f64 = 1e-35_f32 as f64;

/// One tree. A tree of one leaf has no node.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The first is the root.
    pub nodes: Vec<Node>,
    /// Values of the leaves.
    pub leaves: Vec<f64>,
}

/// One decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Which input.
    pub input: usize,
    /// By what rule.
    pub split: Split,
    /// Where the rule holds.
    pub left: Next,
    /// Where it does not.
    pub right: Next,
}

/// Where a decision leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// To another decision of the same tree.
    Node(usize),
    /// To a leaf of the same tree.
    Leaf(usize),
}

/// The rule of a decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Split {
    /// Left where the input is low enough.
    Numeric(Numeric),
    /// Left where the input is of the set. What names no category is of no set.
    Categorical(Set),
}

/// A comparison with a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numeric {
    /// The highest input that goes left; infinite where only missing ones go right.
    pub threshold: f64,
    /// What counts as missing.
    pub missing: Missing,
    /// Whether what is missing goes left.
    pub default_left: bool,
}

/// What counts as missing in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Missing {
    /// Nothing does; an input that is no number is taken as 0.
    None,
    /// Nought does, and so does what is no number.
    Zero,
    /// What is no number does.
    Nan,
}

/// A set of categories.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Set {
    /// Bits.
    words: Vec<u32>,
    /// Whether an input that is no number is of the set.
    missing: bool,
}

impl Set {
    /// The set of the positions of set bits. What is no number is not of it.
    pub fn of_words(mut words: Vec<u32>) -> Set {
        // Equal sets are equal, however they were padded.
        while words.last() == Some(&0) {
            words.pop();
        }
        Set {
            words,
            missing: false,
        }
    }

    /// The same, and whether what is no number is of it.
    pub fn with_missing(self, missing: bool) -> Set {
        Set { missing, ..self }
    }

    /// Whether it holds a category.
    pub fn holds(&self, category: usize) -> bool {
        self.words
            .get(category / 32)
            .is_some_and(|word| word >> (category % 32) & 1 == 1)
    }

    /// Whether what is no number is of it.
    pub fn holds_missing(&self) -> bool {
        self.missing
    }

    /// One more than the highest category that any set of this many words can hold.
    pub fn end(&self) -> usize {
        self.words.len() * 32
    }
}

impl Tree {
    /// The leaf that a row comes to, one decision after the other.
    pub fn leaf(&self, row: &[f64], arithmetic: Arithmetic) -> f64 {
        let mut at = Next::Node(0);
        if self.nodes.is_empty() {
            at = Next::Leaf(0);
        }
        loop {
            match at {
                Next::Leaf(leaf) => return self.leaves[leaf],
                Next::Node(node) => at = self.nodes[node].next(row, arithmetic),
            }
        }
    }
}

impl Node {
    fn next(&self, row: &[f64], arithmetic: Arithmetic) -> Next {
        let input = arithmetic.input(row[self.input]);
        let left = match &self.split {
            Split::Categorical(set) if input.is_nan() => set.holds_missing(),
            Split::Categorical(set) => arithmetic
                .category(input)
                .is_some_and(|category| set.holds(category)),
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
    /// The score of a row as plainly as it can be had: the peer of [`crate::Forest::score`].
    ///
    /// # Panics
    /// Where the row has fewer numbers than the model has inputs.
    pub fn score(&self, row: &[f64]) -> f64 {
        let leaves = self
            .trees
            .iter()
            .map(|tree| tree.leaf(row, self.arithmetic));
        self.arithmetic.sum(leaves)
    }
}
