//! The valuation result: one for a single request, one for each row of a batch.

mod batch;
mod evidence;
mod money;
mod result_size;
pub(super) mod schema;
#[cfg(test)]
mod tests;
mod wire;

pub use batch::{BATCH_END, BatchStatus, Summary, batch_start};
pub use evidence::{Comparable, Context, LocalAuthority, OwnSale};
pub use money::{POUNDS_MAX, round_gbp};
pub use result_size::{RESPONSE_MAX, reference_size_bound, rejection_size};

use chrono::NaiveDate;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;
use uuid::Uuid;

use super::identity::{Postcode, Uprn};
use super::input::InputResolution;
use crate::error::ValidationError;
use crate::vocabulary::vocabulary;

/// A result. It serialises in the contract's form, fields in a fixed order.
#[derive(Debug, Clone, PartialEq)]
pub struct ValuationResult<'a> {
    /// The release that was asked.
    pub release_id: &'a str,
    /// The API execution: one for all rows of a batch.
    pub execution_id: Uuid,
    /// This property's valuation.
    pub valuation_id: Uuid,
    /// The customer's own reference, echoed.
    pub request_reference: Option<&'a str>,
    /// The outcome of the valuation.
    pub outcome: Outcome,
}

/// The outcome of a property's valuation, each with exactly the data that it can carry.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Valued.
    Valued(Box<ValuedResult>),
    /// Outside the automated market: no estimate, range or confidence.
    Referred(Box<ReferredResult>),
    /// Refused for the content of the row, or for its identity.
    Rejected(Vec<ValidationError>),
    /// Not valued, though the row is sound. Each error says whether a retry may help.
    Failed(Vec<ValidationError>),
}

vocabulary! {
    /// A result's status.
    pub enum Status {
        /// There is an estimate.
        Valued = "valued",
        /// The property is outside the automated market.
        Referred = "referred",
        /// The row is structurally wrong, or its identity is.
        Rejected = "rejected",
        /// The valuation failed.
        ValuationFailed = "valuation_failed",
    }
}

impl Outcome {
    /// Returns the status that it has on the wire.
    #[must_use]
    pub const fn status(&self) -> Status {
        match self {
            Self::Valued(_) => Status::Valued,
            Self::Referred(_) => Status::Referred,
            Self::Rejected(_) => Status::Rejected,
            Self::Failed(_) => Status::ValuationFailed,
        }
    }
}

/// A property with an estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct ValuedResult {
    /// The property.
    pub property: ResultProperty,
    /// Day of the valuation.
    pub date: NaiveDate,
    /// The estimate in whole pounds; see [`round_gbp`].
    pub estimated_value_gbp: u64,
    /// The range, or none where evidence is too thin for one.
    pub range: Option<ValueRange>,
    /// Confidence in the value.
    pub confidence: Confidence,
    /// Resolution of the inputs.
    pub input_resolution: InputResolution,
    /// Comparables, where they were asked for.
    pub comparables: Option<Vec<Comparable>>,
    /// The location's context, where it was asked for.
    pub context: Option<Context>,
}

/// A property that a person should value.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferredResult {
    /// The property.
    pub property: ResultProperty,
    /// Day of the valuation asked for.
    pub date: NaiveDate,
    /// Reason for the referral.
    pub referral: Referral,
    /// Resolution of the inputs.
    pub input_resolution: InputResolution,
}

/// The property that was valued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ResultProperty {
    /// Its UPRN; null on development routes, which invent none.
    #[schema(required)]
    pub uprn: Option<Uprn>,
    /// Its postcode in standard form.
    pub postcode: Postcode,
    /// Source that vouches for the identity.
    pub identity_source: IdentitySource,
}

vocabulary! {
    /// Source that vouches for a property's identity.
    pub open enum IdentitySource {
        /// The service's own property snapshot.
        VerifiedIdentityStore = "verified_identity_store",
        /// The address provider.
        IdentityProvider = "identity_provider",
        /// Nobody: the site's coordinates stand for it.
        SiteCoordinates = "site_coordinates",
    }
}

/// A calibrated range of values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct ValueRange {
    /// Lower end in whole pounds.
    #[schema(maximum = 10_000_000_000_u64)]
    pub lower_value_gbp: u64,
    /// Upper end in whole pounds.
    #[schema(maximum = 10_000_000_000_u64)]
    pub upper_value_gbp: u64,
    /// Share of a portfolio's true values that such ranges are made to hold, 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    pub nominal_coverage: f64,
}

/// Strength of the evidence; not a probability of being right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Confidence {
    /// 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    pub score: f64,
    /// The band in which the release's thresholds put the score.
    pub band: ConfidenceBand,
}

vocabulary! {
    /// A band of confidence.
    pub open enum ConfidenceBand {
        /// Strong evidence.
        High = "high",
        /// Middling evidence.
        Medium = "medium",
        /// Weak evidence.
        Low = "low",
    }
}

/// Reason for which a property is referred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Referral {
    /// For programs.
    pub code: ReferralCode,
    /// For people.
    pub message: String,
}

vocabulary! {
    /// A reason for referral.
    pub open enum ReferralCode {
        /// The release does not value this type of property.
        OutsidePropertyTypes = "outside_property_types",
        /// The release does not value in the property's country.
        OutsideCountries = "outside_countries",
        /// The property is larger or smaller than the release was made for.
        UnusualSize = "unusual_size",
        /// The property's likely value is outside what the release was made for.
        UnusualValue = "unusual_value",
        /// There are too few comparable sales.
        InsufficientEvidence = "insufficient_evidence",
        /// The lease is too short for an automated valuation.
        ShortLease = "short_lease",
        /// An input that the release needs is blank and cannot be derived.
        MissingInput = "missing_input",
        /// Inputs are at odds with each other.
        ConflictingInputs = "conflicting_inputs",
        /// Any other reason of the release.
        Other = "other",
    }
}

/// Serialises a day as YYYY-MM-DD.
pub(super) fn iso_day<S: Serializer>(day: &NaiveDate, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(day)
}
