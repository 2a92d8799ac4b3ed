//! The parts of a file beside its trees.

use super::single_precision;
use crate::{ModelError, Transform};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Remedy for a model with several predictions.
pub(super) const ONE_ANSWER: &str = "a value is one number; train a regression";
/// Most inputs of a model.
const MAX_INPUTS: usize = 1 << 16;

/// The members of a file that are read.
#[derive(Deserialize)]
pub(super) struct File<'a> {
    #[serde(borrow)]
    learner: Learner<'a>,
    version: Vec<u32>,
}

#[derive(Deserialize)]
struct Learner<'a> {
    #[serde(default)]
    feature_names: Vec<String>,
    #[serde(borrow)]
    gradient_booster: Booster<'a>,
    learner_model_param: Parameters,
    objective: Objective,
}

#[derive(Deserialize)]
struct Booster<'a> {
    name: String,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
}

/// The model's parameters, which XGBoost writes as text.
#[derive(Deserialize)]
struct Parameters {
    base_score: String,
    num_class: Option<String>,
    num_feature: String,
    num_target: Option<String>,
}

#[derive(Deserialize)]
struct Objective {
    name: String,
}

pub(super) struct Header<'a> {
    pub(super) inputs: Vec<String>,
    /// Base score.
    pub(super) base: f32,
    pub(super) transform: Transform,
    pub(super) model: &'a RawValue,
}

impl<'a> File<'a> {
    pub(super) fn header(self) -> Result<Header<'a>, ModelError> {
        let learner = self.learner;
        if !matches!(self.version.first(), Some(2..=3)) {
            return Err(unsupported_error(
                "the model",
                format!("its version is {:?}", self.version),
                "load it with XGBoost 2 or 3 and save it again",
            ));
        }
        let booster = learner.gradient_booster;
        let model = match (booster.name.as_str(), booster.model) {
            ("gbtree", Some(model)) => model,
            ("gbtree", None) => {
                return Err(ModelError::NotXgBoost(
                    "learner.gradient_booster has no model".to_owned(),
                ));
            }
            (other, _) => {
                return Err(unsupported_error(
                    "the model",
                    format!("its booster is {other:?}"),
                    "train with booster=\"gbtree\"",
                ));
            }
        };
        let parameters = learner.learner_model_param;
        for (name, count) in [
            ("num_class", parameters.num_class),
            ("num_target", parameters.num_target),
        ] {
            if let Some(count) = count.filter(|count| count != "0" && count != "1") {
                return Err(unsupported_error(
                    "the model",
                    format!("its {name} is {}", single_precision::excerpt(&count)),
                    ONE_ANSWER,
                ));
            }
        }
        let (transform, base) = answer(&learner.objective.name, &parameters.base_score)?;
        Ok(Header {
            inputs: inputs(learner.feature_names, &parameters.num_feature)?,
            base,
            transform,
            model,
        })
    }
}

/// Returns the transform of an objective, and the base score before that transform.
fn answer(objective: &str, base: &str) -> Result<(Transform, f32), ModelError> {
    // Versions from 3.1 write a list.
    let digits = base.trim_start_matches('[').trim_end_matches(']');
    let number = single_precision::parse(digits).ok_or_else(|| {
        ModelError::NotXgBoost(format!(
            "base_score is {}, which is not a number",
            single_precision::excerpt(base)
        ))
    })?;
    match objective {
        "reg:squarederror"
        | "reg:linear"
        | "reg:squaredlogerror"
        | "reg:pseudohubererror"
        | "reg:absoluteerror"
        | "reg:quantileerror" => Ok((Transform::Identity, number)),
        "count:poisson" | "reg:gamma" | "reg:tweedie" if number > 0.0 => Ok((
            Transform::ExponentialOfSingle,
            libm::log(f64::from(number)) as f32,
        )),
        "count:poisson" | "reg:gamma" | "reg:tweedie" => Err(ModelError::NotXgBoost(format!(
            "base_score is {number}; {objective} needs a positive one"
        ))),
        other => Err(unsupported_error(
            "the model",
            format!("its objective is {:?}", single_precision::excerpt(other)),
            "train a regression",
        )),
    }
}

/// Returns the inputs' names, or f0, f1 and so on for a model without names.
fn inputs(names: Vec<String>, count: &str) -> Result<Vec<String>, ModelError> {
    let count: usize = count.parse().map_err(|_| {
        ModelError::NotXgBoost(format!(
            "num_feature is {}",
            single_precision::excerpt(count)
        ))
    })?;
    if count > MAX_INPUTS {
        return Err(ModelError::TooMany {
            place: "the model".to_owned(),
            what: "inputs",
            found: count,
            limit: MAX_INPUTS,
        });
    }
    if names.is_empty() {
        return Ok((0..count).map(|input| format!("f{input}")).collect());
    }
    if names.len() != count {
        return Err(ModelError::WrongCount {
            place: "the model".to_owned(),
            name: "feature_names",
            found: names.len(),
            needed: count,
        });
    }
    Ok(names)
}

pub(super) fn unsupported_error(place: &str, what: String, instead: &'static str) -> ModelError {
    ModelError::Unsupported {
        place: place.to_owned(),
        what,
        instead,
    }
}
