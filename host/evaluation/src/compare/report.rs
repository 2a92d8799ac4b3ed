//! The assembly of a comparison from its rows.

use super::change::{distribution, points};
use super::comparison::{Comparison, Division, FORMAT};
use super::cost::Cost;
use super::group::Group;
use super::header::Header;
use super::paired::{ComparedOutcome, PairedRow};
use super::sides::Sides;
use super::status::{Flips, bands, statuses};
use super::verdict::verdict;
use crate::report::{TYPES, price_band, price_bands, type_words};
use std::collections::BTreeMap;

/// Rows named for how far they moved.
const MOVERS: usize = 10;

impl Comparison {
    /// Returns the comparison on these rows, in their order; `name` tells an authority's name by
    /// its code.
    pub fn of(
        subject: Header,
        rows: &[PairedRow],
        name: &dyn Fn(&str) -> Option<String>,
    ) -> Comparison {
        let all: Vec<&PairedRow> = rows.iter().collect();
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
        let by = |by: &str, order: &[&str], key: &dyn Fn(&PairedRow) -> Option<String>| Division {
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
                let outcomes = row.outcomes().map(ComparedOutcome::estimate);
                Some(price_band(outcomes.a.or(outcomes.b)?).to_owned())
            }),
            by("authority", &[], &|row| Some(row.authority.clone())),
            by("postcode_area", &[], &|row| Some(row.postcode_area.clone())),
            by("confidence", &known, &|row| {
                row.outcomes().a.band().map(str::to_owned)
            }),
        ];
        let mut found = Comparison {
            format: FORMAT,
            warnings: subject.warnings(),
            verdict: Vec::new(),
            identical: rows.iter().filter(|row| row.is_identical()).count(),
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
}

/// Groups in the order given, then any others by key.
fn groups<'a>(
    rows: &[&'a PairedRow],
    order: &[&str],
    key: &dyn Fn(&PairedRow) -> Option<String>,
) -> Vec<(String, Vec<&'a PairedRow>)> {
    let mut groups = BTreeMap::<(usize, String), Vec<&PairedRow>>::new();
    for row in rows {
        if let Some(key) = key(row) {
            let rank = order.iter().position(|known| *known == key);
            let rank = rank.unwrap_or(order.len());
            groups.entry((rank, key)).or_default().push(row);
        }
    }
    let groups = groups.into_iter();
    groups.map(|((_, key), rows)| (key, rows)).collect()
}

/// Orders by the ratio in either direction: double and half are equally far.
fn movers(rows: &[&PairedRow]) -> Vec<PairedRow> {
    let far = |both: Sides<f64>| (both.b / both.a).max(both.a / both.b);
    let mut moved: Vec<(f64, &PairedRow)> = rows
        .iter()
        .filter_map(|row| Some((far(row.estimates()?), *row)))
        .filter(|(far, _)| *far > 1.0)
        .collect();
    // A stable sort: of equals, the order of the rows stays.
    moved.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let moved = moved.into_iter().take(MOVERS);
    moved.map(|(_, row)| row.clone()).collect()
}
