//! From a model's source and a property snapshot to a release.
//!
//! A model that is fitted has a native binary `fit`, which this drives: `fit train` on the sales up
//! to a day; then the release values later sales as if on their own days, and `fit calibrate` turns
//! its errors into ranges. So a range is calibrated on sales that the fit never saw, by the very
//! component that is published. A model whose component shows its inputs learns from those in between (`fit learn`).
//! The latest sales are seen by neither: the finished release is tested
//! on them, and what comes of it is in the package.

pub(crate) mod features;
mod guest;
pub(crate) mod homes;
mod model_source;
mod predictions;
mod python;
mod record;
mod settings;
mod training;
pub(crate) mod untouched;

use crate::backtest::Tested;
use crate::clock::{Clock, MachineClock};
use crate::compiled;
use crate::profile;
use anyhow::{Context, bail};
use chrono::{DateTime, Datelike, NaiveDate, Utc};
use domesday_engine::config::Allocation;
use domesday_engine::evidence::SnapshotEvidence;
use domesday_engine::{Limits, Runtime, fixture};
use domesday_package::{
    DateWindow, Draft, EngineVersion, FilePath, Learnt, PackageId, PropertyBody, Sha256Digest,
    SnapshotPin, Source, Timestamp, Trust, ValuationBody, open, write,
};
use domesday_property::Snapshot;
use domesday_registers::Day;
use model_source::ModelSource;
use settings::Settings;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Days between the last sale that is fitted and the latest of all, unless said otherwise.
const LATER_DAYS: i32 = 730;
/// Days of sales that neither fit nor calibration sees, unless said otherwise: the back-test's.
const UNTOUCHED_DAYS: i32 = 182;
const BACKTEST: &str = "backtest.json";
const COMPONENT: &str = "component.wasm";
const FIXTURES: &str = "fixtures.jsonl";
const PARAMETERS: &str = "parameters.json";

/// What to build.
pub struct Plan {
    /// The release's id.
    pub id: PackageId,
    /// The model's folder.
    pub model: PathBuf,
    /// The releases folder.
    pub releases: PathBuf,
    /// The snapshot that the release is pinned to.
    pub snapshot: PackageId,
    /// First valuation date.
    pub valuation_from: Option<NaiveDate>,
    /// Last valuation date.
    pub valuation_to: Option<NaiveDate>,
    /// The day from which it is in force.
    pub effective: Option<NaiveDate>,
    /// The last day whose sales are fitted.
    pub fit_through: Option<NaiveDate>,
    /// The last day whose sales calibrate.
    pub calibrate_through: Option<NaiveDate>,
    /// Sales to calibrate on, at most.
    pub calibrate_on: usize,
    /// Days up to `fit_through` whose sales a model that shows its inputs learns from.
    pub learn_days: i32,
    /// Sales that it learns from, at most.
    pub learn_on: usize,
    /// Sales of the back-test, at most.
    pub backtest_on: usize,
    /// When the package is made.
    pub created: Option<DateTime<Utc>>,
    /// The folder that keeps compiled code, if any is to.
    pub compiled: Option<PathBuf>,
}

/// Hears how far a build has come: stage, done, in all.
pub type Watch<'a> = dyn FnMut(&str, u64, u64) + 'a;

/// Builds the release's package, unsigned, and says where it is.
///
/// # Errors
/// What cannot be built, and why.
pub fn build(plan: &Plan, watch: &mut Watch<'_>) -> anyhow::Result<PathBuf> {
    let settings = Settings::read(&plan.model)?;
    let Pinned {
        pin,
        snapshot,
        database,
        synthetic,
    } = pinned(plan)?;
    let latest = snapshot
        .identity()
        .latest_sale
        .context("the snapshot holds no sale")?;
    let fit_through = plan
        .fit_through
        .map_or(Day(latest.0 - LATER_DAYS), Day::from);
    let calibrate_through = calibrated(plan.calibrate_through.map(Day::from), fit_through, latest)?;
    let source = ModelSource::of(&plan.model, &settings)?;
    let runtime = compiled::runtime(Allocation::OnDemand, plan.compiled.as_deref())?;
    let limits = Limits::new(settings.fuel_per_row, settings.memory_bytes);
    let evidence = Arc::new(SnapshotEvidence::new(snapshot.clone()));
    let workshop = tempfile::tempdir()?;

    let mut files = BTreeMap::new();
    let mut parameters = None;
    let mut learnt = None;
    if let Some(guest) = source.fitted() {
        let path = workshop.path().join(PARAMETERS);
        let sales = workshop.path().join("sales.jsonl");
        watch("listing sales", 0, 1);
        let rows = training::write(&snapshot, fit_through, &sales)?;
        if rows == 0 {
            bail!(
                "the snapshot holds no sale of a home up to {fit_through}; choose a later --fit-through"
            );
        }
        watch("fitting", 0, 1);
        guest.fit(
            &["train", "--sales"],
            &[&sales],
            &["--through", &fit_through.to_string(), "--out"],
            &path,
        )?;
        watch("building the model", 0, 1);
        let mut release = runtime.admit(&guest.component(Some(&path))?, limits)?;
        if release.shows_inputs() {
            let features = workshop.path().join("features.csv");
            let days = (Day(fit_through.0 - plan.learn_days), fit_through);
            let rows = features::write(
                &snapshot,
                &release,
                &evidence,
                days,
                plan.learn_on,
                &features,
                watch,
            )?;
            if rows == 0 {
                bail!(
                    "no sale from {} to {fit_through} can be learnt from; choose a later --fit-through",
                    days.0
                );
            }
            watch("learning", 0, 1);
            let learnt = workshop.path().join("learnt.json");
            guest.fit(
                &["learn", "--parameters"],
                &[&path],
                &["--features", &features.display().to_string(), "--out"],
                &learnt,
            )?;
            std::fs::rename(&learnt, &path)?;
            watch("building the model", 0, 1);
            release = runtime.admit(&guest.component(Some(&path))?, limits)?;
        }
        let predictions = workshop.path().join("predictions.jsonl");
        let rows = predictions::write(
            &snapshot,
            &release,
            evidence.clone(),
            (Day(fit_through.0 + 1), calibrate_through),
            plan.calibrate_on,
            &predictions,
            watch,
        )?;
        if rows > 0 {
            watch("calibrating", 0, 1);
            let calibrated = workshop.path().join("calibrated.json");
            let coverage = settings.nominal_coverage.to_string();
            guest.fit(
                &["calibrate", "--parameters"],
                &[&path],
                &[
                    "--coverage",
                    &coverage,
                    "--predictions",
                    &predictions.display().to_string(),
                    "--out",
                ],
                &calibrated,
            )?;
            std::fs::rename(&calibrated, &path)?;
        }
        let last = if rows > 0 {
            calibrate_through
        } else {
            fit_through
        };
        learnt = Some(Learnt {
            fitted_through: fit_through.date().context("the last day of the fit")?,
            calibrated_through: last.date().context("the last day of the calibration")?,
        });
        let bytes = std::fs::read(&path)?;
        parameters = Some(Sha256Digest::of(&bytes));
        files.insert(PARAMETERS.parse::<FilePath>()?, Source::Bytes(bytes));
    }
    watch("building the release", 0, 1);
    let kept = workshop.path().join(PARAMETERS);
    let component = source.component(parameters.is_some().then_some(kept.as_path()))?;
    let release = runtime.admit_as(source.profile(), &component, limits)?;

    let from = plan
        .valuation_from
        .or_else(|| Day(latest.0 + 1).date())
        .context("the snapshot's latest sale has no date")?;
    let to = plan
        .valuation_to
        .unwrap_or_else(|| from.with_year(from.year() + 1).unwrap_or(from));
    watch("recording fixtures", 0, 1);
    let recorded = record::record(&snapshot, &release, evidence, Day::from(from))?;
    let mut lines = Vec::new();
    fixture::write(&recorded, &mut lines)?;
    files.insert(COMPONENT.parse()?, Source::Bytes(component));
    files.insert(FIXTURES.parse()?, Source::Bytes(lines));

    let mut body = ValuationBody {
        release_id: plan.id.clone(),
        interface: "domesday:valuation@1.0.0".to_owned(),
        profile: profile::stated(source.profile()),
        snapshot: pin,
        effective_date: plan.effective.unwrap_or(from),
        countries: settings.countries,
        property_types: settings.property_types,
        valuation_date: DateWindow { from, to },
        limits: settings.limits,
        endpoints: settings.endpoints,
        fuel_per_row: settings.fuel_per_row,
        memory_bytes: settings.memory_bytes,
        nominal_coverage: settings.nominal_coverage,
        confidence_bands: settings.confidence_bands,
        monotone: settings.monotone,
        fixtures: FIXTURES.parse()?,
        backtest: None,
        component: COMPONENT.parse()?,
        model: source.described(parameters, learnt),
        engine: EngineVersion {
            name: "wasmtime".to_owned(),
            version: Runtime::WASMTIME.to_owned(),
        },
    };
    let tested = Tested {
        manifest: &body,
        release: &release,
        snapshot: &snapshot,
        database: &database,
        synthetic,
    };
    // A model that learns nothing from sales may be tested on the same ones as one that does.
    let untouched = (Day(calibrate_through.0 + 1), latest);
    if let Some(report) = untouched::report(&tested, plan, untouched, watch)? {
        files.insert(BACKTEST.parse()?, Source::Bytes(report));
        body.backtest = Some(BACKTEST.parse()?);
    }
    let shelf = plan.releases.join("valuation");
    let created = timestamp(plan.created)?;
    write(
        &shelf,
        Draft {
            id: plan.id.clone(),
            created,
            body,
            files,
        },
    )?;
    Ok(shelf.join(plan.id.as_str()))
}

/// The last day that calibrates: as told, or half a year before the latest sale, or half way between
/// fit and latest sale where the fit goes further than that.
fn calibrated(told: Option<Day>, fit_through: Day, latest: Day) -> anyhow::Result<Day> {
    match told {
        Some(day) if day <= fit_through => bail!(
            "sales up to {fit_through} are fitted, so that none are left to calibrate on up to {day}; choose an earlier \
             --fit-through or a later --calibrate-through"
        ),
        Some(day) => Ok(day),
        None => {
            let half_way = fit_through.0 + (latest.0 - fit_through.0) / 2;
            Ok(Day((latest.0 - UNTOUCHED_DAYS)
                .max(half_way)
                .max(fit_through.0)))
        }
    }
}

/// The snapshot of a release to be.
struct Pinned {
    pin: SnapshotPin,
    snapshot: Arc<Snapshot>,
    database: PathBuf,
    synthetic: bool,
}

fn pinned(plan: &Plan) -> anyhow::Result<Pinned> {
    let place = plan.releases.join("property").join(plan.snapshot.as_str());
    // A release may be built on a snapshot before either is signed; serving them needs both.
    let package = open(&place, &Trust::Unsigned)?;
    let body: PropertyBody = package.body()?;
    let database = package.path(body.database.as_str())?;
    Ok(Pinned {
        snapshot: Arc::new(Snapshot::open(&database)?),
        database,
        pin: SnapshotPin {
            id: plan.snapshot.clone(),
            content_digest: body.content_digest,
        },
        synthetic: body.synthetic,
    })
}

/// When a package is made: as told, or now, to the second.
///
/// # Errors
/// Outside the years that a manifest can state.
pub fn timestamp(told: Option<DateTime<Utc>>) -> anyhow::Result<Timestamp> {
    let at = told.unwrap_or_else(|| MachineClock.utc());
    at.format("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
        .parse()
        .context("the time of making")
}
