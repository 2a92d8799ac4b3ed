//! The stack: the weights of the members of an estimate.
//!
//! A log estimate is the weighted mean of the members' log estimates. The build script includes
//! this file, so that weights are checked before the component is compiled.

use crate::parameters::PerType;

/// The members, in the order of every list of weights.
pub const MEMBERS: [&str; 3] = ["reference", "kriging", "trees"];

/// The weight of each member, in the order of [`MEMBERS`].
pub type Weights = [f64; MEMBERS.len()];

/// Weights where calibration had too few sales to learn any.
pub const EQUAL: Weights = [1.0 / 3.0; MEMBERS.len()];

/// Weights by the home's own history.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    not(target_arch = "wasm32"),
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct ByHistory {
    /// The estimate rests on an earlier sale of the home itself.
    pub own_sale: Weights,
    /// It does not.
    pub none: Weights,
}

impl ByHistory {
    /// Returns the weights of a home with or without an earlier sale.
    pub fn of(&self, own_sale: bool) -> &Weights {
        if own_sale { &self.own_sale } else { &self.none }
    }
}

/// The weights of a release.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    not(target_arch = "wasm32"),
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Stack {
    /// Weights by type and history.
    pub weights: PerType<ByHistory>,
    /// Variance that the members' disagreement adds, as a multiple of their weighted variance.
    pub disagreement: f64,
}

impl Stack {
    /// Returns the stack without any calibration.
    pub const fn equal() -> Stack {
        const OF_TYPE: ByHistory = ByHistory {
            own_sale: EQUAL,
            none: EQUAL,
        };
        Stack {
            weights: PerType {
                detached: OF_TYPE,
                semi_detached: OF_TYPE,
                terraced: OF_TYPE,
                flat: OF_TYPE,
            },
            disagreement: 0.0,
        }
    }
}

/// Returns the weighted mean of the members' log estimates, and their weighted variance about it.
pub fn blend(weights: &Weights, members: &[f64; MEMBERS.len()]) -> (f64, f64) {
    let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
        weights.iter().zip(members).map(|(w, m)| w * of(*m)).sum()
    };
    let mean = sum(&|member| member);
    (mean, sum(&|member| (member - mean) * (member - mean)))
}

/// The reason why weights are refused.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// The weights of a group are negative or do not sum to one.
    #[error("weights {0:?} are no shares; give numbers from 0 that sum to 1")]
    Weights(Weights),
    /// The disagreement is out of bounds.
    #[error("disagreement is {0}; set it from 0 to 100")]
    Disagreement(f64),
}

#[cfg(not(target_arch = "wasm32"))]
impl Stack {
    /// Checks every number.
    ///
    /// # Errors
    /// [`StackError`] for the first number out of its bounds.
    pub fn check(&self) -> Result<(), StackError> {
        let of = &self.weights;
        for group in [of.detached, of.semi_detached, of.terraced, of.flat] {
            for weights in [group.own_sale, group.none] {
                let sum: f64 = weights.iter().sum();
                if weights.iter().any(|w| !(0.0..=1.0).contains(w)) || (sum - 1.0).abs() > 1e-9 {
                    return Err(StackError::Weights(weights));
                }
            }
        }
        if !(0.0..=100.0).contains(&self.disagreement) {
            return Err(StackError::Disagreement(self.disagreement));
        }
        Ok(())
    }
}
