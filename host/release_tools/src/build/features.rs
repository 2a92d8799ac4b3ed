//! The table of a component's own inputs for sales, for a model that is trained on them.
//!
//! The component itself computes them, each as at the sale's own day. So training sees exactly the
//! inputs that a valuation sees.

use super::{BuildError, sold_subject};
use crate::backtest::lagged_evidence::LaggedEvidence;
use domesday_engine::Release;
use domesday_engine::inputs::Input;
use domesday_property::ExportedSale;
use domesday_registers::Progress;
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// Sales looked at between two reports of progress.
const CHUNK: usize = 500;
/// The columns before the inputs.
const BEFORE: [&str; 3] = ["sale", "day", "price_gbp"];

/// Writes the inputs of these sales as CSV, and returns of how many. A missing number is an empty
/// field. Sales that the release would not value are left out.
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
    let mut out = csv::Writer::from_path(path).map_err(BuildError::table(path))?;
    let (mut rows, mut processed) = (0, 0);
    for chunk in sample.chunks(CHUNK) {
        let listed: Vec<Result<Option<Vec<Input>>, BuildError>> = chunk
            .par_iter()
            .map(|sold| inputs(sold, release, evidence))
            .collect();
        for (sold, inputs) in chunk.iter().zip(listed) {
            let Some(inputs) = inputs? else {
                continue;
            };
            if rows == 0 {
                let names = inputs.iter().map(|input| input.name.as_str());
                out.write_record(BEFORE.into_iter().chain(names))
                    .map_err(BuildError::table(path))?;
            }
            let sale = &sold.sale;
            let before = [
                sale.id.to_string(),
                sale.day.0.to_string(),
                sale.price_gbp.to_string(),
            ];
            out.write_record(before.into_iter().chain(inputs.iter().map(format_value)))
                .map_err(BuildError::table(path))?;
            rows += 1;
        }
        processed += chunk.len();
        progress(
            "listing what the model sees",
            processed as u64,
            sample.len() as u64,
        );
    }
    out.flush().map_err(BuildError::file(path))?;
    Ok(rows)
}

/// Formats a value in the shortest form that reads back to the same bits. A missing value is an
/// empty text.
fn format_value(input: &Input) -> String {
    if input.value.is_nan() {
        String::new()
    } else {
        input.value.to_string()
    }
}

fn inputs(
    sold: &ExportedSale,
    release: &Release,
    evidence: &Arc<LaggedEvidence>,
) -> Result<Option<Vec<Input>>, BuildError> {
    let sale = &sold.sale;
    let Some(subject) = sold_subject::subject(sold, sale.day, evidence.through(sale.day)) else {
        return Ok(None);
    };
    match release.inputs(&Arc::new(subject), evidence.clone()) {
        Ok(inputs) => Ok(inputs),
        Err(failure) if failure.retryable() => Err(BuildError::NotShown {
            id: sale.id,
            failure,
        }),
        Err(_) => Ok(None),
    }
}
