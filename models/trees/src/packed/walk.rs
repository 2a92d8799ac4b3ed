//! The walk from a row's columns to the leaf of every tree.
//!
//! A tree's deepest leaf is much deeper than the one that a row reaches. With 127 leaves grown
//! leaf-wise the deepest is some 15 decisions away, and a row's own five. So several trees are
//! walked side by side a few steps at a time, and arrived trees drop out between. The only branch
//! that depends on the row is how many trees go on.

use super::forest::Forest;
use super::layout::{LEAF, high, low};

/// Trees that are walked side by side. Fewer leave the processor waiting for memory. More do not
/// fit into its registers.
pub(crate) const SIDE_BY_SIDE: usize = 8;
/// Trees that are walked to their leaves before others begin. A power of two.
pub(crate) const BLOCK: usize = 512;
/// Steps between checks for arrival.
const STEPS: usize = 4;
/// Least word of a leaf, whose high bits are its threshold.
const LEAST_LEAF: u64 = (LEAF as u64) << 48;

/// Trees under way. The buffers are reused between rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Walks {
    /// Trees of this turn and of the next: the node (low half) and the number in the block (high
    /// half).
    open: [Vec<u64>; 2],
    /// Leaf of each tree of the block. Twice as long, to hold padding.
    arrived: Vec<u16>,
    /// Values of leaves, in the order of the trees.
    pub(super) values: Vec<f64>,
}

/// Returns the padding of a turn: a leaf at the end of the nodes, of no tree.
pub(crate) fn padding(nodes: usize) -> u64 {
    (nodes as u64).wrapping_sub(1) | (BLOCK as u64) << 32
}

impl Forest<'_> {
    /// Walks every tree and stores the values of its leaf.
    pub(super) fn walk(&self, columns: &[u16], walks: &mut Walks) {
        let Walks {
            open: [one, other],
            arrived,
            values,
        } = walks;
        one.resize(BLOCK, 0);
        other.resize(BLOCK, 0);
        arrived.resize(2 * BLOCK, 0);
        values.clear();
        let (Some(mut one), Some(mut other), Some(arrived)) = (
            one.first_chunk_mut(),
            other.first_chunk_mut(),
            arrived.first_chunk_mut(),
        ) else {
            return;
        };
        for (starts, firsts) in self.starts.chunks(BLOCK).zip(self.firsts.chunks(BLOCK)) {
            let mut left = step_trees(self.nodes, columns, starts, one, arrived);
            let mut taken = STEPS;
            while left > 0 && taken < self.deepest {
                left = step_trees(self.nodes, columns, &one[..left.min(BLOCK)], other, arrived);
                (one, other) = (other, one);
                taken += STEPS;
            }
            let leaves = firsts.iter().zip(arrived.iter());
            values.extend(leaves.map(|(first, leaf)| {
                f64::from_bits(self.leaves[low(*first) + usize::from(*leaf)])
            }));
        }
    }
}

/// Takes a few steps in each tree. Writes each tree's leaf to `arrived`, and the trees that go on
/// to `on`. Returns their number with padding.
fn step_trees(
    nodes: &[u64],
    columns: &[u16],
    trees: &[u64],
    on: &mut [u64; BLOCK],
    arrived: &mut [u16; 2 * BLOCK],
) -> usize {
    if nodes.is_empty() || columns.is_empty() {
        return 0;
    }
    // Both lengths are powers of two, so a mask keeps every index in bounds.
    let (last_node, last_column) = (nodes.len() - 1, columns.len() - 1);
    let mut count = 0;
    for lanes in trees.as_chunks::<SIDE_BY_SIDE>().0 {
        let mut at = lanes.map(low);
        for _ in 0..STEPS {
            for at in &mut at {
                let node = nodes[*at & last_node];
                let column = columns[usize::from((node >> 32) as u16) & last_column];
                *at = low(node).wrapping_add(usize::from(column > (node >> 48) as u16));
            }
        }
        for (at, tree) in at.into_iter().zip(lanes) {
            let node = nodes[at & last_node];
            arrived[high(*tree) & (2 * BLOCK - 1)] = (node >> 32) as u16;
            on[count & (BLOCK - 1)] = at as u64 | tree & !0xFFFF_FFFF;
            count += usize::from(node < LEAST_LEAF);
        }
    }
    while count % SIDE_BY_SIDE != 0 {
        on[count & (BLOCK - 1)] = padding(nodes.len());
        count += 1;
    }
    count
}
