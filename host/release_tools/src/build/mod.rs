//! From a model's source and a property snapshot to a release.
//!
//! A model that is fitted has a native binary `fit`, which the build drives. `fit train` trains on
//! the sales up to a day. Then the release values later sales as if on their own days, and `fit
//! calibrate` turns its errors into ranges. So the published component itself gives the errors, on
//! sales that the fit never saw. Where a component shows its inputs, the build writes those of
//! earlier sales as a table of features. `fit learn` trains on it before the calibration. Neither
//! step uses the latest sales. The build tests the finished release on them and puts the report
//! into the package.

mod cargo_guest;
mod context;
mod crate_error;
mod error;
mod expected_predictions;
pub(crate) mod features;
mod fixtures;
pub(crate) mod holdout;
mod model_source;
mod named_component;
mod options;
mod parameters;
mod predictions;
mod python;
mod sale_sample;
mod settings;
pub(crate) mod sold_subject;
mod training;
mod training_days;

pub use crate_error::CrateError;
pub use error::{BuildError, SettingsError};
pub(crate) use named_component::named_component;
pub use options::BuildOptions;
pub use python::PythonError;
#[cfg(test)]
pub(crate) use settings::Settings;

use crate::backtest::BacktestInput;
use chrono::{DateTime, Months, NaiveDate, Utc};
use context::{BuildContext, prepare};
use domesday_engine::predictions::FILE as PREDICTIONS;
use domesday_engine::{Release, Runtime, fixture};
use domesday_package::{
    DateWindow, Draft, EngineVersion, FilePath, Source, Timestamp, ValuationBody, write_signed,
};
use domesday_registers::{Day, Progress};
use domesday_valuation::profile;
use parameters::{PARAMETERS, Parameters, fit_parameters};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

const BACKTEST: &str = "backtest.json";
const COMPONENT: &str = "component.wasm";
const FIXTURES: &str = "fixtures.jsonl";

/// The component of the release, and the release that it is when it runs.
struct Component {
    bytes: Vec<u8>,
    release: Release,
}

/// Builds the release's package, signed where there is a key, and returns its folder.
///
/// # Errors
/// The stage that failed, and why.
pub fn build(options: &BuildOptions, progress: &mut Progress<'_>) -> Result<PathBuf, BuildError> {
    let context = prepare(options)?;
    let parameters = fit_parameters(&context, progress)?;
    let component = build_component(&context, parameters.as_ref(), progress)?;
    let valuation_dates = valuation_dates(options, context.days.latest)?;
    let (fixtures, predictions) = record_fixtures(
        &context,
        &component,
        parameters.as_ref(),
        valuation_dates,
        progress,
    )?;
    let mut body = describe(&context, parameters.as_ref(), valuation_dates)?;
    let report = backtest_on_holdout(&context, &component, &body, progress)?;
    if report.is_some() {
        body.backtest = Some(BACKTEST.parse()?);
    }
    let mut files = package_files(parameters, component, fixtures, report)?;
    if let Some(predictions) = predictions {
        files.insert(PREDICTIONS.parse()?, Source::Bytes(predictions));
    }
    write_package(options, body, files)
}

/// Builds the component with the fitted parameters in it, and admits it.
fn build_component(
    context: &BuildContext<'_>,
    parameters: Option<&Parameters>,
    progress: &mut Progress<'_>,
) -> Result<Component, BuildError> {
    progress("building the release", 0, 1);
    let path = parameters.map(|parameters| parameters.path.as_path());
    let bytes = context.source.component(path, progress)?;
    let profile = context.source.profile();
    let release = context.runtime.admit_as(profile, &bytes, context.limits)?;
    Ok(Component { bytes, release })
}

/// Returns the valuation dates that the release takes: by default a year from the day after the
/// snapshot's latest sale.
fn valuation_dates(options: &BuildOptions, latest: Day) -> Result<DateWindow, BuildError> {
    let from = options
        .valuation_from
        .or_else(|| Day(latest.0 + 1).date())
        .ok_or(BuildError::NoDate("the snapshot's latest sale has no date"))?;
    let to = match options.valuation_to {
        Some(to) => to,
        None => a_year_after(from).ok_or(BuildError::NoDate(
            "the year after the first valuation day has no end; name the last one by --valuation-to",
        ))?,
    };
    Ok(DateWindow { from, to })
}

/// Returns the same day of the next year. The year after a leap day ends on 28 February.
fn a_year_after(day: NaiveDate) -> Option<NaiveDate> {
    day.checked_add_months(Months::new(12))
}

/// Values homes of the snapshot, and returns the fixtures that a replay must reproduce. Where the
/// model brought expected predictions, returns those too.
fn record_fixtures(
    context: &BuildContext<'_>,
    component: &Component,
    parameters: Option<&Parameters>,
    dates: DateWindow,
    progress: &mut Progress<'_>,
) -> Result<(Vec<u8>, Option<Vec<u8>>), BuildError> {
    progress("recording fixtures", 0, 1);
    let day = Day::from(dates.from);
    let (snapshot, settings) = (&context.snapshot.snapshot, &context.settings);
    let evidence = context.evidence.clone();
    let recorded = fixtures::record(snapshot, settings, &component.release, evidence, day)?;
    let mut lines = Vec::new();
    fixture::write(&recorded, &mut lines)?;
    let predictions = match (parameters, recorded.into_iter().next()) {
        (Some(parameters), Some(first)) => {
            let stand_in = Arc::new(first.subject);
            expected_predictions::record(&parameters.bytes, component, &stand_in)?
        }
        _ => None,
    };
    Ok((lines, predictions))
}

/// Returns the body of the manifest, without a back-test.
fn describe(
    context: &BuildContext<'_>,
    parameters: Option<&Parameters>,
    dates: DateWindow,
) -> Result<ValuationBody, BuildError> {
    let (options, settings, source) = (context.options, &context.settings, &context.source);
    let digest = parameters.map(Parameters::digest);
    let training_window = parameters.map(|parameters| parameters.training_window);
    Ok(ValuationBody {
        release_id: options.id.clone(),
        interface: "domesday:valuation@1.0.0".to_owned(),
        profile: profile::manifest_profile(source.profile()),
        snapshot: context.snapshot.pin.clone(),
        effective_date: options.effective.unwrap_or(dates.from),
        countries: settings.countries.clone(),
        property_types: settings.property_types.clone(),
        valuation_date: dates,
        limits: settings.limits,
        endpoints: settings.endpoints.clone(),
        fuel_per_row: settings.fuel_per_row,
        memory_bytes: settings.memory_bytes,
        nominal_coverage: settings.nominal_coverage,
        confidence_bands: settings.confidence_bands.clone(),
        monotone: settings.monotone.clone(),
        fixtures: FIXTURES.parse()?,
        backtest: None,
        component: COMPONENT.parse()?,
        model: source.manifest_entry(digest, training_window),
        engine: EngineVersion {
            name: "wasmtime".to_owned(),
            version: Runtime::WASMTIME.to_owned(),
        },
    })
}

/// Tests the release on the sales that neither the fit nor the calibration saw.
///
/// A model that learns nothing from sales is tested on the same ones as a model that does.
fn backtest_on_holdout(
    context: &BuildContext<'_>,
    component: &Component,
    body: &ValuationBody,
    progress: &mut Progress<'_>,
) -> Result<Option<Vec<u8>>, BuildError> {
    let tested = BacktestInput {
        manifest: body,
        release: &component.release,
        snapshot: &context.snapshot.snapshot,
        database: &context.snapshot.database,
        synthetic: context.snapshot.synthetic,
    };
    holdout::report(&tested, context.options, context.days.holdout(), progress)
}

/// Returns the package's files by name.
fn package_files(
    parameters: Option<Parameters>,
    component: Component,
    fixtures: Vec<u8>,
    report: Option<Vec<u8>>,
) -> Result<BTreeMap<FilePath, Source>, BuildError> {
    let mut files = BTreeMap::from([
        (COMPONENT.parse()?, Source::Bytes(component.bytes)),
        (FIXTURES.parse()?, Source::Bytes(fixtures)),
    ]);
    if let Some(parameters) = parameters {
        files.insert(PARAMETERS.parse()?, Source::Bytes(parameters.bytes));
    }
    if let Some(report) = report {
        files.insert(BACKTEST.parse()?, Source::Bytes(report));
    }
    Ok(files)
}

/// Writes the package, and returns its folder.
fn write_package(
    options: &BuildOptions,
    body: ValuationBody,
    files: BTreeMap<FilePath, Source>,
) -> Result<PathBuf, BuildError> {
    let releases_dir = options.releases.join("valuation");
    let draft = Draft {
        id: options.id.clone(),
        created: timestamp(options.created)?,
        body,
        files,
    };
    write_signed(&releases_dir, draft, options.key.as_ref())?;
    Ok(releases_dir.join(options.id.as_str()))
}

/// Returns the time of making as a manifest states it, to the second.
///
/// # Errors
/// Outside the years that a manifest can state.
pub(crate) fn timestamp(at: DateTime<Utc>) -> Result<Timestamp, BuildError> {
    at.format("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
        .parse()
        .map_err(BuildError::Created)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_year_after_a_leap_day_is_no_single_day() {
        let after = |day: &str| {
            let day: NaiveDate = day.parse().unwrap();
            a_year_after(day).unwrap().to_string()
        };
        // The snapshot's latest sale is of 28 February.
        assert_eq!(after("2028-02-29"), "2029-02-28");
        assert_eq!(after("2027-02-28"), "2028-02-28");
        assert_eq!(after("2026-10-01"), "2027-10-01");
    }
}
