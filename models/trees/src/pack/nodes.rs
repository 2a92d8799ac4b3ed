//! Nodes breadth first, siblings side by side.

use super::columns::Columns;
use crate::packed::walk::{BLOCK, SIDE_BY_SIDE, filler};
use crate::packed::{LEAF, node};
use crate::{Ensemble, Next, Refused, Tree};
use std::collections::VecDeque;

/// Leaves of a tree: a leaf's number stands where a node has its column.
const MOST_LEAVES: usize = 1 << 16;
/// Nodes of a model, by what the layout numbers.
const MOST_NODES: usize = 1 << 22;

/// The trees, laid out.
pub(super) struct Laid {
    /// Steps to the farthest leaf of all.
    pub(super) deepest: usize,
    /// Roots and numbers within a block, filled up to be walked side by side.
    pub(super) starts: Vec<u64>,
    /// The first leaf of each tree.
    pub(super) firsts: Vec<u64>,
    /// As many as a power of two.
    pub(super) nodes: Vec<u64>,
    /// Values, tree after tree.
    pub(super) leaves: Vec<u64>,
}

pub(super) fn lay(model: &Ensemble, columns: &Columns<'_>) -> Result<Laid, Refused> {
    let mut nodes = Vec::new();
    let mut leaves = Vec::new();
    let mut starts = Vec::with_capacity(model.trees.len() + SIDE_BY_SIDE);
    let mut firsts = Vec::with_capacity(model.trees.len());
    let mut deepest = 0;
    let too_many = |place: String, what, found, limit| Refused::TooMany {
        place,
        what,
        found,
        limit,
    };
    for (number, tree) in model.trees.iter().enumerate() {
        let count = tree.leaves.len();
        if count > MOST_LEAVES {
            return Err(too_many(
                format!("tree {number}"),
                "leaves",
                count,
                MOST_LEAVES,
            ));
        }
        starts.push(nodes.len() as u64 | ((number % BLOCK) as u64) << 32);
        firsts.push(leaves.len() as u64);
        deepest = deepest.max(add(tree, columns, &mut nodes));
        leaves.extend(tree.leaves.iter().map(|value| value.to_bits()));
        if nodes.len() > MOST_NODES {
            return Err(too_many(
                "the model".to_owned(),
                "nodes",
                nodes.len(),
                MOST_NODES,
            ));
        }
    }
    // One is over, for the leaf that fills up.
    let end = (nodes.len() + 1).next_power_of_two();
    nodes.resize(end, node(end - 1, 0, usize::from(LEAF)));
    let filled = starts.len().next_multiple_of(SIDE_BY_SIDE);
    starts.resize(filled, filler(end));
    Ok(Laid {
        deepest,
        starts,
        firsts,
        nodes,
        leaves,
    })
}

/// Adds a tree's nodes and says how many steps it takes to the farthest leaf.
fn add(tree: &Tree, columns: &Columns<'_>, nodes: &mut Vec<u64>) -> usize {
    let root = if tree.nodes.is_empty() {
        Next::Leaf(0)
    } else {
        Next::Node(0)
    };
    let mut open = VecDeque::from([(root, nodes.len(), 0)]);
    nodes.push(0);
    let mut deepest = 0;
    while let Some((next, at, depth)) = open.pop_front() {
        deepest = deepest.max(depth);
        nodes[at] = match next {
            Next::Leaf(leaf) => node(at, leaf, usize::from(LEAF)),
            Next::Node(number) => {
                let inner = &tree.nodes[number];
                let (column, threshold) = columns.split(inner);
                let left = nodes.len();
                nodes.extend([0, 0]);
                open.push_back((inner.left, left, depth + 1));
                open.push_back((inner.right, left + 1, depth + 1));
                node(left, column, threshold)
            }
        };
    }
    deepest
}
