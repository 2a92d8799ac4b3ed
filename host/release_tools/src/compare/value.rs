//! One row by both releases, in turn.

use super::CompareError;
use super::subjects::ComparisonSubject;
use domesday_engine::evidence::EvidenceSource;
use domesday_engine::subject::Subject;
use domesday_evaluation::compare::paired::{PairedRow, Side};
use domesday_evaluation::compare::sides::Sides;
use domesday_valuation::comparison_outcome::{compared_outcome, referred_outcome};
use domesday_valuation::pipeline::eligibility::outside;
use domesday_valuation::release_store::OpenRelease;
use std::sync::Arc;
use std::time::Instant;

/// Values a row twice by both releases, each by its evidence; `at` is its number, which decides who
/// goes first.
///
/// # Errors
/// [`CompareError::NotValued`] if the host fails, [`CompareError::Unsteady`] if a release gives two
/// results for a row.
pub fn pair(
    row: ComparisonSubject,
    releases: &Sides<OpenRelease>,
    evidence: &Sides<Arc<dyn EvidenceSource>>,
    at: usize,
) -> Result<PairedRow, CompareError> {
    let a = || side(&releases.a, &evidence.a, &row.subjects.a, &row.name);
    let b = || side(&releases.b, &evidence.b, &row.subjects.b, &row.name);
    // The second release finds the evidence in memory already, so the two take turns.
    let round = || -> Result<Sides<Side>, CompareError> {
        Ok(match at.is_multiple_of(2) {
            true => Sides { a: a()?, b: b()? },
            false => {
                let b = b()?;
                Sides { a: a()?, b }
            }
        })
    };
    let first = round()?;
    let second = round()?;
    for (release, first, second) in [
        (&releases.a, &first.a, &second.a),
        (&releases.b, &first.b, &second.b),
    ] {
        if first.outcome != second.outcome {
            return Err(CompareError::Unsteady {
                row: row.name.clone(),
                release: release.id.clone(),
            });
        }
    }
    let subject = &row.subjects.a;
    Ok(PairedRow {
        row: row.name,
        property_type: subject.property_type,
        authority: subject.authority.clone(),
        postcode_area: subject.postcode.area().to_owned(),
        postcode: row.postcode,
        price: row.price,
        sides: second,
    })
}

/// Values a subject with a release as a client would see it, and measures the cost.
fn side(
    release: &OpenRelease,
    evidence: &Arc<dyn EvidenceSource>,
    subject: &Arc<Subject>,
    name: &str,
) -> Result<Side, CompareError> {
    let began = Instant::now();
    if let Some(referral) = outside(&release.manifest, subject) {
        return Ok(Side {
            outcome: referred_outcome(&referral),
            fuel: 0,
            micros: micros(began),
        });
    }
    let row = release.release.value(subject, evidence.clone());
    let micros = micros(began);
    if let Err(failure) = &row.outcome
        && failure.retryable()
    {
        return Err(CompareError::NotValued {
            row: name.to_owned(),
            release: release.id.clone(),
            failure: failure.clone(),
        });
    }
    Ok(Side {
        outcome: compared_outcome(release, &row.outcome),
        fuel: row.cost.fuel,
        micros,
    })
}

fn micros(began: Instant) -> f64 {
    // To the nanosecond, which is as exact as it is measured.
    began.elapsed().as_nanos() as f64 / 1_000.0
}
