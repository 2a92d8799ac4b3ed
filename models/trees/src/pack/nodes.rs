//! The nodes of a model, breadth first with siblings side by side.

use super::columns::Columns;
use crate::packed::layout::{LEAF, node};
use crate::packed::walk::{BLOCK, SIDE_BY_SIDE, padding};
use crate::{Child, Ensemble, ModelError, Tree};
use std::collections::VecDeque;

/// Most leaves of a tree. A leaf's number is stored in place of a column.
const MAX_LEAVES: usize = 1 << 16;
/// Most nodes of a model.
const MAX_NODES: usize = 1 << 22;

/// The layout of a model's trees.
pub(super) struct NodeLayout {
    /// Steps to the deepest leaf of all trees.
    pub(super) deepest: usize,
    /// Roots and numbers within a block, padded to be walked side by side.
    pub(super) starts: Vec<u64>,
    /// The first leaf of each tree.
    pub(super) firsts: Vec<u64>,
    /// Nodes, a power of two in number.
    pub(super) nodes: Vec<u64>,
    /// Values of the leaves, tree by tree.
    pub(super) leaves: Vec<u64>,
}

pub(super) fn lay_out(model: &Ensemble, columns: &Columns<'_>) -> Result<NodeLayout, ModelError> {
    let mut nodes = Vec::new();
    let mut leaves = Vec::new();
    let mut starts = Vec::with_capacity(model.trees.len() + SIDE_BY_SIDE);
    let mut firsts = Vec::with_capacity(model.trees.len());
    let mut deepest = 0;
    let too_many = |place: String, what, found, limit| ModelError::TooMany {
        place,
        what,
        found,
        limit,
    };
    for (number, tree) in model.trees.iter().enumerate() {
        let count = tree.leaves.len();
        if count > MAX_LEAVES {
            return Err(too_many(
                format!("tree {number}"),
                "leaves",
                count,
                MAX_LEAVES,
            ));
        }
        starts.push(nodes.len() as u64 | ((number % BLOCK) as u64) << 32);
        firsts.push(leaves.len() as u64);
        deepest = deepest.max(add(tree, columns, &mut nodes));
        leaves.extend(tree.leaves.iter().map(|value| value.to_bits()));
        if nodes.len() > MAX_NODES {
            return Err(too_many(
                "the model".to_owned(),
                "nodes",
                nodes.len(),
                MAX_NODES,
            ));
        }
    }
    // One node more holds the padding leaf.
    let end = (nodes.len() + 1).next_power_of_two();
    nodes.resize(end, node(end - 1, 0, usize::from(LEAF)));
    let filled = starts.len().next_multiple_of(SIDE_BY_SIDE);
    starts.resize(filled, padding(end));
    Ok(NodeLayout {
        deepest,
        starts,
        firsts,
        nodes,
        leaves,
    })
}

/// Adds a tree's nodes, and returns the steps to its deepest leaf.
fn add(tree: &Tree, columns: &Columns<'_>, nodes: &mut Vec<u64>) -> usize {
    let root = if tree.nodes.is_empty() {
        Child::Leaf(0)
    } else {
        Child::Node(0)
    };
    let mut open = VecDeque::from([(root, nodes.len(), 0)]);
    nodes.push(0);
    let mut deepest = 0;
    while let Some((next, at, depth)) = open.pop_front() {
        deepest = deepest.max(depth);
        nodes[at] = match next {
            Child::Leaf(leaf) => node(at, leaf, usize::from(LEAF)),
            Child::Node(number) => {
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
