//! Predictions of a release for sales that its fit never saw, each valued as at its own day.

use super::{BuildError, sold_subject};
use crate::backtest::lagged_evidence::LaggedEvidence;
use domesday_engine::Release;
use domesday_engine::outcome::Outcome;
use domesday_engine::subject::Subject;
use domesday_property::ExportedSale;
use domesday_registers::Day;
use domesday_registers::Progress;
use domesday_registers::codes::{AgeBand, PropertyType, Tenure};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// Sales valued between two reports of progress.
const CHUNK: usize = 500;

#[derive(Serialize)]
struct Row {
    id: u64,
    day: Day,
    price_gbp: u64,
    property_type: PropertyType,
    tenure: Tenure,
    /// Sales of one postcode are not independent.
    postcode: String,
    authority: String,
    new_build: bool,
    age_band: Option<AgeBand>,
    status: &'static str,
    estimate: Option<f64>,
    confidence: Option<f64>,
    comparables: usize,
    range: Option<[f64; 2]>,
    /// The inputs that the component shows, by name. Absent where it shows none. A missing number
    /// is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<BTreeMap<String, f64>>,
}

/// Values these sales, and writes one line each. Returns their number.
///
/// # Errors
/// [`BuildError`] if the file cannot be written or the release fails.
pub fn write(
    sample: &[ExportedSale],
    release: &Release,
    evidence: &Arc<LaggedEvidence>,
    path: &Path,
    progress: &mut Progress<'_>,
) -> Result<u64, BuildError> {
    let mut out = BufWriter::new(File::create(path).map_err(BuildError::file(path))?);
    let (mut rows, mut done) = (0, 0);
    for chunk in sample.chunks(CHUNK) {
        let valued: Vec<Result<Option<Row>, BuildError>> = chunk
            .par_iter()
            .map(|sold| row(sold, release, evidence))
            .collect();
        for row in valued {
            if let Some(row) = row? {
                serde_json::to_writer(&mut out, &row).map_err(BuildError::line(path))?;
                out.write_all(b"\n").map_err(BuildError::file(path))?;
                rows += 1;
            }
        }
        done += chunk.len();
        progress("valuing later sales", done as u64, sample.len() as u64);
    }
    out.flush().map_err(BuildError::file(path))?;
    Ok(rows)
}

fn row(
    sold: &ExportedSale,
    release: &Release,
    evidence: &Arc<LaggedEvidence>,
) -> Result<Option<Row>, BuildError> {
    let sale = &sold.sale;
    let Some(subject) = sold_subject::subject(sold, sale.day, evidence.through(sale.day)) else {
        return Ok(None);
    };
    let subject = Arc::new(subject);
    // A calibration may weigh the parts of an estimate, which are among the inputs.
    let inputs = if release.shows_inputs() {
        shown_inputs(sold, release, &subject, evidence)?
    } else {
        None
    };
    let run = release.value(&subject, evidence.clone());
    let (status, valuation) = match run.outcome {
        Ok(Outcome::Valued(valuation)) => ("valued", Some(valuation)),
        Ok(Outcome::Referred(_)) => ("referred", None),
        Ok(Outcome::Failed { .. }) => ("failed", None),
        Err(failure) if failure.retryable() => {
            return Err(BuildError::NotValued {
                id: sale.id,
                failure,
            });
        }
        Err(_) => ("failed", None),
    };
    Ok(Some(Row {
        id: sale.id,
        day: sale.day,
        price_gbp: sale.price_gbp,
        property_type: subject.property_type,
        tenure: subject.tenure,
        postcode: subject.postcode.to_string(),
        authority: subject.authority.clone(),
        new_build: sale.new_build,
        age_band: subject.energy.age_band,
        status,
        estimate: valuation.as_ref().map(|valuation| valuation.estimate),
        confidence: valuation.as_ref().map(|valuation| valuation.confidence),
        comparables: valuation
            .as_ref()
            .map_or(0, |valuation| valuation.comparables.len()),
        range: valuation
            .and_then(|valuation| valuation.range)
            .map(|range| [range.lower, range.upper]),
        inputs,
    }))
}

/// Returns the component's own inputs for a sale by name, or `None` where it has no value.
fn shown_inputs(
    sold: &ExportedSale,
    release: &Release,
    subject: &Arc<Subject>,
    evidence: &Arc<LaggedEvidence>,
) -> Result<Option<BTreeMap<String, f64>>, BuildError> {
    match release.inputs(subject, evidence.clone()) {
        Ok(inputs) => Ok(inputs.map(|inputs| {
            inputs
                .into_iter()
                .map(|input| (input.name, input.value))
                .collect()
        })),
        Err(failure) if failure.retryable() => Err(BuildError::NotShown {
            id: sold.sale.id,
            failure,
        }),
        Err(_) => Ok(None),
    }
}
