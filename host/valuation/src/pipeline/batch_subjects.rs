//! The homes of a batch as a release sees them, for tools that run the release alone.

use super::address_lookup::AddressLookups;
use super::eligibility::outside;
use super::row::{RequestContext, parse, resolve};
use crate::release_store::OpenRelease;
use domesday_contract::error::ValidationError;
use domesday_contract::v3::request::{Batch, Kind, ROWS_MAX, RequestError};
use domesday_contract::v3::result::Outcome;
use domesday_engine::subject::Subject;
use std::sync::Arc;

/// A row of a batch.
pub struct BatchRow {
    /// The customer's own reference, or the number of the row.
    pub name: String,
    /// The home, or the reason why the release is not run.
    pub subject: Result<Subject, String>,
}

/// Reads the body of a batch of existing properties. It may use stored data and asks no address
/// provider.
///
/// # Errors
/// The errors of the envelope.
pub fn batch_subjects(
    release: &Arc<OpenRelease>,
    body: &[u8],
) -> Result<Vec<BatchRow>, RequestError> {
    let batch = Batch::read(body, Kind::Existing, ROWS_MAX)?;
    let context = RequestContext::of_tool(release.clone(), batch.settings);
    let rows = batch.rows.iter().enumerate().map(|(at, row)| {
        let row = parse(row, &context);
        let name = row.request_reference.clone();
        BatchRow {
            name: name.unwrap_or_else(|| format!("row {}", at + 1)),
            subject: match row.request() {
                Ok(request) => match resolve(request, release, &AddressLookups::none()) {
                    Ok(merged) => eligible(release, merged.subject),
                    Err(ended) => Err(reason(&ended.outcome)),
                },
                Err(errors) => Err(first(errors)),
            },
        }
    });
    Ok(rows.collect())
}

fn eligible(release: &OpenRelease, subject: Subject) -> Result<Subject, String> {
    match outside(&release.manifest, &subject) {
        None => Ok(subject),
        Some(referral) => Err(referral.message),
    }
}

fn reason(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Rejected(errors) | Outcome::Failed(errors) => first(errors),
        Outcome::Referred(referred) => referred.referral.message.clone(),
        Outcome::Valued(_) => String::new(),
    }
}

fn first(errors: &[ValidationError]) -> String {
    let first = errors.first();
    first.map_or_else(String::new, |error| error.message.clone().into_owned())
}
