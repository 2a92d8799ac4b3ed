//! A tree of a text model.

use super::lines::Lines;
use crate::{CategorySet, Child, Missing, ModelError, Node, Numeric, Split, Tree};

/// Bits of a decision type.
const CATEGORICAL: u8 = 1;
const DEFAULT_LEFT: u8 = 2;
const MISSING: u8 = 12;
const KNOWN: u8 = CATEGORICAL | DEFAULT_LEFT | MISSING;

pub(super) fn read(lines: &Lines<'_>, inputs: usize) -> Result<Tree, ModelError> {
    if lines.one_or::<u8>("is_linear", 0)? != 0 {
        return Err(ModelError::Unsupported {
            place: lines.place(),
            what: "its leaves are linear models".to_owned(),
            instead: "train with linear_tree=false",
        });
    }
    let leaves: usize = lines.one("num_leaves")?;
    let wrong = |problem: String| ModelError::InvalidTree {
        place: lines.place(),
        problem,
    };
    let count = leaves
        .checked_sub(1)
        .ok_or_else(|| wrong("it has no leaf".to_owned()))?;
    let values: Vec<f64> = lines.list("leaf_value", leaves)?;
    if let Some(leaf) = values.iter().position(|value| !value.is_finite()) {
        return Err(wrong(format!("the value of leaf {leaf} is not finite")));
    }
    if count == 0 {
        return Ok(Tree {
            nodes: Vec::new(),
            leaves: values,
        });
    }
    let features: Vec<usize> = lines.list("split_feature", count)?;
    let thresholds: Vec<f64> = lines.list("threshold", count)?;
    let decisions: Vec<u8> = lines.list("decision_type", count)?;
    let left: Vec<i64> = lines.list("left_child", count)?;
    let right: Vec<i64> = lines.list("right_child", count)?;
    let sets = sets(lines)?;

    let mut nodes = Vec::with_capacity(count);
    for at in 0..count {
        let input = features[at];
        if input >= inputs {
            return Err(wrong(format!(
                "node {at} uses input {input}; the model has {inputs}"
            )));
        }
        let decision = decisions[at];
        if decision & !KNOWN != 0 {
            return Err(ModelError::Unsupported {
                place: lines.place(),
                what: format!(
                    "node {at} has the decision type {decision}, of which bits are unknown"
                ),
                instead: "save it with LightGBM 3 or 4",
            });
        }
        let threshold = thresholds[at];
        let split = if decision & CATEGORICAL != 0 {
            let set = (threshold >= 0.0 && threshold.fract() == 0.0)
                .then(|| sets.get(threshold as usize))
                .flatten();
            let none = || {
                wrong(format!(
                    "node {at} names the set {threshold}, which does not exist"
                ))
            };
            Split::Categorical(set.cloned().ok_or_else(none)?)
        } else {
            if threshold.is_nan() {
                return Err(wrong(format!("the threshold of node {at} is not a number")));
            }
            let missing = match decision & MISSING {
                0 => Missing::None,
                4 => Missing::Zero,
                8 => Missing::Nan,
                _ => {
                    return Err(ModelError::Unsupported {
                        place: lines.place(),
                        what: format!("node {at} has an unknown rule for missing values"),
                        instead: "save it with LightGBM 3 or 4",
                    });
                }
            };
            Split::Numeric(Numeric {
                threshold,
                missing,
                default_left: decision & DEFAULT_LEFT != 0,
            })
        };
        let next = |child: i64| match usize::try_from(child) {
            Ok(node) if node < count => Ok(Child::Node(node)),
            Ok(node) => Err(wrong(format!(
                "node {at} leads to node {node}, which does not exist"
            ))),
            // The format writes a leaf as the complement of its number.
            Err(_) => match usize::try_from(!child) {
                Ok(leaf) if leaf < leaves => Ok(Child::Leaf(leaf)),
                _ => Err(wrong(format!(
                    "node {at} leads to a leaf that does not exist"
                ))),
            },
        };
        nodes.push(Node {
            input,
            split,
            left: next(left[at])?,
            right: next(right[at])?,
        });
    }
    let tree = Tree {
        nodes,
        leaves: values,
    };
    check_reachability(&tree).map_err(wrong)?;
    Ok(tree)
}

/// Reads the tree's sets of categories.
fn sets(lines: &Lines<'_>) -> Result<Vec<CategorySet>, ModelError> {
    let count: usize = lines.one_or("num_cat", 0)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let bounds: Vec<usize> = lines.list("cat_boundaries", count.saturating_add(1))?;
    let words: Vec<u32> = lines.list("cat_threshold", bounds.last().copied().unwrap_or(0))?;
    bounds
        .windows(2)
        .map(|bounds| {
            let words = words
                .get(bounds[0]..bounds[1])
                .ok_or_else(|| ModelError::InvalidTree {
                    place: lines.place(),
                    problem: "the bounds of its sets of categories do not rise".to_owned(),
                })?;
            Ok(CategorySet::from_words(words.to_vec()))
        })
        .collect()
}

/// Checks that the root reaches every node and leaf exactly once.
fn check_reachability(tree: &Tree) -> Result<(), String> {
    let mut nodes = vec![false; tree.nodes.len()];
    let mut leaves = vec![false; tree.leaves.len()];
    let mut open = vec![0];
    nodes[0] = true;
    while let Some(at) = open.pop() {
        for next in [tree.nodes[at].left, tree.nodes[at].right] {
            let (name, number, seen) = match next {
                Child::Node(node) => {
                    open.push(node);
                    ("node", node, &mut nodes[node])
                }
                Child::Leaf(leaf) => ("leaf", leaf, &mut leaves[leaf]),
            };
            if std::mem::replace(seen, true) {
                return Err(format!("{name} {number} is reached twice"));
            }
        }
    }
    match (
        nodes.iter().position(|seen| !seen),
        leaves.iter().position(|seen| !seen),
    ) {
        (None, None) => Ok(()),
        (Some(node), _) => Err(format!("node {node} is never reached")),
        (_, Some(leaf)) => Err(format!("leaf {leaf} is never reached")),
    }
}
