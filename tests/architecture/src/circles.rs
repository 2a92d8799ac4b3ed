//! Circles in a graph of files.

use std::collections::{BTreeMap, BTreeSet};

/// A graph: each file, and the files that it imports.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// Returns the sets of files that import each other, directly or by way of others, in order.
pub fn circles(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = graph
        .keys()
        .map(|file| (file.as_str(), reachable(graph, file)))
        .collect();
    let mut found: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for (file, all) in &reached {
        let circle: BTreeSet<String> = all
            .iter()
            .filter(|other| reached.get(*other).is_some_and(|back| back.contains(file)))
            .map(|other| (*other).to_owned())
            .collect();
        if circle.len() > 1 {
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

fn reachable<'g>(graph: &'g Graph, from: &str) -> BTreeSet<&'g str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = graph
        .get(from)
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    while let Some(file) = open.pop() {
        if let Some((file, next)) = graph.get_key_value(file)
            && reached.insert(file.as_str())
        {
            open.extend(next.iter().map(String::as_str));
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &str)]) -> Graph {
        let mut graph = Graph::new();
        for (from, to) in edges {
            graph.entry((*to).to_owned()).or_default();
            graph
                .entry((*from).to_owned())
                .or_default()
                .insert((*to).to_owned());
        }
        graph
    }

    #[test]
    fn files_that_import_each_other_are_one_circle() {
        let found = circles(&graph(&[
            ("a", "b"),
            ("b", "c"),
            ("c", "a"),
            ("c", "d"),
            ("x", "y"),
        ]));
        let circle = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(found, [BTreeSet::from(circle)]);
    }

    #[test]
    fn arrows_that_only_go_down_are_no_circle() {
        assert!(circles(&graph(&[("a", "b"), ("a", "c"), ("b", "c")])).is_empty());
    }
}
