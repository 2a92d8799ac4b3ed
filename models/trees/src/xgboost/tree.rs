//! A tree of a JSON model.

use super::header::{ONE_ANSWER, unsupported_error};
use super::single_precision::Single;
use crate::{CategorySet, Child, Missing, ModelError, Node, Numeric, Split, Tree};
use serde::Deserialize;

/// Most words of 32 categories in all sets of a model.
pub(super) const MAX_SET_WORDS: usize = 8 << 20;
/// Categories that single precision can distinguish.
const MAX_CATEGORIES: usize = 1 << 24;

/// A tree in JSON: a list for each property, with a value for each node.
#[derive(Deserialize)]
struct TreeJson {
    left_children: Vec<i64>,
    right_children: Vec<i64>,
    split_indices: Vec<usize>,
    /// Thresholds of nodes and values of leaves.
    split_conditions: Vec<Single>,
    default_left: Vec<Flag>,
    /// 1 for a node with a set.
    split_type: Vec<Flag>,
    /// The sets of nodes that have one, in sequence. Their categories go right.
    categories: Vec<usize>,
    categories_nodes: Vec<usize>,
    categories_segments: Vec<usize>,
    categories_sizes: Vec<usize>,
    tree_param: Parameters,
}

#[derive(Deserialize)]
struct Parameters {
    num_deleted: Option<String>,
    size_leaf_vector: Option<String>,
}

/// A number that is 0 or 1.
#[derive(Clone, Copy, Deserialize)]
struct Flag(u8);

impl Flag {
    fn set(self) -> Result<bool, String> {
        match self.0 {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(format!("{other} found where 0 or 1 is expected")),
        }
    }
}

/// Reads a tree. `words` counts down the words of 32 categories left for its sets.
pub(super) fn read(
    place: &str,
    text: &str,
    inputs: usize,
    words: &mut usize,
) -> Result<Tree, ModelError> {
    let wrong = |problem: String| ModelError::InvalidTree {
        place: place.to_owned(),
        problem,
    };
    let json: TreeJson = serde_json::from_str(text).map_err(|why| wrong(why.to_string()))?;
    if let Some(size) = &json.tree_param.size_leaf_vector
        && size != "0"
        && size != "1"
    {
        return Err(unsupported_error(
            place,
            "its leaves are vectors".to_owned(),
            ONE_ANSWER,
        ));
    }
    json.check_lengths(place)?;
    let sets = json.sets(place, words)?;
    json.build_tree(inputs, sets).map_err(wrong)
}

impl TreeJson {
    /// Checks that every list has a value for each node.
    fn check_lengths(&self, place: &str) -> Result<(), ModelError> {
        let nodes = self.left_children.len();
        let lists = [
            ("right_children", self.right_children.len()),
            ("split_indices", self.split_indices.len()),
            ("split_conditions", self.split_conditions.len()),
            ("default_left", self.default_left.len()),
            ("split_type", self.split_type.len()),
        ];
        match lists.into_iter().find(|(_, found)| *found != nodes) {
            None => Ok(()),
            Some((name, found)) => Err(ModelError::WrongCount {
                place: place.to_owned(),
                name,
                found,
                needed: nodes,
            }),
        }
    }

    /// Reads the set of each node that has one.
    fn sets(&self, place: &str, words: &mut usize) -> Result<Vec<Option<CategorySet>>, ModelError> {
        let wrong = |problem: String| ModelError::InvalidTree {
            place: place.to_owned(),
            problem,
        };
        let lists = [
            ("categories_segments", self.categories_segments.len()),
            ("categories_sizes", self.categories_sizes.len()),
        ];
        let needed = self.categories_nodes.len();
        if let Some((name, found)) = lists.into_iter().find(|(_, found)| *found != needed) {
            return Err(ModelError::WrongCount {
                place: place.to_owned(),
                name,
                found,
                needed,
            });
        }
        let mut sets = vec![None; self.left_children.len()];
        for ((node, start), size) in self
            .categories_nodes
            .iter()
            .zip(&self.categories_segments)
            .zip(&self.categories_sizes)
        {
            let of = self.categories.get(*start..start.saturating_add(*size));
            let of =
                of.ok_or_else(|| wrong(format!("the categories of node {node} are incomplete")))?;
            let last = of.iter().max().copied().unwrap_or(0);
            if last >= MAX_CATEGORIES {
                return Err(wrong(format!(
                    "node {node} names the category {last}; XGBoost knows those below {MAX_CATEGORIES}"
                )));
            }
            let count = last / 32 + 1;
            *words = words
                .checked_sub(count)
                .ok_or_else(|| ModelError::TooMany {
                    place: "the model".to_owned(),
                    what: "categories in its sets, as bits",
                    found: 32 * (MAX_SET_WORDS - *words + count),
                    limit: 32 * MAX_SET_WORDS,
                })?;
            let mut bits = vec![0_u32; count];
            for category in of {
                bits[category / 32] |= 1 << (category % 32);
            }
            let slot = sets
                .get_mut(*node)
                .ok_or_else(|| wrong(format!("node {node} has categories and does not exist")))?;
            if slot.replace(CategorySet::from_words(bits)).is_some() {
                return Err(wrong(format!("node {node} has its categories twice")));
            }
        }
        Ok(sets)
    }

    /// Builds the tree of the nodes reachable from the root, numbered in the order of the walk.
    fn build_tree(
        &self,
        inputs: usize,
        mut sets: Vec<Option<CategorySet>>,
    ) -> Result<Tree, String> {
        let all = self.left_children.len();
        let mut tree = Tree {
            nodes: Vec::new(),
            leaves: Vec::new(),
        };
        // Nodes to visit, each with the parent's slot: left or right.
        let mut open = vec![(0, None)];
        let mut seen = vec![false; all];
        while let Some((at, from)) = open.pop() {
            match seen.get_mut(at) {
                None => return Err(format!("a node leads to node {at}, which does not exist")),
                Some(seen) if *seen => return Err(format!("node {at} is reached twice")),
                Some(seen) => *seen = true,
            }
            let next = if self.left_children[at] == -1 {
                tree.leaves.push(f64::from(self.number(at)?));
                Child::Leaf(tree.leaves.len() - 1)
            } else {
                let (node, left, right) = self.node(at, inputs, sets[at].take())?;
                let number = tree.nodes.len();
                tree.nodes.push(node);
                open.extend([(right, Some((number, false))), (left, Some((number, true)))]);
                Child::Node(number)
            };
            if let Some((parent, left)) = from {
                let parent = &mut tree.nodes[parent];
                *(if left {
                    &mut parent.left
                } else {
                    &mut parent.right
                }) = next;
            }
        }
        let met = tree.nodes.len() + tree.leaves.len();
        let deleted = self.tree_param.num_deleted.as_deref().unwrap_or("0");
        if deleted.parse() != Ok(all - met) {
            return Err(format!(
                "{} of its nodes are never reached, and num_deleted is {}",
                all - met,
                super::single_precision::excerpt(deleted)
            ));
        }
        Ok(tree)
    }

    /// Returns the threshold of a node or the value of a leaf.
    fn number(&self, at: usize) -> Result<f32, String> {
        self.split_conditions[at]
            .0
            .ok_or_else(|| format!("the threshold or value of node {at} is not finite"))
    }

    /// Returns a decision node with placeholder children, and the numbers of its children.
    fn node(
        &self,
        at: usize,
        inputs: usize,
        set: Option<CategorySet>,
    ) -> Result<(Node, usize, usize), String> {
        let input = self.split_indices[at];
        if input >= inputs {
            return Err(format!(
                "node {at} uses input {input}; the model has {inputs}"
            ));
        }
        let child = |number: i64| {
            usize::try_from(number)
                .map_err(|_| format!("node {at} leads to node {number}, which does not exist"))
        };
        let (left, right) = (
            child(self.left_children[at])?,
            child(self.right_children[at])?,
        );
        // XGBoost itself takes the node after the left child.
        if left.checked_add(1) != Some(right) {
            return Err(format!(
                "the children of node {at} are {left} and {right}; XGBoost keeps them side by side"
            ));
        }
        let default_left = self.default_left[at].set()?;
        let categorical = self
            .split_type
            .get(at)
            .map_or(Ok(false), |flag| flag.set())?;
        let nowhere = Child::Leaf(0);
        let numeric = |split| Node {
            input,
            split,
            left: nowhere,
            right: nowhere,
        };
        match (categorical, set) {
            (false, None) => {
                let below = self.number(at)?.next_down();
                let split = Split::Numeric(Numeric {
                    threshold: f64::from(below),
                    missing: Missing::Nan,
                    default_left,
                });
                Ok((numeric(split), left, right))
            }
            // Categories of the set go right, so the children are swapped.
            (true, Some(set)) => {
                let split = Split::Categorical(set.with_missing(!default_left));
                Ok((numeric(split), right, left))
            }
            (true, None) => Err(format!("node {at} has no categories")),
            (false, Some(_)) => Err(format!("node {at} has categories and compares numbers")),
        }
    }
}
