//! The header of a text model.

use super::lines::Lines;
use super::objective::transform;
use crate::{ModelError, Transform};

pub(super) struct Header {
    pub(super) inputs: Vec<String>,
    /// Number of trees, if the header states it.
    pub(super) trees: Option<usize>,
    pub(super) averaged: bool,
    pub(super) transform: Transform,
    /// True for each input that is categorical, and `None` for one that no tree can use. Empty if
    /// the header does not say.
    pub(super) is_categorical: Vec<Option<bool>>,
}

impl Header {
    pub(super) fn read(lines: &Lines<'_>) -> Result<Header, ModelError> {
        let version: String = lines.one("version")?;
        if version != "v3" && version != "v4" {
            return Err(unsupported_error(
                lines,
                format!("its format is {version}"),
                "save it with LightGBM 3 or 4",
            ));
        }
        for name in ["num_class", "num_tree_per_iteration"] {
            let classes: usize = lines.one(name)?;
            if classes != 1 {
                return Err(unsupported_error(
                    lines,
                    format!("{name}={classes}: it predicts a value for each class"),
                    "a value is one number; train a regression",
                ));
            }
        }
        let inputs: usize = lines.one::<usize>("max_feature_idx")?.saturating_add(1);
        // LightGBM writes names without blanks, so they form a list.
        let inputs = lines.list("feature_names", inputs)?;
        Ok(Header {
            inputs,
            trees: lines
                .text("tree_sizes")
                .map(|sizes| sizes.split_ascii_whitespace().count()),
            averaged: lines.has_bare("average_output"),
            is_categorical: lines.text("feature_infos").map_or_else(Vec::new, |infos| {
                // A range of numbers, a list of categories, or nothing for a constant.
                let infos = infos.split_ascii_whitespace();
                infos
                    .map(|info| (info != "none").then(|| !info.starts_with('[')))
                    .collect()
            }),
            transform: transform(lines.text("objective"))
                .map_err(|what| unsupported_error(lines, what, "train a regression"))?,
        })
    }
}

fn unsupported_error(lines: &Lines<'_>, what: String, instead: &'static str) -> ModelError {
    ModelError::Unsupported {
        place: lines.place(),
        what,
        instead,
    }
}
