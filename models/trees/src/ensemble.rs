//! Trees as they were trained, and the plain way of scoring with them.

use crate::Transform;

/// LightGBM's nought: as it reads a row, what is no further from 0 than this is 0.
pub(crate) const ZERO: f64 = 1e-35_f32 as f64;

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

/// How inputs are compared and leaves are summed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arithmetic {
    /// LightGBM's: double precision, left where the input is at most the threshold, and an input within
    /// 1e-35 of nought is nought.
    LightGbm,
}

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
    /// Left where the input is of the set. An input that is negative or missing is of no set.
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

/// A set of categories, as bits of words of 32.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Set(Vec<u32>);

impl Set {
    /// The set of the positions of set bits.
    pub fn of_words(mut words: Vec<u32>) -> Set {
        // Equal sets are equal, however they were padded.
        while words.last() == Some(&0) {
            words.pop();
        }
        Set(words)
    }

    /// Whether it holds a category.
    pub fn holds(&self, category: usize) -> bool {
        self.0
            .get(category / 32)
            .is_some_and(|word| word >> (category % 32) & 1 == 1)
    }

    /// One more than the highest category that any set of this many words can hold.
    pub fn end(&self) -> usize {
        self.0.len() * 32
    }
}

/// The category that an input names; none where it is negative, too large or no number.
pub(crate) fn category(input: f64) -> Option<usize> {
    // As C truncates: -0.5 is 0. Beyond 32 bits its conversion gives the least integer.
    (input > -1.0 && input < 2_147_483_648.0).then_some(input as usize)
}

impl Tree {
    /// The leaf that a row comes to, one decision after the other.
    pub fn leaf(&self, row: &[f64]) -> f64 {
        let mut at = Next::Node(0);
        if self.nodes.is_empty() {
            at = Next::Leaf(0);
        }
        loop {
            match at {
                Next::Leaf(leaf) => return self.leaves[leaf],
                Next::Node(node) => at = self.nodes[node].next(row),
            }
        }
    }
}

impl Node {
    fn next(&self, row: &[f64]) -> Next {
        let input = row[self.input];
        let input = if input.abs() <= ZERO { 0.0 } else { input };
        let left = match &self.split {
            Split::Categorical(set) => category(input).is_some_and(|category| set.holds(category)),
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
        self.trees
            .iter()
            .fold(0.0, |sum, tree| sum + tree.leaf(row))
    }
}
