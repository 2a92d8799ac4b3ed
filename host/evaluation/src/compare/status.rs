//! Statuses and bands of confidence: how many rows go from which to which.

use super::paired::{ComparedOutcome, PairedRow, Status};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rows that are one thing with A and one with B.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transition<T> {
    /// With A.
    pub a: T,
    /// With B.
    pub b: T,
    /// Number of rows.
    pub rows: usize,
}

/// Rows that are valued, referred or failed on otherwise by B than by A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flips {
    /// All of them.
    pub rows: usize,
    /// The number of each kind, most frequent first.
    pub kinds: Vec<Kind>,
    /// The rows themselves, in their order; the first [`NAMED`] of many.
    pub named: Vec<PairedRow>,
}

/// Flips of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    /// With A.
    pub a: Status,
    /// A's reason for no value.
    pub reason_a: Option<String>,
    /// With B.
    pub b: Status,
    /// B's reason for no value.
    pub reason_b: Option<String>,
    /// Number of rows.
    pub rows: usize,
}

/// Rows that are named at most.
pub const NAMED: usize = 60;

/// Returns every pair of statuses that some row has, in order.
pub fn statuses(rows: &[&PairedRow]) -> Vec<Transition<Status>> {
    let found = rows.iter().map(|row| {
        let status = row.outcomes().map(ComparedOutcome::status);
        (status.a, status.b)
    });
    crossings(found)
}

/// Returns every pair of bands that some row which both value has: `order` first, others by name.
pub fn bands(rows: &[&PairedRow], order: &[String]) -> Vec<Transition<String>> {
    let rank = |band: &str| {
        let known = order.iter().position(|known| known == band);
        (known.unwrap_or(order.len()), band.to_owned())
    };
    let found = rows.iter().filter_map(|row| {
        let band = row.outcomes().map(ComparedOutcome::band).both()?.map(rank);
        Some((band.a, band.b))
    });
    let named = crossings(found).into_iter().map(|found| Transition {
        a: found.a.1,
        b: found.b.1,
        rows: found.rows,
    });
    named.collect()
}

fn crossings<T: Ord>(found: impl Iterator<Item = (T, T)>) -> Vec<Transition<T>> {
    let mut counted = BTreeMap::<(T, T), usize>::new();
    for both in found {
        *counted.entry(both).or_default() += 1;
    }
    let counted = counted.into_iter();
    counted
        .map(|((a, b), rows)| Transition { a, b, rows })
        .collect()
}

impl Flips {
    /// Counts the flips of these rows by kind.
    pub fn of(rows: &[&PairedRow]) -> Flips {
        let flipped: Vec<&&PairedRow> = rows.iter().filter(|row| row.is_flipped()).collect();
        let mut kinds = BTreeMap::<_, usize>::new();
        for row in &flipped {
            let outcomes = row.outcomes();
            let status = outcomes.map(ComparedOutcome::status);
            let reason = outcomes.map(|outcome| outcome.reason().map(str::to_owned));
            *kinds
                .entry((status.a, reason.a, status.b, reason.b))
                .or_default() += 1;
        }
        let mut kinds: Vec<Kind> = kinds
            .into_iter()
            .map(|((a, reason_a, b, reason_b), rows)| Kind {
                a,
                reason_a,
                b,
                reason_b,
                rows,
            })
            .collect();
        // A stable sort: of equals, the order of statuses stays.
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.rows));
        let named = flipped.iter().take(NAMED);
        Flips {
            rows: flipped.len(),
            kinds,
            named: named.map(|row| (**row).clone()).collect(),
        }
    }
}
