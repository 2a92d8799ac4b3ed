//! The body of a valuation release's manifest.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::{FilePath, Monotone, PackageId, Sha256Digest, date};

/// The facts of a release that the service needs before it runs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValuationBody {
    /// The release's id, which is the package's.
    pub release_id: PackageId,
    /// The interface that the component is built for, such as `domesday:valuation@1.0.0`.
    pub interface: String,
    /// The imports that the component may use.
    pub profile: Profile,
    /// The one property snapshot that it values from.
    pub snapshot: SnapshotPin,
    /// The day from which the release is meant to be used.
    #[serde(with = "date")]
    pub effective_date: NaiveDate,
    /// The countries that it values in.
    pub countries: Vec<Country>,
    /// The property types that it values.
    pub property_types: Vec<PropertyType>,
    /// The valuation dates that it takes.
    pub valuation_date: DateWindow,
    /// Rows in one request or job.
    pub limits: RowLimits,
    /// The routes that it serves.
    pub endpoints: Vec<Endpoint>,
    /// Fuel that one row may spend; a row that spends it fails for good.
    pub fuel_per_row: u64,
    /// Linear memory that one instance may hold, bytes.
    pub memory_bytes: u64,
    /// The share of sales that its ranges are meant to contain, between 0 and 1.
    pub nominal_coverage: f64,
    /// From which confidence score each band begins, highest first; the last begins at 0.
    pub confidence_bands: Vec<ConfidenceBand>,
    /// Inputs that move the estimate one way only, which `domesday release check` probes; absent
    /// where none is declared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub monotone: Vec<Monotone>,
    /// The recorded valuations that a replay must repeat bit for bit.
    pub fixtures: FilePath,
    /// The back-test on sales that neither the fit nor the calibration saw; absent where there was
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backtest: Option<FilePath>,
    /// The component.
    pub component: FilePath,
    /// The model inside.
    pub model: Model,
    /// The engine under which the fixtures were recorded.
    pub engine: EngineVersion,
}

/// The imports that a component may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// The evidence interface alone.
    Pure,
    /// Besides, WASI with frozen clocks and seeded randomness, for languages that need it.
    Wasi,
}

/// A property snapshot, pinned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotPin {
    /// The snapshot's package id.
    pub id: PackageId,
    /// Its content digest; see [`crate::PropertyBody::content_digest`].
    pub content_digest: Sha256Digest,
}

/// A country that the service covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Country {
    /// England.
    England,
    /// Wales.
    Wales,
}

/// A property type, by the letter that the public contract uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PropertyType {
    /// Detached.
    #[serde(rename = "D")]
    Detached,
    /// Semi-detached.
    #[serde(rename = "S")]
    SemiDetached,
    /// Terraced.
    #[serde(rename = "T")]
    Terraced,
    /// Flat or maisonette.
    #[serde(rename = "F")]
    Flat,
}

/// A window of dates, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DateWindow {
    /// The first date.
    #[serde(with = "date")]
    pub from: NaiveDate,
    /// The last date.
    #[serde(with = "date")]
    pub to: NaiveDate,
}

/// The most rows that the release takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowLimits {
    /// In one synchronous batch, 1 to 2,500.
    pub synchronous_batch_rows: u32,
    /// In one asynchronous job, 1 to 2,500.
    pub asynchronous_job_rows: u32,
}

/// A route whose work a release may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Endpoint {
    /// One property, estimate only.
    #[serde(rename = "/v3/simple-value")]
    SimpleValue,
    /// One property with comparables and context.
    #[serde(rename = "/v3/value")]
    Value,
    /// A batch of simple values.
    #[serde(rename = "/v3/simple-batch-value")]
    SimpleBatchValue,
    /// A batch of values.
    #[serde(rename = "/v3/batch-value")]
    BatchValue,
    /// One proposed property.
    #[serde(rename = "/v3/development-value")]
    DevelopmentValue,
    /// A batch of proposed properties.
    #[serde(rename = "/v3/development-batch-value")]
    DevelopmentBatchValue,
    /// Asynchronous jobs.
    #[serde(rename = "/v3/valuation-jobs")]
    ValuationJobs,
}

/// The lower end of a confidence band.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfidenceBand {
    /// The band.
    pub band: Band,
    /// The lowest score in it, 0 to 1.
    pub from: f64,
}

/// A band of confidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    /// The highest.
    High,
    /// In between.
    Medium,
    /// The lowest.
    Low,
}

/// The model inside a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The model's name, such as `hedonic`.
    pub name: String,
    /// The model's version.
    pub version: String,
    /// SHA-256 of the embedded fitted parameters; absent where a model has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters_sha256: Option<Sha256Digest>,
    /// The sales that the parameters were fitted on. Absent where a model has no parameters or does
    /// not state the sales. It says nothing of numbers in the model's source.
    #[serde(rename = "learnt", default, skip_serializing_if = "Option::is_none")]
    pub training_window: Option<TrainingWindow>,
}

/// The sales that a model was trained on. A back-test may begin after the last of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingWindow {
    /// The last day whose sales were fitted.
    #[serde(with = "date")]
    pub fitted_through: NaiveDate,
    /// The last day whose sales calibrated the ranges, later than `fitted_through`. The same day
    /// where nothing was calibrated.
    #[serde(with = "date")]
    pub calibrated_through: NaiveDate,
}

/// The engine under which a release's fixtures were recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineVersion {
    /// Its name, such as `wasmtime`.
    pub name: String,
    /// Its version, such as `48.0.8`.
    pub version: String,
}

impl ValuationBody {
    /// Returns the band of a confidence score: the first whose lower bound the score reaches.
    pub fn band(&self, score: f64) -> Option<Band> {
        self.confidence_bands
            .iter()
            .find(|band| score >= band.from)
            .map(|band| band.band)
    }
}
