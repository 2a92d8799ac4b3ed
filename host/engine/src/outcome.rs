//! The result of one row: a checked answer of the release, or the reason why there is none.

use crate::evidence::{DigestedExchange, ShownSales};
use crate::subject::Attribute;
use serde::{Deserialize, Serialize};

/// A release's answer, checked against the interface's promises.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Outcome {
    /// An estimate.
    Valued(Valuation),
    /// No automated value, and why.
    Referred(Referral),
    /// The release could not do its work on this row; it never will.
    Failed {
        /// In the release's own words.
        reason: FailureReason,
    },
}

/// An estimate with its strength and its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Valuation {
    /// Pounds, above 0, unrounded.
    pub estimate: f64,
    /// Calibrated; absent where the evidence was too thin.
    pub range: Option<ValueRange>,
    /// Strength of the evidence, 0 to 1.
    pub confidence: f64,
    /// At most 10, best first.
    pub comparables: Vec<Comparable>,
    /// The inputs that the release supplied for itself.
    pub derived: Vec<DerivedInput>,
    /// The release's own measure of its error: standard deviation of ln(price / estimate).
    pub dispersion: Option<f64>,
    /// Share of the estimate that rests on the subject's own earlier sales, 0 to 1.
    pub own_sales_share: Option<f64>,
}

/// `lower <= estimate <= upper`, pounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct ValueRange {
    pub lower: f64,
    pub upper: f64,
}

/// A sale that the estimate rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparable {
    /// The sale's id in the snapshot.
    pub sale: u64,
    /// The subject's value by this sale, pounds.
    pub adjusted_price: f64,
    /// Likeness to the subject, 0 to 1.
    pub similarity: f64,
}

/// The basis of a derived value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Derivation {
    LocalTypical,
    TypeTypical,
    OtherAttributes,
    OwnSales,
    Other,
}

/// An input that the release supplied for itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DerivedInput {
    /// The derived input.
    pub input: Attribute,
    /// The basis of its value.
    pub basis: Derivation,
    /// The value where it is a number.
    pub value: Option<f64>,
}

/// The reason why no automated value is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum ReferralReason {
    OutsidePropertyTypes,
    UnusualSize,
    UnusualValue,
    InsufficientEvidence,
    ShortLease,
    MissingInput,
    ConflictingInputs,
    Other,
}

/// A referral to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Referral {
    /// The reason.
    pub reason: ReferralReason,
    /// The input that it is about, where there is one.
    pub about: Option<Attribute>,
}

/// The reason why a release gave up on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum FailureReason {
    UnusableEvidence,
    Numeric,
    EvidenceRefused,
    Other,
}

/// The reason why a row has no answer of the release at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "failure", rename_all = "snake_case")]
pub enum RowFailure {
    /// The guest's own doing, and final: it spent its fuel.
    #[error("the release spent all of the {fuel} units of fuel that a row may use")]
    FuelSpent {
        /// Fuel that a row may use.
        fuel: u64,
    },
    /// The guest's own doing, and final: it asked for more of something bounded than it may have.
    #[error("the release asked for more {what} than the {limit} that it may have")]
    LimitReached {
        /// `memory`, `table elements` or `handles of WASI`.
        what: String,
        /// The limit: bytes, elements or handles.
        limit: u64,
    },
    /// The guest's own doing, and final: it trapped.
    #[error("the release trapped: {trap}")]
    Trapped {
        /// The kind of trap.
        trap: String,
    },
    /// The guest's own doing, and final: its answer breaks the interface's promises.
    #[error("the release gave an answer that breaks the interface: {field} {problem}")]
    InvalidOutcome {
        /// The field of the outcome.
        field: String,
        /// The problem of the field.
        problem: String,
    },
    /// A host failure: the row's time on the clock ran out. It is retryable and never recorded as
    /// an outcome.
    #[error("the row's time on the clock ran out")]
    OutOfTime,
    /// A host failure: no slot or memory was free, the snapshot could not be read, or the native
    /// stack was too small. It is retryable and never recorded as an outcome.
    #[error("the host could not run the release: {problem}")]
    Host {
        /// The problem.
        problem: String,
    },
}

impl RowFailure {
    /// Reports whether the same row may succeed another time, which only a failure of the host
    /// allows.
    pub fn retryable(&self) -> bool {
        matches!(self, RowFailure::OutOfTime | RowFailure::Host { .. })
    }
}

/// One row, run.
#[derive(Clone, Debug)]
pub struct Row {
    /// The answer, or why there is none.
    pub outcome: Result<Outcome, RowFailure>,
    /// The sales that the release was shown, those behind its comparables among them.
    pub shown_sales: ShownSales,
    /// Every question of the release with the digest of its answer, in order, where the caller
    /// wants them.
    pub digests: Vec<DigestedExchange>,
    /// The cost of the row.
    pub cost: Cost,
}

/// The cost of a row; the same on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Units of fuel, about one an instruction.
    pub fuel: u64,
    /// Linear memory at its largest, bytes.
    pub memory_bytes: u64,
    /// Questions that the release asked of the evidence.
    pub questions: u32,
}
