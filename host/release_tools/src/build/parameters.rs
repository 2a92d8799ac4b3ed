//! The parameters of a fitted model. Its own program `fit` fits, trains and calibrates them.

use super::cargo_guest::Guest;
use super::context::BuildContext;
use super::{BuildError, features, predictions, sale_sample, training};
use domesday_engine::Release;
use domesday_package::{Sha256Digest, TrainingWindow};
use domesday_property::ExportedSale;
use domesday_registers::{Day, Progress};
use std::path::{Path, PathBuf};

/// The file of the package that holds them.
pub const PARAMETERS: &str = "parameters.json";

/// Fitted parameters, in a file and in memory.
pub struct Parameters {
    /// The file, in the build's working folder.
    pub path: PathBuf,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The sales that the parameters are of.
    pub training_window: TrainingWindow,
}

impl Parameters {
    /// Returns the digest of the file.
    pub fn digest(&self) -> Sha256Digest {
        Sha256Digest::of(&self.bytes)
    }
}

/// Fits the model's parameters, or returns none where the model has no program `fit`.
///
/// # Errors
/// [`BuildError`] if there is no sale to train on, or the program fails.
pub fn fit_parameters(
    context: &BuildContext<'_>,
    progress: &mut Progress<'_>,
) -> Result<Option<Parameters>, BuildError> {
    let Some(guest) = context.source.fit_crate() else {
        return Ok(None);
    };
    let path = context.work_dir.path().join(PARAMETERS);
    fit_sales(context, guest, &path, progress)?;
    let release = learn_from_inputs(context, guest, &path, progress)?;
    let calibrated = calibrate_ranges(context, guest, &release, &path, progress)?;
    let days = &context.days;
    let last = match calibrated {
        true => days.calibrate_until,
        false => days.train_until,
    };
    let training_window = TrainingWindow {
        fitted_through: days
            .train_until
            .date()
            .ok_or(BuildError::NoDate("the last day of the fit"))?,
        calibrated_through: last
            .date()
            .ok_or(BuildError::NoDate("the last day of the calibration"))?,
    };
    let bytes = std::fs::read(&path).map_err(BuildError::file(&path))?;
    Ok(Some(Parameters {
        path,
        bytes,
        training_window,
    }))
}

/// Runs `fit train` on the sales up to `--train-until`.
fn fit_sales(
    context: &BuildContext<'_>,
    guest: &Guest,
    path: &Path,
    progress: &mut Progress<'_>,
) -> Result<(), BuildError> {
    let train_until = context.days.train_until;
    let sales = context.work_dir.path().join("sales.jsonl");
    progress("listing sales", 0, 1);
    let rows = training::write(&context.snapshot.snapshot, train_until, &sales)?;
    if rows == 0 {
        return Err(BuildError::NothingToFit { train_until });
    }
    progress("fitting", 0, 1);
    guest.fit(
        &["train", "--sales"],
        &[&sales],
        &["--train-until", &train_until.to_string(), "--out"],
        path,
    )?;
    Ok(())
}

/// Builds the model with its fitted parameters. Where its component shows its inputs, runs `fit
/// learn` on them and builds it again.
fn learn_from_inputs(
    context: &BuildContext<'_>,
    guest: &Guest,
    path: &Path,
    progress: &mut Progress<'_>,
) -> Result<Release, BuildError> {
    let admit = |progress: &mut Progress<'_>| -> Result<Release, BuildError> {
        progress("building the model", 0, 1);
        let component = guest.component(Some(path), progress)?;
        Ok(context.runtime.admit(&component, context.limits)?)
    };
    let release = admit(progress)?;
    if !release.shows_inputs() {
        return Ok(release);
    }
    let train_until = context.days.train_until;
    let features = context.work_dir.path().join("features.csv");
    let days = (
        Day(train_until.0 - context.options.feature_days),
        train_until,
    );
    let (snapshot, most) = (&context.snapshot.snapshot, context.options.max_feature_rows);
    let standard = |sold: &ExportedSale| sold.sale.standard;
    let sample = sale_sample::take(snapshot, &context.settings, days, most, standard)?;
    let lagged = &context.lagged_evidence;
    let rows = features::write(&sample, &release, lagged, &features, progress)?;
    if rows == 0 {
        return Err(BuildError::NothingToLearn {
            from: days.0,
            train_until,
        });
    }
    progress("learning", 0, 1);
    let trained = context.work_dir.path().join("trained.json");
    guest.fit(
        &["learn", "--parameters"],
        &[path],
        &["--features", &features.display().to_string(), "--out"],
        &trained,
    )?;
    std::fs::rename(&trained, path).map_err(BuildError::file(&trained))?;
    admit(progress)
}

/// Values the sales after the fit as at their own days, and runs `fit calibrate` on the errors.
/// Returns whether there was any sale to calibrate on.
fn calibrate_ranges(
    context: &BuildContext<'_>,
    guest: &Guest,
    release: &Release,
    path: &Path,
    progress: &mut Progress<'_>,
) -> Result<bool, BuildError> {
    let predictions = context.work_dir.path().join("predictions.jsonl");
    let (snapshot, most) = (
        &context.snapshot.snapshot,
        context.options.max_calibration_rows,
    );
    let days = context.days.calibration();
    let sample = sale_sample::take(snapshot, &context.settings, days, most, |_| true)?;
    let lagged = &context.lagged_evidence;
    let rows = predictions::write(&sample, release, lagged, &predictions, progress)?;
    if rows == 0 {
        return Ok(false);
    }
    progress("calibrating", 0, 1);
    let calibrated = context.work_dir.path().join("calibrated.json");
    let coverage = context.settings.nominal_coverage.to_string();
    let mut calibrate = vec!["calibrate"];
    // Not every model's program knows it, so the others get no argument that they refuse.
    if context.options.fixed_ranges {
        calibrate.push("--fixed");
    }
    let ends = context.settings.confidence_bands.iter();
    let ends: Vec<String> = ends.map(|band| band.from.to_string()).collect();
    let ends = ends.join(",");
    if context.options.ranges_by_band {
        calibrate.extend(["--bands", &ends]);
    }
    calibrate.push("--parameters");
    guest.fit(
        &calibrate,
        &[path],
        &[
            "--coverage",
            &coverage,
            "--predictions",
            &predictions.display().to_string(),
            "--out",
        ],
        &calibrated,
    )?;
    std::fs::rename(&calibrated, path).map_err(BuildError::file(&calibrated))?;
    Ok(true)
}
