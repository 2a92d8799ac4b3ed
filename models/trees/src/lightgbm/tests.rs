//! Models that are read and models that are refused.

use super::read;
use crate::ModelError;

const MODEL: &str = include_str!("../packed/two_trees.txt");

#[track_caller]
fn refusal(from: &str, to: &str) -> String {
    assert!(MODEL.contains(from), "{from}");
    read(&MODEL.replacen(from, to, 1)).unwrap_err().to_string()
}

#[test]
fn a_small_model_is_read() {
    let model = read(MODEL).unwrap();
    assert_eq!(model.inputs, ["area", "place"]);
    assert_eq!(model.trees.len(), 2);
    let windows = MODEL.replace('\n', "\r\n");
    assert_eq!(read(&windows).unwrap(), model);
    // Area zero goes left. The set {0, 1} contains place 1 and no other of these places.
    for (row, score) in [
        ([0.0, 1.0], -1.0),
        ([0.4, 2.0], -3.0),
        ([0.6, 1.0], 2.0),
        ([f64::NAN, f64::NAN], -3.0),
        ([0.0, -0.5], -1.0),
    ] {
        assert_eq!(model.score(&row), score, "{row:?}");
    }
}

#[test]
fn an_input_that_no_tree_uses_may_have_categories() {
    let text = MODEL.replace("feature_infos=[0:1]", "feature_infos=none")
        + "\npandas_categorical:[[\"england\"], [\"a\", \"b\", \"c\"]]\n";
    let names = read(&text).unwrap().category_names;
    let names: Vec<usize> = names.iter().flatten().map(Vec::len).collect();
    assert_eq!(names, [1, 3]);
}

#[test]
fn an_unsupported_model_is_refused_by_name() {
    let cases = [
        (
            "is_linear=0",
            "is_linear=1",
            "tree 0: its leaves are linear models; train with linear_tree=false",
        ),
        ("num_class=1", "num_class=3", "num_class=3"),
        (
            "num_tree_per_iteration=1",
            "num_tree_per_iteration=2",
            "num_tree_per_iteration=2",
        ),
        ("version=v4", "version=v2", "its format is v2"),
        (
            "objective=regression",
            "objective=binary sigmoid:1",
            "its objective is \"binary sigmoid:1\"",
        ),
        (
            "objective=regression",
            "objective=lambdarank",
            "its objective is \"lambdarank\"",
        ),
        (
            "objective=regression",
            "objective=regression strange",
            "its objective is \"regression strange\"",
        ),
        (
            "decision_type=2 9",
            "decision_type=2 25",
            "node 1 has the decision type 25",
        ),
        (
            "decision_type=2 9",
            "decision_type=14 9",
            "node 0 has an unknown rule for missing values",
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
        ("tree\n", "trees\n", "does not begin with the line \"tree\""),
        ("end of trees", "", "cut short"),
        (
            "tree_sizes=1 1",
            "tree_sizes=1 1 1",
            "states 3 trees; the file has 2",
        ),
        ("Tree=1", "Tree=7", "tree 1: it is numbered 7"),
        (
            "leaf_value=1 -1 4",
            "leaf_value=1 -1",
            "leaf_value has 2 values; 3 are needed",
        ),
        (
            "leaf_value=1 -1 4",
            "leaf_value=1 -1 x",
            "tree 0: invalid value leaf_value=x",
        ),
        (
            "leaf_value=1 -1 4",
            "leaf_value=1 -1 nan",
            "the value of leaf 2 is not finite",
        ),
        (
            "threshold=0.5 0",
            "threshold=nan 0",
            "the threshold of node 0 is not a number",
        ),
        (
            "threshold=0.5 0",
            "threshold=0.5 1",
            "the set 1, which does not exist",
        ),
        (
            "split_feature=0 1",
            "split_feature=0 2",
            "uses input 2; the model has 2",
        ),
        (
            "left_child=1 -1",
            "left_child=0 -1",
            "node 0 is reached twice",
        ),
        ("left_child=1 -1", "left_child=5 -1", "leads to node 5"),
        (
            "left_child=1 -1",
            "left_child=1 -9",
            "leads to a leaf that does not exist",
        ),
        (
            "right_child=-3 -2",
            "right_child=-3 -1",
            "leaf 0 is reached twice",
        ),
        (
            "cat_boundaries=0 1",
            "cat_boundaries=1 0",
            "cat_threshold has 1 values",
        ),
        (
            "feature_names=area place",
            "feature_names=area",
            "feature_names has 1 values",
        ),
        ("num_leaves=3\n", "num_leaves=0\n", "it has no leaf"),
        (
            "split_gain=1 1\nthreshold",
            "xthreshold",
            "threshold= is missing",
        ),
    ];
    for (from, to, expected) in cases {
        let message = refusal(from, to);
        assert!(message.contains(expected), "{message}");
    }
    assert!(matches!(read(""), Err(ModelError::NotLightGbm(_))));
}
