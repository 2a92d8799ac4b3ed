//! What the objective of a model does to its score.

use crate::Transform;

/// The transform of an objective, or what is wrong with it. A model that was trained with an objective of
/// its team's own names none, and LightGBM then answers with the score.
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
        (plain, []) if Transform::PLAIN.contains(&plain) => Ok(Transform::Identity),
        _ => Err(format!("its objective is {objective:?}")),
    }
}
