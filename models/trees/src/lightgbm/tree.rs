//! A tree of a text model.

use super::lines::Lines;
use crate::{CategorySet, Child, Missing, ModelError, Node, Numeric, Split, Tree};

/// Bits of a decision type.
const CATEGORICAL: u8 = 1;
const DEFAULT_LEFT: u8 = 2;
const MISSING: u8 = 12;
const KNOWN: u8 = CATEGORICAL | DEFAULT_LEFT | MISSING;

/// Reads a tree of a model with this many inputs.
pub(super) fn read(lines: &Lines<'_>, inputs: usize) -> Result<Tree, ModelError> {
    if lines.one_or::<u8>("is_linear", 0)? != 0 {
        return Err(ModelError::Unsupported {
            place: lines.place(),
            what: "its leaves are linear models".to_owned(),
            instead: "train with linear_tree=false",
        });
    }
    let leaves: usize = lines.one("num_leaves")?;
    let count = leaves
        .checked_sub(1)
        .ok_or_else(|| invalid(lines, "it has no leaf".to_owned()))?;
    let values: Vec<f64> = lines.list("leaf_value", leaves)?;
    if let Some(leaf) = values.iter().position(|value| !value.is_finite()) {
        let problem = format!("the value of leaf {leaf} is not finite");
        return Err(invalid(lines, problem));
    }
    if count == 0 {
        return Ok(Tree {
            nodes: Vec::new(),
            leaves: values,
        });
    }
    let lists = NodeLists::read(lines, count)?;
    let nodes = (0..count)
        .map(|at| lists.node(at, inputs))
        .collect::<Result<Vec<Node>, ModelError>>()?;
    let tree = Tree {
        nodes,
        leaves: values,
    };
    check_reachability(&tree).map_err(|problem| invalid(lines, problem))?;
    Ok(tree)
}

fn invalid(lines: &Lines<'_>, problem: String) -> ModelError {
    ModelError::InvalidTree {
        place: lines.place(),
        problem,
    }
}

/// The lists that describe the nodes, with one value for each node.
struct NodeLists<'l, 'a> {
    lines: &'l Lines<'a>,
    features: Vec<usize>,
    thresholds: Vec<f64>,
    decisions: Vec<u8>,
    left: Vec<i64>,
    right: Vec<i64>,
    sets: Vec<CategorySet>,
}

impl<'l, 'a> NodeLists<'l, 'a> {
    fn read(lines: &'l Lines<'a>, count: usize) -> Result<NodeLists<'l, 'a>, ModelError> {
        Ok(NodeLists {
            lines,
            features: lines.list("split_feature", count)?,
            thresholds: lines.list("threshold", count)?,
            decisions: lines.list("decision_type", count)?,
            left: lines.list("left_child", count)?,
            right: lines.list("right_child", count)?,
            sets: sets(lines)?,
        })
    }

    fn invalid(&self, problem: String) -> ModelError {
        invalid(self.lines, problem)
    }

    fn unsupported_error(&self, what: String) -> ModelError {
        ModelError::Unsupported {
            place: self.lines.place(),
            what,
            instead: "save it with LightGBM 3 or 4",
        }
    }

    fn node(&self, at: usize, inputs: usize) -> Result<Node, ModelError> {
        let input = self.features[at];
        if input >= inputs {
            return Err(self.invalid(format!(
                "node {at} uses input {input}; the model has {inputs}"
            )));
        }
        Ok(Node {
            input,
            split: self.split(at)?,
            left: self.child(at, self.left[at])?,
            right: self.child(at, self.right[at])?,
        })
    }

    fn split(&self, at: usize) -> Result<Split, ModelError> {
        let decision = self.decisions[at];
        if decision & !KNOWN != 0 {
            return Err(self.unsupported_error(format!(
                "node {at} has the decision type {decision} with unknown bits"
            )));
        }
        let threshold = self.thresholds[at];
        if decision & CATEGORICAL != 0 {
            let set = (threshold >= 0.0 && threshold.fract() == 0.0)
                .then(|| self.sets.get(threshold as usize))
                .flatten();
            let none = || {
                self.invalid(format!(
                    "node {at} names the set {threshold}, which does not exist"
                ))
            };
            return Ok(Split::Categorical(set.cloned().ok_or_else(none)?));
        }
        if threshold.is_nan() {
            return Err(self.invalid(format!("the threshold of node {at} is not a number")));
        }
        let missing = match decision & MISSING {
            0 => Missing::None,
            4 => Missing::Zero,
            8 => Missing::Nan,
            _ => {
                return Err(self.unsupported_error(format!(
                    "node {at} has an unknown rule for missing values"
                )));
            }
        };
        Ok(Split::Numeric(Numeric {
            threshold,
            missing,
            default_left: decision & DEFAULT_LEFT != 0,
        }))
    }

    fn child(&self, at: usize, child: i64) -> Result<Child, ModelError> {
        let nodes = self.features.len();
        match usize::try_from(child) {
            Ok(node) if node < nodes => Ok(Child::Node(node)),
            Ok(node) => Err(self.invalid(format!(
                "node {at} leads to node {node}, which does not exist"
            ))),
            // The format writes a leaf as the complement of its number. A tree has one leaf more
            // than nodes.
            Err(_) => match usize::try_from(!child) {
                Ok(leaf) if leaf <= nodes => Ok(Child::Leaf(leaf)),
                _ => Err(self.invalid(format!("node {at} leads to a leaf that does not exist"))),
            },
        }
    }
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
