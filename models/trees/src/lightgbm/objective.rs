//! The transform of a model's objective.

use crate::Transform;

/// The regression objectives whose prediction is the raw score.
const IDENTITY: [&str; 7] = [
    "regression",
    "regression_l1",
    "huber",
    "fair",
    "quantile",
    "mape",
    "custom",
];

/// Returns the transform of an objective, or the problem with it. A model with a custom objective
/// states none, and LightGBM then predicts the raw score.
pub(super) fn transform(objective: Option<&str>) -> Result<Transform, String> {
    let Some(objective) = objective else {
        return Ok(Transform::Identity);
    };
    let mut words = objective.split_ascii_whitespace();
    let name = words.next().unwrap_or_default();
    let rest: Vec<&str> = words.collect();
    match (name, rest.as_slice()) {
        ("regression", ["sqrt"]) => Ok(Transform::SignedSquare),
        ("poisson" | "gamma" | "tweedie", _) => Ok(Transform::Exponential),
        (plain, []) if IDENTITY.contains(&plain) => Ok(Transform::Identity),
        _ => Err(format!("its objective is {objective:?}")),
    }
}
