//! One sale, valued.

use super::request_shape::reshape;
use super::{BacktestError, SaleError, band_word, baselines};
use crate::build::sold_subject;
use domesday_engine::Release;
use domesday_engine::evidence::EvidenceSource;
use domesday_engine::outcome::Outcome;
use domesday_engine::subject::Subject;
use domesday_evaluation::report::AsAt;
use domesday_evaluation::request_shape::RequestShape;
use domesday_evaluation::row::{Prediction, Row, StatedInputs};
use domesday_package::ValuationBody;
use domesday_property::{ExportedSale, Snapshot};
use domesday_registers::Day;
use domesday_valuation::pipeline::eligibility::outside;
use std::sync::Arc;

/// Values sales as at their own days.
#[derive(Clone)]
pub struct Valuer<'a> {
    /// The body of the release's manifest.
    pub manifest: &'a ValuationBody,
    pub release: &'a Release,
    pub snapshot: &'a Snapshot,
    pub evidence: Arc<dyn EvidenceSource>,
    pub as_at: AsAt,
    /// Days before the valuation day that the evidence hides.
    pub lag: i32,
    /// The parts of the home's size that a request states.
    pub shape: RequestShape,
}

impl Valuer<'_> {
    /// Values a sale with the release and the baselines. Returns `None` where a request of the
    /// shape cannot ask about the home.
    ///
    /// # Errors
    /// [`BacktestError::Sale`] if the snapshot cannot be read or the host fails.
    pub fn row(&self, sold: &ExportedSale) -> Result<Option<Row>, BacktestError> {
        self.value(sold).map_err(|source| BacktestError::Sale {
            id: sold.sale.id,
            day: sold.sale.day,
            source,
        })
    }

    fn value(&self, sold: &ExportedSale) -> Result<Option<Row>, SaleError> {
        let sale = &sold.sale;
        let day = match self.as_at {
            AsAt::Sale => sale.day,
            AsAt::Month => Day::first_of_month(sale.day.month()).ok_or(SaleError::Month)?,
        };
        let subject = subject(sold, day, self.snapshot, self.lag)?;
        let Some(subject) = reshape(&subject, self.shape).map(Arc::new) else {
            return Ok(None);
        };
        let answer = self.answer(&subject)?;
        let evidence = &*self.evidence;
        Ok(Some(Row {
            id: sale.id,
            day: sale.day,
            price: sale.price_gbp as f64,
            property_type: sale.property_type,
            authority: subject.authority.clone(),
            postcode_area: sale.postcode.area().to_owned(),
            postcode: sale.postcode.to_string(),
            stated: StatedInputs {
                subtype: subject.subtype,
                tenure: subject.tenure,
                bedrooms: subject.size.bedrooms,
            },
            new_build: sale.new_build,
            floor_area: subject.size.floor_area_m2.is_some(),
            answer,
            baselines: [
                baselines::last_sale_indexed(&subject, evidence)?,
                baselines::local_price_per_sqm(&subject, evidence)?,
            ],
        }))
    }

    /// Returns the prediction that a report counts. A service refers a home that the manifest does
    /// not list, though the release would value it.
    ///
    /// # Errors
    /// [`SaleError::NotValued`] if the host fails.
    fn answer(&self, subject: &Arc<Subject>) -> Result<Prediction, SaleError> {
        if let Some(referral) = outside(self.manifest, subject) {
            return Ok(Prediction::Referred(word(&referral.code)?));
        }
        let run = self.release.value(subject, self.evidence.clone());
        Ok(match run.outcome {
            Ok(Outcome::Valued(value)) => {
                let band = self.manifest.band(value.confidence).map(band_word);
                Prediction::Valued {
                    estimate: value.estimate,
                    range: value.range.map(|range| [range.lower, range.upper]),
                    band: band.ok_or(SaleError::NoBand)?.to_owned(),
                }
            }
            Ok(Outcome::Referred(referral)) => Prediction::Referred(word(&referral.reason)?),
            Ok(Outcome::Failed { reason }) => Prediction::Failed(word(&reason)?),
            Err(failure) if failure.retryable() => return Err(SaleError::NotValued(failure)),
            Err(failure) => Prediction::Failed(failure.to_string()),
        })
    }
}

/// Returns the home of a sale as at a day, from the records in `snapshot`. The newest `lag` days of
/// evidence are hidden.
///
/// # Errors
/// [`SaleError::Incomplete`] if the register lacks an input that a customer must state. Another
/// [`SaleError`] if the snapshot cannot be read.
pub fn subject(
    sold: &ExportedSale,
    day: Day,
    snapshot: &Snapshot,
    lag: i32,
) -> Result<Arc<Subject>, SaleError> {
    let property = match sold.sale.uprn {
        Some(uprn) => snapshot.property(uprn)?,
        None => None,
    };
    let mut as_at = sold.clone();
    as_at.subject = property.and_then(|property| property.attributes_before(day));
    let through = Day(day.0 - 1 - lag);
    let latest = snapshot.identity().latest_sale;
    let through = latest.map_or(through, |latest| latest.min(through));
    let subject = sold_subject::subject(&as_at, day, through).ok_or(SaleError::Incomplete)?;
    Ok(Arc::new(subject))
}

/// Spells a reason as the wire does.
fn word(reason: &impl serde::Serialize) -> serde_json::Result<String> {
    match serde_json::to_value(reason)? {
        serde_json::Value::String(word) => Ok(word),
        other => Ok(other.to_string()),
    }
}

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;
