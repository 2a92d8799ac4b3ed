//! Nodes breadth first, siblings side by side, trees of like depth in one group.

use super::columns::Columns;
use crate::packed::{LEAF, SIDE_BY_SIDE, node};
use crate::{Ensemble, Next, Refused, Tree};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// Leaves of a tree: a leaf's number stands where a node has its column.
const MOST_LEAVES: usize = 1 << 16;
/// Nodes of a model, by what the layout numbers.
const MOST_NODES: usize = 1 << 22;

/// The trees, laid out.
pub(super) struct Laid {
    /// Steps that each group needs.
    pub(super) steps: Vec<u64>,
    /// Of each tree, in the order of walking: where its root and its leaves are, and its own number.
    pub(super) trees: Vec<u64>,
    /// As many as a power of two.
    pub(super) nodes: Vec<u64>,
    /// Values, tree after tree.
    pub(super) leaves: Vec<u64>,
}

struct Placed {
    number: usize,
    root: usize,
    leaves: usize,
    depth: usize,
}

pub(super) fn lay(model: &Ensemble, columns: &Columns<'_>) -> Result<Laid, Refused> {
    let mut nodes = Vec::new();
    let mut leaves = Vec::new();
    let mut placed = Vec::with_capacity(model.trees.len());
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
        placed.push(Placed {
            number,
            root: nodes.len(),
            leaves: leaves.len(),
            depth: add(tree, columns, &mut nodes),
        });
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
    // Walked side by side, a shallow tree waits for the deepest of its group.
    placed.sort_by_key(|tree| (Reverse(tree.depth), tree.number));
    let groups = placed.chunks(SIDE_BY_SIDE);
    let steps = groups.clone().map(|group| group[0].depth as u64).collect();
    // The last group is filled with its last tree, which says the same again.
    let trees = groups
        .flat_map(|group| {
            let last = group.len() - 1;
            (0..SIDE_BY_SIDE).map(move |at| &group[at.min(last)])
        })
        .flat_map(|tree| {
            [
                tree.root as u64 | (tree.leaves as u64) << 32,
                tree.number as u64,
            ]
        })
        .collect();
    let end = nodes.len().next_power_of_two();
    nodes.resize(end, 0);
    Ok(Laid {
        steps,
        trees,
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
