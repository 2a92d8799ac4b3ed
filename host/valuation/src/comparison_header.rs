//! The header of a comparison: two releases and their training windows.

use crate::comparison_outcome::band_word;
use crate::release_store::OpenRelease;
use chrono::NaiveDate;
use domesday_evaluation::LEAST_ROWS;
use domesday_evaluation::compare::header::{ComparedRelease, Header, Source};
use domesday_evaluation::compare::sides::Sides;
use domesday_evaluation::report::TrainingData;
use domesday_package::ValuationBody;
use domesday_property::GssCode;
use domesday_registers::Day;

/// Returns the header of a comparison of two releases. `first` is the first day of the sales that
/// they are judged on, if there are any.
pub fn header(releases: Sides<&OpenRelease>, rows: Source, first: Option<Day>) -> Header {
    Header {
        releases: releases.map(|release| {
            let manifest = &release.manifest;
            let bands = manifest.confidence_bands.iter();
            ComparedRelease {
                release_id: release.id.clone(),
                model: manifest.model.name.clone(),
                model_version: manifest.model.version.clone(),
                snapshot_id: manifest.snapshot.id.to_string(),
                snapshot_content: manifest.snapshot.content_digest.to_string(),
                latest_sale: release.latest_sale.map(|day| day.to_string()),
                nominal_coverage: manifest.nominal_coverage,
                bands: bands.map(|band| band_word(band.band).to_owned()).collect(),
                training_data: training_data(manifest, first.unwrap_or(Day(i32::MAX))),
            }
        }),
        rows,
        least_rows: LEAST_ROWS,
    }
}

/// Returns an authority's name from whichever snapshot has one.
pub fn authority_name(releases: Sides<&OpenRelease>, code: &str) -> Option<String> {
    let code = GssCode::parse(code)?;
    let of = |release: &OpenRelease| Some(release.snapshot.authority(code)?.name.clone());
    of(releases.a).or_else(|| of(releases.b))
}

/// Returns the sales that the release was trained on, beside a window that begins on `from`.
///
/// Of a model that the build did not fit, nobody states what the numbers in its source were fitted
/// on. No window is refused for it.
///
/// A window that ends before those days is no better than one that holds them. A model of later
/// sales knows how prices went on.
pub fn training_data(manifest: &ValuationBody, from: Day) -> TrainingData {
    match (
        &manifest.model.training_window,
        &manifest.model.parameters_sha256,
    ) {
        (Some(window), _) => TrainingData::Sales {
            fitted_through: window.fitted_through.to_string(),
            calibrated_through: window.calibrated_through.to_string(),
            overlap: from <= Day::from(last_training_day(window)),
        },
        (None, Some(_)) => TrainingData::Unstated,
        (None, None) => TrainingData::Nothing,
    }
}

/// Returns the last day of a release's training data.
pub fn last_training_day(window: &domesday_package::TrainingWindow) -> NaiveDate {
    window.fitted_through.max(window.calibrated_through)
}
