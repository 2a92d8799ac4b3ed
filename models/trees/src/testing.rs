//! Random models and rows.

use crate::{
    Arithmetic, CategorySet, Child, Ensemble, Missing, Node, Numeric, Split, Transform, Tree,
};
use proptest::prelude::*;

/// Inputs of a random model. The last two are categorical.
pub(crate) const INPUTS: usize = 5;
const NUMERIC: usize = 3;

/// Draws from few numbers, so that inputs often equal thresholds.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => (-4..5).prop_map(f64::from),
        2 => -5.0..5.0,
        2 => prop::sample::select(vec![
            0.0, -0.0, 1e-35, -1e-35, 1.1e-35, f64::MIN_POSITIVE, 1e-300, f64::MAX, f64::MIN, f64::INFINITY,
            f64::NEG_INFINITY, f64::EPSILON, 1e-35_f32 as f64, 2e-35,
        ]),
    ]
}

fn split() -> impl Strategy<Value = (usize, Split)> {
    let missing = prop::sample::select(vec![Missing::None, Missing::Zero, Missing::Nan]);
    let numeric = (0..NUMERIC, number(), missing, any::<bool>()).prop_map(
        |(input, threshold, missing, default_left)| {
            let rule = Numeric {
                threshold,
                missing,
                default_left,
            };
            (input, Split::Numeric(rule))
        },
    );
    let words = prop::collection::vec(any::<u32>(), 0..4);
    let categorical =
        (NUMERIC..INPUTS, words, any::<bool>()).prop_map(|(input, words, missing)| {
            let set = CategorySet::from_words(words).with_missing(missing);
            (input, Split::Categorical(set))
        });
    prop_oneof![3 => numeric, 1 => categorical]
}

/// Grows a tree by splitting its leaves.
fn tree() -> impl Strategy<Value = Tree> {
    let growth = prop::collection::vec((split(), any::<prop::sample::Index>()), 0..24);
    (growth, prop::collection::vec(-10.0..10.0, 25)).prop_map(|(growth, values)| {
        let mut nodes: Vec<Node> = Vec::new();
        let mut leaves = 1;
        for ((input, split), which) in growth {
            let leaf = which.index(leaves);
            let at = Child::Node(nodes.len());
            for node in &mut nodes {
                for next in [&mut node.left, &mut node.right] {
                    if *next == Child::Leaf(leaf) {
                        *next = at;
                    }
                }
            }
            nodes.push(Node {
                input,
                split,
                left: Child::Leaf(leaf),
                right: Child::Leaf(leaves),
            });
            leaves += 1;
        }
        Tree {
            nodes,
            leaves: values[..leaves].to_vec(),
        }
    })
}

/// Draws a model of zero to twenty trees.
pub(crate) fn model() -> impl Strategy<Value = Ensemble> {
    let arithmetic = prop_oneof![
        Just(Arithmetic::LightGbm),
        (-3.0_f32..3.0).prop_map(|base| Arithmetic::XgBoost { base }),
    ];
    (prop::collection::vec(tree(), 0..20), arithmetic).prop_map(|(trees, arithmetic)| Ensemble {
        inputs: (0..INPUTS).map(|input| format!("input_{input}")).collect(),
        trees,
        arithmetic,
        averaged: false,
        transform: Transform::Identity,
        category_names: Vec::new(),
    })
}

/// Draws a row for such a model.
pub(crate) fn row() -> impl Strategy<Value = Vec<f64>> {
    let missing = prop_oneof![4 => number(), 1 => Just(f64::NAN)];
    let category = prop_oneof![
        6 => (0..130).prop_map(f64::from),
        1 => number(),
        1 => prop::sample::select(vec![f64::NAN, -0.5, -1.0, 1e10, 2_147_483_648.0, 5.9]),
    ];
    (
        prop::collection::vec(missing, NUMERIC),
        prop::collection::vec(category, INPUTS - NUMERIC),
    )
        .prop_map(|(mut row, categories)| {
            row.extend(categories);
            row
        })
}
