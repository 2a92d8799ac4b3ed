//! The transform from a raw score to a prediction.

/// The transform of a model's objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    /// The prediction is the score.
    Identity,
    /// Exponential (Poisson, gamma and Tweedie regression).
    Exponential,
    /// Exponential rounded to single precision (XGBoost).
    ExponentialOfSingle,
    /// Square with the score's sign (`reg_sqrt`).
    SignedSquare,
}

impl Transform {
    /// Applies the transform. The exponential is libm's, the same on every machine. Its last digit
    /// may differ from a C library's.
    pub fn apply(self, score: f64) -> f64 {
        match self {
            Transform::Identity => score,
            Transform::Exponential => libm::exp(score),
            Transform::ExponentialOfSingle => f64::from(libm::exp(score) as f32),
            Transform::SignedSquare => score * score.abs(),
        }
    }

    pub(crate) fn number(self) -> u64 {
        match self {
            Transform::Identity => 0,
            Transform::Exponential => 1,
            Transform::SignedSquare => 2,
            Transform::ExponentialOfSingle => 3,
        }
    }

    pub(crate) fn from_number(number: u64) -> Option<Transform> {
        [
            Transform::Identity,
            Transform::Exponential,
            Transform::SignedSquare,
            Transform::ExponentialOfSingle,
        ]
        .into_iter()
        .find(|transform| transform.number() == number)
    }
}
