//! The whole report, as `--json` writes it and a package keeps it.

use crate::group::Group;
use crate::row::{Answer, Row};
use domesday_registers::codes::PropertyType;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the report's form. A member is only ever added under the same number; one that goes, or
/// means something else, makes it another.
pub const FORMAT: u32 = 1;

/// Where each band of price begins, pounds.
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
    /// What was tested, on what.
    pub subject: Header,
    /// All rows.
    pub overall: Group,
    /// The same rows, divided in one way after another.
    pub divisions: Vec<Division>,
}

/// What was tested, and on what.
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
    /// Whether every household in it is invented.
    pub synthetic: bool,
    /// First day of sale, YYYY-MM-DD.
    pub from: String,
    /// Last day of sale.
    pub to: String,
    /// The day that a sale is valued as at.
    pub as_at: AsAt,
    /// Days before the valuation day that are hidden besides.
    pub evidence_lag_days: u32,
    /// What the release was fitted and calibrated on.
    pub seen: Seen,
    /// Category A sales of homes in the window.
    pub sales_in_window: usize,
    /// Those that cannot be asked about, since the register lacks what a customer must state.
    pub not_askable: usize,
    /// Every so-many-th of the window's sales was taken.
    pub taken_every: usize,
    /// Share of prices that the release's ranges are meant to hold.
    pub nominal_coverage: f64,
    /// Groups of fewer rows are shown without figures.
    pub least_rows: usize,
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

/// What a release may have learnt from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "known", deny_unknown_fields)]
pub enum Seen {
    /// The release says nothing, so that its figures may be too good.
    Unstated,
}

/// Rows divided in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Division {
    /// By what: `type`, `authority`, ...
    pub by: String,
    /// The groups, in a stated order; rows that fit none (a referred row has no confidence) are left out.
    pub groups: Vec<Group>,
}

impl Report {
    /// The report on these rows, which come in order of day and id. `bands` are the release's bands of
    /// confidence, best first; `name` tells an authority's name by its code.
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
        let prices = PRICE_BANDS.map(|(_, words)| words);
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
                Answer::Valued { band, .. } => Some(band.clone()),
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
            overall: Group::of("all", None, &all, nominal),
            subject,
            divisions,
        }
    }

    /// The division by something.
    pub fn by(&self, what: &str) -> Option<&Division> {
        self.divisions.iter().find(|division| division.by == what)
    }
}

const TYPES: [&str; 4] = ["detached", "semi_detached", "terraced", "flat"];

fn type_words(property_type: PropertyType) -> &'static str {
    match property_type {
        PropertyType::Detached => "detached",
        PropertyType::SemiDetached => "semi_detached",
        PropertyType::Terraced => "terraced",
        PropertyType::Flat => "flat",
        PropertyType::Other => "other",
    }
}

fn price_band(price: f64) -> &'static str {
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
            let place = order.iter().position(|known| *known == key);
            let place = place.unwrap_or(order.len());
            groups.entry((place, key)).or_default().push(row);
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
