//! The inputs that a release shows of its model for a receipt.
//!
//! If the estimate is a mean of several models, the weight of each member is among them.

use domesday_engine::evidence::RecordedEvidence;
use domesday_engine::fixture::Fixture;
use domesday_engine::inputs::Input;
use domesday_engine::{Release, outcome::RowFailure};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Prefix of an input that is a member's estimate, in log pounds.
const MEMBER: &str = "member_";
/// Prefix of an input that is the weight of the member with the same name.
const WEIGHT: &str = "weight_";

/// The model's inputs for one receipt.
#[derive(Debug, Serialize)]
pub struct ModelInputs {
    /// Number of the receipt.
    receipt: u64,
    valuation_id: String,
    /// The members of a stack. Their weighted mean in logarithms is the estimate. Empty where one
    /// model makes it.
    members: Vec<Member>,
    /// The inputs by name, without those of the members. A missing number is null.
    inputs: BTreeMap<String, Option<f64>>,
}

/// The weight and the estimate of one member.
#[derive(Debug, PartialEq, Serialize)]
struct Member {
    name: String,
    /// The member's own estimate in pounds.
    estimate_gbp: f64,
    /// Its share in the estimate, 0 to 1.
    weight: f64,
}

impl ModelInputs {
    /// Runs the component's export of inputs on the evidence of a replayed receipt. Returns `None`
    /// where the release shows no inputs, or offered no value.
    ///
    /// # Errors
    /// The component failed.
    pub(super) fn of(
        release: &Release,
        fixture: &Fixture,
        receipt: u64,
        valuation_id: &str,
    ) -> Result<Option<ModelInputs>, RowFailure> {
        if !release.shows_inputs() {
            return Ok(None);
        }
        let evidence = Arc::new(RecordedEvidence::new(fixture.evidence.clone()));
        let shown = release.inputs(&Arc::new(fixture.subject.clone()), evidence)?;
        Ok(shown.map(|shown| {
            let (members, inputs) = divide(shown);
            ModelInputs {
                receipt,
                valuation_id: valuation_id.to_owned(),
                members,
                inputs,
            }
        }))
    }
}

/// Divides inputs into the members of a stack, in the model's order, and all others.
fn divide(shown: Vec<Input>) -> (Vec<Member>, BTreeMap<String, Option<f64>>) {
    let mut inputs: BTreeMap<String, Option<f64>> = BTreeMap::new();
    let mut order = Vec::new();
    for Input { name, value } in shown {
        if let Some(member) = name.strip_prefix(MEMBER) {
            order.push(member.to_owned());
        }
        inputs.insert(name, Some(value).filter(|value| value.is_finite()));
    }
    let mut members = Vec::new();
    for name in order {
        let (member, weight) = (format!("{MEMBER}{name}"), format!("{WEIGHT}{name}"));
        // An input may have the prefix of a member by chance: it has no weight.
        if let (Some(Some(log_estimate)), Some(Some(share))) =
            (inputs.get(&member), inputs.get(&weight))
        {
            members.push(Member {
                estimate_gbp: log_estimate.exp(),
                weight: *share,
                name,
            });
            inputs.remove(&member);
            inputs.remove(&weight);
        }
    }
    (members, inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_a_weight_and_all_others_are_inputs() {
        let shown = [
            ("area", 90.0),
            ("member_trees", 12.0),
            ("member_own_sale", 1.0),
            ("weight_trees", 0.25),
            ("rooms", f64::NAN),
        ];
        let shown = shown.map(|(name, value)| Input {
            name: name.to_owned(),
            value,
        });
        let (members, inputs) = divide(shown.to_vec());
        let trees = Member {
            name: "trees".to_owned(),
            estimate_gbp: 12.0_f64.exp(),
            weight: 0.25,
        };
        assert_eq!(members, [trees]);
        let names: Vec<_> = inputs
            .iter()
            .map(|(name, value)| (&**name, *value))
            .collect();
        assert_eq!(
            names,
            [
                ("area", Some(90.0)),
                ("member_own_sale", Some(1.0)),
                ("rooms", None)
            ]
        );
    }
}
