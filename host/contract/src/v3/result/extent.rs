//! The largest size of results. A response that could be too large is refused before any work.

use super::{Outcome, ValuationResult};
use crate::error::ValidationError;
use crate::v3::API_VERSION;
use crate::v3::input::Input;
use crate::v3::options::ResponseSections;
use crate::vocabulary::Vocabulary;
use uuid::Uuid;

/// The largest answer of a valuing route, bytes before any compression in transport.
pub const RESPONSE_MAX: usize = 9_500_000;

/// The longest message of an error that is found after a row was admitted, bytes as JSON.
pub const LATE_MESSAGE_MAX: usize = 300;

/// The longest message of a referral, bytes as JSON.
pub const REFERRAL_MESSAGE_MAX: usize = 200;

/// The known bounds of a row's result, before the row runs.
#[derive(Debug, Clone, Copy)]
pub struct Extent<'a> {
    /// The release.
    pub release_id: &'a str,
    /// The customer's own reference.
    pub request_reference: Option<&'a str>,
    /// The sections beyond the core.
    pub sections: ResponseSections,
    /// The release's own nominal coverage.
    pub nominal_coverage: f64,
    /// Bytes of the longest name of an authority.
    pub authority_name: usize,
    /// Valid inputs of the request without effect.
    pub ignored: usize,
}

/// Returns the bytes of a member with a value of this size.
const fn member(name: &str, value: usize) -> usize {
    // Quotes, colon and comma.
    name.len() + 4 + value
}

const fn quoted(text: usize) -> usize {
    text + 2
}

/// Digits of [`POUNDS_MAX`](super::POUNDS_MAX).
const POUNDS: usize = 11;
/// Pounds and pence of a square metre, and hundredths of a per cent of a change. The largest prices
/// of a snapshot stay below it.
const RATE: usize = 15;
const CHANGE: usize = 17;
/// Three decimals of a share.
const SHARE: usize = 5;
/// Whole square metres of five digits, and two decimals.
const AREA: usize = 8;
const DAY: usize = quoted(10);
const POSTCODE: usize = quoted(8);
const BRACES: usize = 2;
/// The braces of an object, less the comma that its last member does not have.
const OBJECT: usize = 1;

/// One comparable at its longest, without the digits of its rank.
const COMPARABLE: usize = OBJECT
    + member("rank", 0)
    + member("sale_date", DAY)
    + member("price_gbp", POUNDS + 1) // As large as the snapshot keeps sales.
    + member("adjusted_price_gbp", POUNDS)
    + member("postcode", POSTCODE)
    + member("property_type", quoted(1))
    + member("title_tenure", quoted(9))
    + member("floor_area_m2", AREA)
    + member("distance_m", 5)
    + member("similarity", SHARE);

/// The context at its longest, without its authority's name.
const CONTEXT: usize = OBJECT
    + member("local_authority", OBJECT)
    + member("code", quoted(9))
    + member("name", quoted(0))
    + member("postcode_sector", quoted(6))
    + member("sales_count_12m", 10)
    + member("median_price_gbp", POUNDS)
    + member("price_per_sqm_gbp", RATE)
    + member("price_change_12m_pct", CHANGE);

/// Members of both a valued and a referred result, without ids, reference and list entries.
const RESOLVED: usize = member("property", OBJECT)
    + member("uprn", quoted(12))
    + member("postcode", POSTCODE)
    + member("identity_source", quoted(23))
    + member("valuation", OBJECT)
    + member("date", DAY)
    + member("input_resolution", OBJECT)
    + member("stored_data_used", BRACES)
    + member("ignored_inputs", BRACES)
    + member("derived_inputs", BRACES);

/// Further members of every valued result.
const VALUED: usize = member("estimated_value_gbp", POUNDS)
    + member("range", BRACES)
    + member("lower_value_gbp", POUNDS)
    + member("upper_value_gbp", POUNDS)
    + member("confidence", OBJECT)
    + member("score", SHARE)
    + member("band", quoted(6));

/// Further members of a referred result.
const REFERRED: usize = member("range", 4)
    + member("referral", BRACES)
    + member("code", quoted(22))
    + member("message", quoted(REFERRAL_MESSAGE_MAX));

/// The errors of a row that was admitted: one.
const LATE_FAULT: usize = member("errors", BRACES)
    + BRACES
    + member("code", quoted(32))
    + member("message", quoted(LATE_MESSAGE_MAX))
    + member("retryable", 5)
    + member("field", quoted(40));

/// Returns the most bytes of a note on this input, the comma included. Notes of stored values name
/// a source; notes of derived values name a source and a reason.
fn note(field: Input) -> usize {
    let field = member("field", quoted(field.code().len()));
    let stored = member("source", quoted(18));
    let derived = member("source", quoted(7)) + member("reason", quoted(17));
    OBJECT + 1 + field + if stored > derived { stored } else { derived }
}

/// Most bytes of a note on an input that is ignored.
const IGNORED: usize = BRACES + 1 + member("field", quoted(17)) + member("reason", quoted(22));

impl Extent<'_> {
    /// Returns the most bytes of the result, whatever the outcome of the row. `blank` are the
    /// inputs that stored data, the route or the release may fill.
    #[must_use]
    pub fn largest(&self, blank: impl Iterator<Item = Input>) -> usize {
        let notes: usize = blank.map(note).sum::<usize>() + self.ignored * IGNORED;
        let comparables = self.sections.comparables.map_or(0, |limit| {
            let limit = usize::from(limit);
            // A rank has one digit, but for the tenth.
            member("comparables", BRACES) + limit * (COMPARABLE + 1 + 1) + limit / 10
        });
        let context = if self.sections.context {
            member("context", CONTEXT) + self.authority_name
        } else {
            0
        };
        let coverage = member("nominal_coverage", json_len(&self.nominal_coverage));
        let valued = quoted(6) + VALUED + coverage + comparables + context;
        let referred = quoted(8) + REFERRED;
        let resolved = RESOLVED + notes + valued.max(referred);
        let failed = quoted(16) + LATE_FAULT;
        head(self.release_id, self.request_reference) + resolved.max(failed)
    }
}

/// Returns the exact number of bytes of the result of a row that is rejected for these errors.
#[must_use]
pub fn rejected(
    release_id: &str,
    request_reference: Option<&str>,
    errors: &[ValidationError],
) -> usize {
    let result = ValuationResult {
        release_id,
        execution_id: Uuid::nil(),
        valuation_id: Uuid::nil(),
        request_reference,
        outcome: Outcome::Rejected(errors.to_vec()),
    };
    json_len(&result)
}

/// Returns the members of every result, without its status.
fn head(release_id: &str, request_reference: Option<&str>) -> usize {
    OBJECT
        + member("api_version", quoted(API_VERSION.len()))
        + member("release_id", json_len(&release_id))
        + member("execution_id", quoted(36))
        + member("valuation_id", quoted(36))
        + request_reference.map_or(0, |text| member("request_reference", json_len(&text)))
        + member("status", 0)
}

/// Bytes of a value as JSON.
fn json_len<T: serde::Serialize>(value: &T) -> usize {
    struct ByteCounter(usize);
    impl std::io::Write for ByteCounter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = ByteCounter(0);
    match serde_json::to_writer(&mut counter, value) {
        Ok(()) => counter.0,
        // A result that cannot be serialised is never sent.
        Err(_) => 0,
    }
}

#[cfg(test)]
#[path = "extent_tests.rs"]
mod tests;
