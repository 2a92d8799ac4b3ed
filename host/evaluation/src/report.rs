//! The whole report, as `--json` writes it and a package keeps it.

use crate::group::Group;
use crate::histogram::Histogram;
use crate::request_shape::{RequestShape, ShapeFigures};
use crate::row::{Prediction, Row};
use domesday_registers::codes::PropertyType;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the report's form. A member is only ever added under the same number; one that goes,
/// or means something else, makes it another.
pub const FORMAT: u32 = 2;

/// Days that registers lag by: a sale reaches the Land Registry's file about two months after its
/// day, as an index month does.
pub const REGISTERS_LAG_DAYS: u32 = 60;

/// Lower end of each price band, pounds.
const PRICE_BANDS: [(u32, &str); 7] = [
    (0, "below 100k"),
    (100_000, "100k to 150k"),
    (150_000, "150k to 250k"),
    (250_000, "250k to 400k"),
    (400_000, "400k to 600k"),
    (600_000, "600k to 1m"),
    (1_000_000, "1m and above"),
];

/// A back-test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// [`FORMAT`].
    pub format: u32,
    /// The release and the window.
    pub subject: Header,
    /// The leakage probe; absent if it did not run.
    pub leakage_probe: Option<LeakageProbe>,
    /// The distribution of the errors of all rows.
    pub errors: Histogram,
    /// All rows.
    pub overall: Group,
    /// The same rows, divided in one way after another.
    pub divisions: Vec<Division>,
    /// An even sample of the same sales, with other requests. Empty where the sales themselves were
    /// asked about without stored data.
    pub shapes: Vec<ShapeFigures>,
}

/// The release and the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The release.
    pub release_id: String,
    /// Its model's name.
    pub model: String,
    /// Its model's version.
    pub model_version: String,
    /// SHA-256 of the fitted parameters; absent where the model has none.
    pub parameters_sha256: Option<String>,
    /// The snapshot that it values from.
    pub snapshot_id: String,
    /// That snapshot's content digest.
    pub snapshot_content: String,
    /// True if every household in it is invented.
    pub synthetic: bool,
    /// First day of sale, YYYY-MM-DD.
    pub from: String,
    /// Last day of sale.
    pub to: String,
    /// The day that a sale is valued as at.
    pub as_at: AsAt,
    /// The requests that ask about the sales. A report does not name those of most back-tests.
    #[serde(default, skip_serializing_if = "RequestShape::is_stored")]
    pub request: RequestShape,
    /// Sales of those taken that such a request cannot ask about: their floor area is not on
    /// record.
    #[serde(default, skip_serializing_if = "is_none")]
    pub not_stated: usize,
    /// Days before the valuation day whose evidence is hidden, too.
    pub evidence_lag_days: u32,
    /// The release's training data.
    #[serde(rename = "learnt")]
    pub training_data: TrainingData,
    /// Category A sales of homes in the window.
    pub sales_in_window: usize,
    /// Homes without a required input in the register.
    pub not_askable: usize,
    /// Every so-many-th of the window's sales was taken.
    pub taken_every: usize,
    /// Share of prices that the release's ranges are meant to hold.
    pub nominal_coverage: f64,
    /// Groups of fewer rows are shown without figures.
    pub least_rows: usize,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

impl Header {
    /// Returns a warning where evidence of real registers was shown sooner than a server has it.
    pub fn lag_warning(&self) -> Option<String> {
        is_early(self.evidence_lag_days, self.synthetic).then(|| {
            format!(
                "The back-test shows evidence after {} days, and registers have it after about {REGISTERS_LAG_DAYS}. \
                 A server sees less, so these figures and ranges are too good. Leave out --evidence-lag.",
                self.evidence_lag_days
            )
        })
    }
}

/// Returns whether evidence is shown sooner than a server has it. Invented registers have no lag.
pub(crate) fn is_early(evidence_lag_days: u32, synthetic: bool) -> bool {
    !synthetic && evidence_lag_days < REGISTERS_LAG_DAYS
}

/// The day that a sale is valued as at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AsAt {
    /// Its own.
    #[default]
    Sale,
    /// The first of its month.
    Month,
}

/// The training data of a release.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "from", deny_unknown_fields)]
pub enum TrainingData {
    /// Nothing that the build fitted. Numbers in the model's source may be fitted elsewhere.
    Nothing,
    /// The release does not state it, so its figures may be too good.
    Unstated,
    /// Sales.
    Sales {
        /// The last day whose sales were fitted, YYYY-MM-DD.
        fitted_through: String,
        /// The last day whose sales calibrated the ranges.
        calibrated_through: String,
        /// True if the window holds days of training data. The figures are then too good.
        overlap: bool,
    },
}

impl TrainingData {
    /// Describes the data, as an ending of "trained on".
    pub fn words(&self) -> String {
        match self {
            TrainingData::Nothing => {
                "no sales by the build; numbers inside the model's source are not stated".to_owned()
            }
            TrainingData::Unstated => "sales that are not stated".to_owned(),
            TrainingData::Sales {
                fitted_through,
                calibrated_through,
                ..
            } => format!(
                "sales up to {fitted_through}, ranges calibrated on sales up to {calibrated_through}"
            ),
        }
    }

    /// Returns a warning where the figures may be too good.
    pub fn warning(&self) -> Option<String> {
        match self {
            TrainingData::Nothing | TrainingData::Sales { overlap: false, .. } => None,
            TrainingData::Unstated => Some(
                "The release does not say which sales it was trained on, so that these figures may be too good."
                    .to_owned(),
            ),
            TrainingData::Sales {
                fitted_through,
                calibrated_through,
                ..
            } => Some(format!(
                "The window holds sales that the release was trained on (fitted up to {fitted_through}, calibrated up to \
                 {calibrated_through}): these figures are too good."
            )),
        }
    }
}

/// The result of a leakage probe: whether another future changes valuations of the past.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeakageProbe {
    /// True if nothing changed.
    pub passed: bool,
    /// Each day at which the future was cut off and dealt out anew.
    pub cuts: Vec<LeakageCut>,
}

/// One cut of a leakage probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeakageCut {
    /// The day, YYYY-MM-DD; homes were valued as at it.
    pub day: String,
    /// Later sales, and earlier ones with a later certificate, that the copy has otherwise.
    pub sales: u64,
    /// Later certificates of homes.
    pub certificates: u64,
    /// Later twelve-month figures of areas.
    pub figures: u64,
    /// Later index values.
    pub index_points: u64,
    /// Homes valued by the snapshot and by the copy.
    pub homes: usize,
    /// Homes with any difference, to the bit.
    pub different: usize,
    /// The first of them, and its difference.
    pub first_difference: Option<String>,
}

/// Rows divided in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Division {
    /// By what: `type`, `authority`, ...
    pub by: String,
    /// The groups, in a stated order; rows that fit none (a referred row has no confidence) are
    /// left out.
    pub groups: Vec<Group>,
}

impl Report {
    /// Returns the report on these rows, which come in order of day and id. `bands` are the
    /// release's bands of confidence, best first; `name` tells an authority's name by its code.
    pub fn of(
        subject: Header,
        rows: &[Row],
        bands: &[String],
        name: &dyn Fn(&str) -> Option<String>,
    ) -> Report {
        let all: Vec<&Row> = rows.iter().collect();
        let nominal = subject.nominal_coverage;
        let divide = |by: &str, order: &[&str], key: &dyn Fn(&Row) -> Option<String>| {
            division(by, order, &all, key, name, nominal)
        };
        let prices = price_bands();
        let order: Vec<&str> = bands.iter().map(String::as_str).collect();
        let divisions = vec![
            divide("type", &TYPES, &|row| {
                Some(type_words(row.property_type).to_owned())
            }),
            divide("authority", &[], &|row| Some(row.authority.clone())),
            divide("postcode_area", &[], &|row| Some(row.postcode_area.clone())),
            divide("price", &prices, &|row| {
                Some(price_band(row.price).to_owned())
            }),
            divide("confidence", &order, &|row| match &row.answer {
                Prediction::Valued { band, .. } => Some(band.clone()),
                _ => None,
            }),
            divide("month", &[], &|row| {
                Some(row.day.to_string().chars().take(7).collect())
            }),
            divide("floor_area", &["on record", "not on record"], &|row| {
                let words = if row.floor_area {
                    "on record"
                } else {
                    "not on record"
                };
                Some(words.to_owned())
            }),
            divide("build", &["existing", "new"], &|row| {
                Some(if row.new_build { "new" } else { "existing" }.to_owned())
            }),
        ];
        Report {
            format: FORMAT,
            leakage_probe: None,
            errors: Histogram::of(&all),
            overall: Group::of("all", None, &all, nominal),
            subject,
            divisions,
            shapes: Vec::new(),
        }
    }

    /// Returns the division by something.
    pub fn by(&self, what: &str) -> Option<&Division> {
        self.divisions.iter().find(|division| division.by == what)
    }
}

/// Types by their words, in order.
pub(crate) const TYPES: [&str; 4] = ["detached", "semi_detached", "terraced", "flat"];

/// Returns a type in a word.
pub(crate) fn type_words(property_type: PropertyType) -> &'static str {
    match property_type {
        PropertyType::Detached => "detached",
        PropertyType::SemiDetached => "semi_detached",
        PropertyType::Terraced => "terraced",
        PropertyType::Flat => "flat",
        PropertyType::Other => "other",
    }
}

/// Returns the bands of price, in order.
pub(crate) fn price_bands() -> [&'static str; 7] {
    PRICE_BANDS.map(|(_, words)| words)
}

/// Returns the band of a price.
pub(crate) fn price_band(price: f64) -> &'static str {
    PRICE_BANDS
        .iter()
        .rev()
        .find(|(from, _)| price >= f64::from(*from))
        .map_or(PRICE_BANDS[0].1, |(_, words)| words)
}

/// Groups in the order given, then any others by key.
fn division(
    by: &str,
    order: &[&str],
    rows: &[&Row],
    key: &dyn Fn(&Row) -> Option<String>,
    name: &dyn Fn(&str) -> Option<String>,
    nominal: f64,
) -> Division {
    let mut groups = BTreeMap::<(usize, String), Vec<&Row>>::new();
    for row in rows {
        if let Some(key) = key(row) {
            let rank = order.iter().position(|known| *known == key);
            let rank = rank.unwrap_or(order.len());
            groups.entry((rank, key)).or_default().push(row);
        }
    }
    Division {
        by: by.to_owned(),
        groups: groups
            .iter()
            .map(|((_, key), rows)| {
                let name = (by == "authority").then(|| name(key)).flatten();
                Group::of(key, name.as_deref(), rows, nominal)
            })
            .collect(),
    }
}
