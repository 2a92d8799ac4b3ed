//! One tree.

use super::header::{ONE_ANSWER, unsupported};
use super::single::Single;
use crate::{Missing, Next, Node, Numeric, Refused, Set, Split, Tree};
use serde::Deserialize;

/// Categories that single precision tells apart.
const MOST_CATEGORIES: usize = 1 << 24;

/// A tree as it is written: a list a property, a value a node.
#[derive(Deserialize)]
struct Written {
    left_children: Vec<i64>,
    right_children: Vec<i64>,
    split_indices: Vec<usize>,
    /// Thresholds, and values of leaves.
    split_conditions: Vec<Single>,
    default_left: Vec<Flag>,
    /// 1 where a node has a set.
    split_type: Vec<Flag>,
    /// The sets, one after the other, of the nodes that have one: what goes right.
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

/// Yes or no.
#[derive(Clone, Copy, Deserialize)]
struct Flag(u8);

impl Flag {
    fn set(self) -> Result<bool, String> {
        match self.0 {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(format!("{other} stands where 0 or 1 is expected")),
        }
    }
}

/// Reads a tree. `words` is how many words of 32 categories its sets may yet take.
pub(super) fn read(
    place: &str,
    text: &str,
    inputs: usize,
    words: &mut usize,
) -> Result<Tree, Refused> {
    let wrong = |problem: String| Refused::NoTree {
        place: place.to_owned(),
        problem,
    };
    let written: Written = serde_json::from_str(text).map_err(|why| wrong(why.to_string()))?;
    if let Some(size) = &written.tree_param.size_leaf_vector
        && size != "0"
        && size != "1"
    {
        return Err(unsupported(
            place,
            "its leaves are vectors".to_owned(),
            ONE_ANSWER,
        ));
    }
    written.counted(place)?;
    let sets = written.sets(place, words)?;
    written.grown(inputs, sets).map_err(wrong)
}

impl Written {
    /// Every list has a value for each node.
    fn counted(&self, place: &str) -> Result<(), Refused> {
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
            Some((name, found)) => Err(Refused::WrongCount {
                place: place.to_owned(),
                name,
                found,
                needed: nodes,
            }),
        }
    }

    /// The set of each node that has one.
    fn sets(&self, place: &str, words: &mut usize) -> Result<Vec<Option<Set>>, Refused> {
        let wrong = |problem: String| Refused::NoTree {
            place: place.to_owned(),
            problem,
        };
        let lists = [
            ("categories_segments", self.categories_segments.len()),
            ("categories_sizes", self.categories_sizes.len()),
        ];
        let needed = self.categories_nodes.len();
        if let Some((name, found)) = lists.into_iter().find(|(_, found)| *found != needed) {
            return Err(Refused::WrongCount {
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
            let of = of
                .ok_or_else(|| wrong(format!("the categories of node {node} are not all there")))?;
            let last = of.iter().max().copied().unwrap_or(0);
            if last >= MOST_CATEGORIES {
                return Err(wrong(format!(
                    "node {node} names the category {last}; XGBoost knows those below {MOST_CATEGORIES}"
                )));
            }
            let count = last / 32 + 1;
            *words = words.checked_sub(count).ok_or_else(|| Refused::TooMany {
                place: "the model".to_owned(),
                what: "categories in its sets, as bits",
                found: 32 * (super::MOST_SET_WORDS - *words + count),
                limit: 32 * super::MOST_SET_WORDS,
            })?;
            let mut bits = vec![0_u32; count];
            for category in of {
                bits[category / 32] |= 1 << (category % 32);
            }
            let slot = sets
                .get_mut(*node)
                .ok_or_else(|| wrong(format!("node {node} has categories and is not there")))?;
            if slot.replace(Set::of_words(bits)).is_some() {
                return Err(wrong(format!("node {node} has its categories twice")));
            }
        }
        Ok(sets)
    }

    /// The nodes and leaves that are reached from the root, renumbered as they are met.
    fn grown(&self, inputs: usize, mut sets: Vec<Option<Set>>) -> Result<Tree, String> {
        let all = self.left_children.len();
        let mut tree = Tree {
            nodes: Vec::new(),
            leaves: Vec::new(),
        };
        // Numbers of nodes to look at, with the slot that leads to each: a node's left or right.
        let mut open = vec![(0, None)];
        let mut seen = vec![false; all];
        while let Some((at, from)) = open.pop() {
            match seen.get_mut(at) {
                None => return Err(format!("a node leads to node {at}, which is not there")),
                Some(seen) if *seen => return Err(format!("node {at} is reached twice")),
                Some(seen) => *seen = true,
            }
            let next = if self.left_children[at] == -1 {
                tree.leaves.push(f64::from(self.number(at)?));
                Next::Leaf(tree.leaves.len() - 1)
            } else {
                let (node, left, right) = self.node(at, inputs, sets[at].take())?;
                let number = tree.nodes.len();
                tree.nodes.push(node);
                open.extend([(right, Some((number, false))), (left, Some((number, true)))]);
                Next::Node(number)
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
                super::single::shown(deleted)
            ));
        }
        Ok(tree)
    }

    /// The threshold or value of a node.
    fn number(&self, at: usize) -> Result<f32, String> {
        self.split_conditions[at]
            .0
            .ok_or_else(|| format!("the threshold or value of node {at} is not finite"))
    }

    /// A decision, which leads nowhere yet, and the nodes to the left and right of it.
    fn node(
        &self,
        at: usize,
        inputs: usize,
        set: Option<Set>,
    ) -> Result<(Node, usize, usize), String> {
        let input = self.split_indices[at];
        if input >= inputs {
            return Err(format!(
                "node {at} asks for input {input}, and there are {inputs}"
            ));
        }
        let child = |number: i64| {
            usize::try_from(number)
                .map_err(|_| format!("node {at} leads to node {number}, which is not there"))
        };
        let (left, right) = (
            child(self.left_children[at])?,
            child(self.right_children[at])?,
        );
        // XGBoost itself takes the one after the left.
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
        let nowhere = Next::Leaf(0);
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
            // What is of the set goes right, so that the sides change places.
            (true, Some(set)) => {
                let split = Split::Categorical(set.with_missing(!default_left));
                Ok((numeric(split), right, left))
            }
            (true, None) => Err(format!("node {at} has no categories")),
            (false, Some(_)) => Err(format!("node {at} has categories and compares numbers")),
        }
    }
}
