//! What stands before the trees.

use super::lines::Lines;
use super::objective::transform;
use crate::{Refused, Transform};

pub(super) struct Header {
    pub(super) inputs: Vec<String>,
    /// How many trees the header tells of, where it does.
    pub(super) trees: Option<usize>,
    pub(super) averaged: bool,
    pub(super) transform: Transform,
}

impl Header {
    pub(super) fn read(lines: &Lines<'_>) -> Result<Header, Refused> {
        let version: String = lines.one("version")?;
        if version != "v3" && version != "v4" {
            return Err(unsupported(
                lines,
                format!("its format is {version}"),
                "save it with LightGBM 3 or 4",
            ));
        }
        for name in ["num_class", "num_tree_per_iteration"] {
            let classes: usize = lines.one(name)?;
            if classes != 1 {
                return Err(unsupported(
                    lines,
                    format!("{name}={classes}: it has an answer for each class"),
                    "a value is one number; train a regression",
                ));
            }
        }
        let inputs: usize = lines.one::<usize>("max_feature_idx")?.saturating_add(1);
        // Names are written without blanks, so that they can be a list.
        let inputs = lines.list("feature_names", inputs)?;
        Ok(Header {
            inputs,
            trees: lines
                .text("tree_sizes")
                .map(|sizes| sizes.split_ascii_whitespace().count()),
            averaged: lines.has_bare("average_output"),
            transform: transform(lines.text("objective"))
                .map_err(|what| unsupported(lines, what, "train a regression"))?,
        })
    }
}

fn unsupported(lines: &Lines<'_>, what: String, instead: &'static str) -> Refused {
    Refused::Unsupported {
        place: lines.place(),
        what,
        instead,
    }
}

impl Transform {
    /// The objectives of regression whose answer is the score itself.
    pub(super) const PLAIN: [&str; 7] = [
        "regression",
        "regression_l1",
        "huber",
        "fair",
        "quantile",
        "mape",
        "custom",
    ];
}
