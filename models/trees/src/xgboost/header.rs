//! What stands beside the trees.

use super::single;
use crate::{Refused, Transform};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What to do where a model has several answers.
pub(super) const ONE_ANSWER: &str = "a value is one number; train a regression";
/// Inputs of a model.
const MOST_INPUTS: usize = 1 << 16;

/// A file, as far as it is read.
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

/// XGBoost writes its parameters as text.
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
    /// What leaves are added to.
    pub(super) base: f32,
    pub(super) transform: Transform,
    pub(super) model: &'a RawValue,
}

impl<'a> File<'a> {
    pub(super) fn header(self) -> Result<Header<'a>, Refused> {
        let learner = self.learner;
        if !matches!(self.version.first(), Some(2..=3)) {
            return Err(unsupported(
                "the model",
                format!("its version is {:?}", self.version),
                "load it with XGBoost 2 or 3 and save it again",
            ));
        }
        let booster = learner.gradient_booster;
        let model = match (booster.name.as_str(), booster.model) {
            ("gbtree", Some(model)) => model,
            ("gbtree", None) => {
                return Err(Refused::NotXgBoost(
                    "learner.gradient_booster has no model".to_owned(),
                ));
            }
            (other, _) => {
                return Err(unsupported(
                    "the model",
                    format!("its booster is {other:?}"),
                    "train with booster=\"gbtree\"",
                ));
            }
        };
        let told = learner.learner_model_param;
        for (name, count) in [
            ("num_class", told.num_class),
            ("num_target", told.num_target),
        ] {
            if let Some(count) = count.filter(|count| count != "0" && count != "1") {
                return Err(unsupported(
                    "the model",
                    format!("its {name} is {}", single::shown(&count)),
                    ONE_ANSWER,
                ));
            }
        }
        let (transform, base) = answer(&learner.objective.name, &told.base_score)?;
        Ok(Header {
            inputs: inputs(learner.feature_names, &told.num_feature)?,
            base,
            transform,
            model,
        })
    }
}

/// The transform of an objective, and the base score on the side of the scores.
fn answer(objective: &str, base: &str) -> Result<(Transform, f32), Refused> {
    // Versions since 3.1 write a list.
    let digits = base.trim_start_matches('[').trim_end_matches(']');
    let number = single::of(digits).ok_or_else(|| {
        Refused::NotXgBoost(format!(
            "base_score is {}, which is no number",
            single::shown(base)
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
        "count:poisson" | "reg:gamma" | "reg:tweedie" => Err(Refused::NotXgBoost(format!(
            "base_score is {number}, of which {objective} takes the logarithm"
        ))),
        other => Err(unsupported(
            "the model",
            format!("its objective is {:?}", single::shown(other)),
            "train a regression",
        )),
    }
}

/// The inputs' names; f0, f1 and so on where the model was trained without.
fn inputs(names: Vec<String>, count: &str) -> Result<Vec<String>, Refused> {
    let count: usize = count
        .parse()
        .map_err(|_| Refused::NotXgBoost(format!("num_feature is {}", single::shown(count))))?;
    if count > MOST_INPUTS {
        return Err(Refused::TooMany {
            place: "the model".to_owned(),
            what: "inputs",
            found: count,
            limit: MOST_INPUTS,
        });
    }
    if names.is_empty() {
        return Ok((0..count).map(|input| format!("f{input}")).collect());
    }
    if names.len() != count {
        return Err(Refused::WrongCount {
            place: "the model".to_owned(),
            name: "feature_names",
            found: names.len(),
            needed: count,
        });
    }
    Ok(names)
}

pub(super) fn unsupported(place: &str, what: String, instead: &'static str) -> Refused {
    Refused::Unsupported {
        place: place.to_owned(),
        what,
        instead,
    }
}
