//! From a score to an answer.

/// What a model's objective does to its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    /// Nothing: the score is the answer.
    Identity,
    /// Its exponential (Poisson, gamma and Tweedie regression).
    Exponential,
    /// The same, rounded to single precision (XGBoost).
    ExponentialOfSingle,
    /// Its square under its own sign (`reg_sqrt`).
    SignedSquare,
}

impl Transform {
    /// The answer. The exponential is libm's, the same on every machine; its last digit may differ from
    /// that of a C library.
    pub fn of(self, score: f64) -> f64 {
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

    pub(crate) fn numbered(number: u64) -> Option<Transform> {
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
