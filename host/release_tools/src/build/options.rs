//! The options of a build.

use chrono::{DateTime, NaiveDate, Utc};
use domesday_package::{PackageId, SigningKey};
use std::path::PathBuf;

/// The options of a build.
pub struct BuildOptions {
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
    /// The last day whose sales train.
    pub train_until: Option<NaiveDate>,
    /// The last day whose sales calibrate.
    pub calibrate_until: Option<NaiveDate>,
    /// Days before each valuation day whose evidence is hidden while the model trains, calibrates
    /// and is tested.
    pub evidence_lag_days: u16,
    /// True if calibration counts each sale alike. Otherwise ranges follow how those before them
    /// held as the market moved.
    pub fixed_ranges: bool,
    /// True if the ranges of each confidence band follow how its own held.
    pub ranges_by_band: bool,
    /// Sales to calibrate on, at most.
    pub max_calibration_rows: usize,
    /// Days up to `train_until` whose sales are in the table of features, of a model that shows its
    /// inputs.
    pub feature_days: i32,
    /// Sales in that table, at most.
    pub max_feature_rows: usize,
    /// Sales of the back-test, at most.
    pub max_backtest_rows: usize,
    /// Creation time of the package.
    pub created: DateTime<Utc>,
    /// The key to sign with, if any.
    pub key: Option<SigningKey>,
    /// The folder that keeps compiled code, if any is to.
    pub compiled: Option<PathBuf>,
}
