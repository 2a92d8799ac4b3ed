//! The order and presence of a result's fields, in one place.

use chrono::NaiveDate;
use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::{
    Comparable, Confidence, Context, Outcome, Referral, ResultProperty, Status, ValuationResult,
    ValueRange, iso_day,
};
use crate::error::ValidationError;
use crate::v3::API_VERSION;
use crate::v3::input::InputResolution;

/// A serialised result: absent fields are omitted, and an absent range is null.
#[derive(Serialize)]
struct Wire<'a> {
    api_version: &'static str,
    release_id: &'a str,
    execution_id: Uuid,
    valuation_id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_reference: Option<&'a str>,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    property: Option<&'a ResultProperty>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valuation: Option<Valuation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<Confidence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    referral: Option<&'a Referral>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_resolution: Option<&'a InputResolution>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparables: Option<&'a [Comparable]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a Context>,
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<&'a [ValidationError]>,
}

#[derive(Serialize)]
struct Valuation {
    #[serde(serialize_with = "iso_day")]
    date: NaiveDate,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_value_gbp: Option<u64>,
    range: Option<ValueRange>,
}

impl Serialize for ValuationResult<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut wire = Wire {
            api_version: API_VERSION,
            release_id: self.release_id,
            execution_id: self.execution_id,
            valuation_id: self.valuation_id,
            request_reference: self.request_reference,
            status: self.outcome.status(),
            property: None,
            valuation: None,
            confidence: None,
            referral: None,
            input_resolution: None,
            comparables: None,
            context: None,
            errors: None,
        };
        match &self.outcome {
            Outcome::Valued(valued) => {
                wire.property = Some(&valued.property);
                wire.valuation = Some(Valuation {
                    date: valued.date,
                    estimated_value_gbp: Some(valued.estimated_value_gbp),
                    range: valued.range,
                });
                wire.confidence = Some(valued.confidence);
                wire.input_resolution = Some(&valued.input_resolution);
                wire.comparables = valued.comparables.as_deref();
                wire.context = valued.context.as_ref();
            }
            Outcome::Referred(referred) => {
                wire.property = Some(&referred.property);
                wire.valuation = Some(Valuation {
                    date: referred.date,
                    estimated_value_gbp: None,
                    range: None,
                });
                wire.referral = Some(&referred.referral);
                wire.input_resolution = Some(&referred.input_resolution);
            }
            Outcome::Rejected(errors) | Outcome::Failed(errors) => wire.errors = Some(errors),
        }
        wire.serialize(out)
    }
}
