//! Models that are read and models that are refused.

use super::read;
use crate::{Forest, ModelError, Scratch, Transform, pack};
use proptest::prelude::*;
use serde_json::{Value, json};

const MODEL: &str = include_str!("two_trees.json");

#[track_caller]
fn change(from: &str, to: &str) -> String {
    assert!(MODEL.contains(from), "{from}");
    MODEL.replacen(from, to, 1)
}

#[track_caller]
fn refusal(from: &str, to: &str) -> String {
    read(&change(from, to)).unwrap_err().to_string()
}

#[test]
fn a_small_model_is_read() {
    let model = read(MODEL).unwrap();
    assert_eq!(model.inputs, ["area", "place"]);
    assert_eq!(model.trees.len(), 2);
    let words = pack(&model).unwrap();
    let forest = Forest::read(&words).unwrap();
    // Inputs below a half and NaN go left. Then places 0 and 2 and NaN go right.
    for (row, score) in [
        ([0.5, 1.0], 2.5),
        ([0.49, 1.0], -0.5),
        ([f64::NAN, 1.0], -0.5),
        ([0.0, 2.0], -2.5),
        ([0.0, 2.9], -2.5),
        ([0.0, -0.5], -0.5),
        ([0.0, 1e9], -0.5),
        ([0.0, f64::NAN], -2.5),
        // Single precision rounds this to a half.
        ([0.499_999_999, 1.0], 2.5),
    ] {
        assert_eq!(model.score(&row), score, "{row:?}");
        assert_eq!(
            forest.score(&row, &mut Scratch::default()),
            score,
            "{row:?}"
        );
    }
}

#[test]
fn names_base_score_and_objective_are_as_versions_write_them() {
    let unnamed = read(&change("[\"area\", \"place\"]", "[]")).unwrap();
    assert_eq!(unnamed.inputs, ["f0", "f1"]);
    let older = change("\"[5E-1]\"", "\"5E-1\"").replace("[3, 2, 0]", "[2, 1, 4]");
    assert_eq!(read(&older).unwrap(), read(MODEL).unwrap());
    // Some versions write NaN as the threshold of a set.
    let older = older.replace("[5E-1, 0E0,", "[5E-1, NaN,");
    assert_eq!(read(&older).unwrap(), read(MODEL).unwrap());
    let counts = read(&change("reg:squarederror", "count:poisson")).unwrap();
    assert_eq!(counts.transform, Transform::ExponentialOfSingle);
    let score = counts.score(&[0.5, 1.0]);
    assert_eq!(score, f64::from(0.5_f32.ln() + 4.0 - 2.0));
}

#[test]
fn an_unsupported_model_is_refused_by_name() {
    let cases = [
        (
            "\"name\": \"gbtree\"",
            "\"name\": \"dart\"",
            "its booster is \"dart\"; train with booster=\"gbtree\"",
        ),
        (
            "\"name\": \"gbtree\"",
            "\"name\": \"gblinear\"",
            "its booster is \"gblinear\"",
        ),
        (
            "reg:squarederror",
            "binary:logistic",
            "its objective is \"binary:logistic\"; train a regression",
        ),
        (
            "reg:squarederror",
            "rank:ndcg",
            "its objective is \"rank:ndcg\"",
        ),
        (
            "\"num_class\": \"0\"",
            "\"num_class\": \"3\"",
            "its num_class is 3; a value is one number",
        ),
        (
            "\"num_target\": \"1\"",
            "\"num_target\": \"2\"",
            "its num_target is 2",
        ),
        (
            "\"tree_info\": [0, 0]",
            "\"tree_info\": [0, 1]",
            "a tree is of class or target 1",
        ),
        (
            "\"size_leaf_vector\": \"1\"",
            "\"size_leaf_vector\": \"2\"",
            "tree 0: its leaves are vectors",
        ),
        ("[3, 2, 0]", "[4, 0, 0]", "its version is [4, 0, 0]"),
        (
            "\"num_feature\": \"2\", \"num_target\"",
            "\"num_feature\": \"70000\", \"num_target\"",
            "has 70000 inputs; the limit is 65536",
        ),
    ];
    for (from, to, expected) in cases {
        let message = refusal(from, to);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn an_invalid_model_is_refused_with_its_place() {
    let cases = [
        ("\"learner\"", "\"tree_info\"", "missing field `learner`"),
        (
            "\"tree_info\": [0, 0]",
            "\"tree_info\": [0]",
            "states 1 trees; the file has 2",
        ),
        ("[5E-1]", "[x]", "base_score is [x], which is not a number"),
        (
            "[5E-1]",
            "[1E99]",
            "base_score is [1E99], which is not a number",
        ),
        ("4E0", "4E99", "tree 0: 4E99 is not a finite number"),
        ("4E0", "\"4\"", "is not a finite number"),
        (
            "4E0",
            "-Infinity",
            "tree 0: the threshold or value of node 2 is not finite",
        ),
        (
            "5E-1,",
            "NaN,",
            "tree 0: the threshold or value of node 0 is not finite",
        ),
        (
            "[2, 4, -1, -1, -1]",
            "[2, 4, -1, -1]",
            "right_children has 4 values; 5 are needed",
        ),
        (
            "[2, 4, -1, -1, -1]",
            "[3, 4, -1, -1, -1]",
            "the children of node 0 are 1 and 3; XGBoost keeps them side by side",
        ),
        (
            "[1, 3, -1, -1, -1]",
            "[1, -2, -1, -1, -1]",
            "node 1 leads to node -2, which does not exist",
        ),
        (
            "[1, 3, -1, -1, -1]",
            "[1, -1, -1, -1, -1]",
            "2 of its nodes are never reached, and num_deleted is 0",
        ),
        (
            "\"categories_sizes\": [2]",
            "\"categories_sizes\": [3]",
            "the categories of node 1 are incomplete",
        ),
        (
            "\"categories\": [0, 2]",
            "\"categories\": [0, 16777216]",
            "names the category 16777216",
        ),
        (
            "\"categories_nodes\": [1]",
            "\"categories_nodes\": [9]",
            "node 9 has categories and does not exist",
        ),
        (
            "\"split_type\": [0, 1",
            "\"split_type\": [1, 1",
            "node 0 has no categories",
        ),
        (
            "\"split_type\": [0, 1",
            "\"split_type\": [0, 0",
            "node 1 has categories and compares numbers",
        ),
        (
            "\"split_type\": [0, 1",
            "\"split_type\": [0, 2",
            "2 found where 0 or 1 is expected",
        ),
        (
            "\"split_indices\": [0, 1",
            "\"split_indices\": [0, 2",
            "uses input 2; the model has 2",
        ),
        (
            "\"default_left\": [0]",
            "\"default\": [0]",
            "tree 1: missing field `default_left`",
        ),
        (
            "[\"area\", \"place\"]",
            "[\"area\"]",
            "feature_names has 1 values",
        ),
    ];
    for (from, to, expected) in cases {
        let message = refusal(from, to);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_node_that_is_reached_twice_is_refused() {
    let twice = change("[1, 3, -1, -1, -1]", "[1, 1, -1, -1, -1]").replace("[2, 4,", "[2, 2,");
    let message = read(&twice).unwrap_err().to_string();
    assert!(message.contains("node 1 is reached twice"), "{message}");
}

#[test]
fn a_text_of_another_format_is_refused() {
    for no_model in ["", "{}", "[]", "tree\n", "\u{0}"] {
        assert!(matches!(read(no_model), Err(ModelError::NotXgBoost(_))));
    }
}

/// Every node of the tree has a set with the greatest possible category.
#[test]
fn sets_beyond_the_memory_limit_are_refused() {
    let mut model: Value = serde_json::from_str(MODEL).unwrap();
    let nodes = 20;
    let splits: Vec<usize> = (0..nodes).map(|at| 2 * at).collect();
    let child = |first: i64| {
        let of = |at: i64| {
            if at % 2 == 0 && at < 2 * nodes as i64 {
                at + first
            } else {
                -1
            }
        };
        (0..=2 * nodes as i64).map(of).collect::<Vec<_>>()
    };
    let all = |value: i64| vec![value; 2 * nodes + 1];
    let tree = json!({
        "categories": [16_777_215],
        "categories_nodes": splits,
        "categories_segments": vec![0; nodes],
        "categories_sizes": vec![1; nodes],
        "default_left": all(0),
        "left_children": child(1),
        "right_children": child(2),
        "split_conditions": all(1),
        "split_indices": all(1),
        "split_type": (0..=2 * nodes).map(|at| u8::from(splits.contains(&at))).collect::<Vec<_>>(),
        "tree_param": {},
    });
    model["learner"]["gradient_booster"]["model"]["trees"][0] = tree;
    let message = read(&model.to_string()).unwrap_err().to_string();
    assert!(
        message.contains("categories in its sets, as bits; the limit is"),
        "{message}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// A model that is read is packed or refused, and scores alike both ways.
    #[test]
    fn any_model_that_is_read_scores_alike_packed_and_unpacked(
        edits in prop::collection::vec((any::<prop::sample::Index>(), piece()), 0..4),
        row in [-1.0..3.0, -1.0..3.0],
    ) {
        let mut text = MODEL.as_bytes().to_vec();
        for (at, piece) in edits {
            let at = at.index(text.len());
            let end = (at + piece.len()).min(text.len());
            text.splice(at..end, piece.bytes());
        }
        let text = String::from_utf8_lossy(&text);
        if let Ok(model) = crate::read(&text)
            && let Ok(words) = pack(&model)
            && model.inputs.len() <= row.len()
        {
            let score = Forest::read(&words).unwrap().score(&row, &mut Scratch::default());
            prop_assert_eq!(score.to_bits(), model.score(&row).to_bits());
        }
    }

    #[test]
    fn an_invalid_model_is_refused(text in any::<String>()) {
        prop_assert!(crate::read(&text).is_err());
    }
}

/// Draws text to overwrite a part of a file.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        (-3_i64..20).prop_map(|number| number.to_string()),
        Just("18446744073709551615".to_owned()),
        Just("-1".to_owned()),
        Just("1e39".to_owned()),
        "[\\[\\]{},:\" 0-9-]{1,3}",
    ]
}
