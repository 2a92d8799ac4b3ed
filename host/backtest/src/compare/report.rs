//! The whole comparison, as `--json` writes it.

use super::change::{distribution, points};
use super::cost::Cost;
use super::group::Group;
use super::header::Header;
use super::paired::{Paired, Said, Status};
use super::sides::Sides;
use super::status::{Crossing, Flips, bands, statuses};
use super::verdict::verdict;
use crate::histogram::Histogram;
use crate::report::{TYPES, price_band, price_bands, type_words};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the comparison's form. A member is only ever added under the same number; one that goes, or
/// means something else, makes it another.
pub const FORMAT: u32 = 1;

/// Rows named for how far they moved.
const MOVERS: usize = 10;

/// Two releases on the same rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// [`FORMAT`].
    pub format: u32,
    /// What was compared, on what.
    pub subject: Header,
    /// What must be known before any figure is read.
    pub warnings: Vec<String>,
    /// What it comes to, in sentences.
    pub verdict: Vec<String>,
    /// Rows on which both said the very same, to the bit.
    pub identical: usize,
    /// All rows.
    pub overall: Group,
    /// Rows that change status.
    pub flips: Flips,
    /// The rows that both value and whose values lie furthest apart, furthest first.
    pub movers: Vec<Paired>,
    /// How changes are distributed.
    pub changes: Histogram,
    /// A's estimate in pounds and the change of rows that both value; of many, an even part.
    pub points: Vec<[f64; 2]>,
    /// How many rows go from which status to which.
    pub statuses: Vec<Crossing<Status>>,
    /// How many rows that both value go from which band of confidence to which.
    pub bands: Vec<Crossing<String>>,
    /// What rows cost; absent where there is none.
    pub cost: Option<Cost>,
    /// The same rows, divided in one way after another.
    pub divisions: Vec<Division>,
}

/// Rows divided in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Division {
    /// By what: `type`, `authority`, ...
    pub by: String,
    /// The groups, in a stated order; rows that fit none are left out.
    pub groups: Vec<Group>,
}

impl Comparison {
    /// The comparison on these rows, in their order; `name` tells an authority's name by its code.
    pub fn of(
        subject: Header,
        rows: &[Paired],
        name: &dyn Fn(&str) -> Option<String>,
    ) -> Comparison {
        let all: Vec<&Paired> = rows.iter().collect();
        let nominal = subject
            .releases
            .each()
            .map(|release| release.nominal_coverage);
        let mut order = subject.releases.a.bands.clone();
        order.extend(subject.releases.b.bands.iter().cloned());
        let order: Vec<String> = ["high", "medium", "low"]
            .map(str::to_owned)
            .into_iter()
            .chain(order)
            .collect();
        let by = |by: &str, order: &[&str], key: &dyn Fn(&Paired) -> Option<String>| Division {
            by: by.to_owned(),
            groups: groups(&all, order, key)
                .into_iter()
                .map(|(key, rows)| {
                    let name = (by == "authority").then(|| name(&key)).flatten();
                    Group::of(&key, name.as_deref(), &rows, nominal)
                })
                .collect(),
        };
        let known: Vec<&str> = order.iter().map(String::as_str).collect();
        let divisions = vec![
            by("type", &TYPES, &|row| {
                Some(type_words(row.property_type).to_owned())
            }),
            by("value", &price_bands(), &|row| {
                let said = row.said().map(Said::estimate);
                Some(price_band(said.a.or(said.b)?).to_owned())
            }),
            by("authority", &[], &|row| Some(row.authority.clone())),
            by("postcode_area", &[], &|row| Some(row.postcode_area.clone())),
            by("confidence", &known, &|row| {
                row.said().a.band().map(str::to_owned)
            }),
        ];
        let mut found = Comparison {
            format: FORMAT,
            warnings: subject.warnings(),
            verdict: Vec::new(),
            identical: rows.iter().filter(|row| row.alike()).count(),
            overall: Group::of("all", None, &all, nominal),
            flips: Flips::of(&all),
            movers: movers(&all),
            changes: distribution(&all),
            points: points(&all),
            statuses: statuses(&all),
            bands: bands(&all, &order),
            cost: Cost::of(&all),
            divisions,
            subject,
        };
        found.verdict = verdict(&found);
        found
    }

    /// The division by something.
    pub fn by(&self, what: &str) -> Option<&Division> {
        self.divisions.iter().find(|division| division.by == what)
    }
}

/// Groups in the order given, then any others by key.
fn groups<'a>(
    rows: &[&'a Paired],
    order: &[&str],
    key: &dyn Fn(&Paired) -> Option<String>,
) -> Vec<(String, Vec<&'a Paired>)> {
    let mut groups = BTreeMap::<(usize, String), Vec<&Paired>>::new();
    for row in rows {
        if let Some(key) = key(row) {
            let place = order.iter().position(|known| *known == key);
            let place = place.unwrap_or(order.len());
            groups.entry((place, key)).or_default().push(row);
        }
    }
    let groups = groups.into_iter();
    groups.map(|((_, key), rows)| (key, rows)).collect()
}

/// By the ratio either way round, so that the double is as far off as the half.
fn movers(rows: &[&Paired]) -> Vec<Paired> {
    let far = |both: Sides<f64>| (both.b / both.a).max(both.a / both.b);
    let mut moved: Vec<(f64, &Paired)> = rows
        .iter()
        .filter_map(|row| Some((far(row.estimates()?), *row)))
        .filter(|(far, _)| *far > 1.0)
        .collect();
    // A stable sort: of equals, the order of the rows stays.
    moved.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let moved = moved.into_iter().take(MOVERS);
    moved.map(|(_, row)| row.clone()).collect()
}
