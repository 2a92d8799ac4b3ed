//! Homes to value, and their results.

use domesday_engine::Release;
use domesday_engine::evidence::EvidenceSource;
use domesday_engine::outcome::{Cost, Outcome, RowFailure};
use domesday_engine::subject::{Attribute, Subject};
use domesday_registers::{Day, Progress};
use rayon::prelude::*;
use serde_json::json;
use std::sync::Arc;

/// Rows valued between two reports of progress.
const CHUNK: usize = 500;

/// A home with a name for messages.
#[derive(Clone, Debug)]
pub struct Home {
    /// The name, for example `sale 1024`.
    pub name: String,
    /// The home.
    pub subject: Arc<Subject>,
}

impl Home {
    /// Returns the same home with some of it changed.
    pub fn with_change(&self, what: &str, change: impl FnOnce(&mut Subject)) -> Home {
        let mut subject = Subject::clone(&self.subject);
        change(&mut subject);
        Home {
            name: format!("{}, {what}", self.name),
            subject: Arc::new(subject),
        }
    }

    /// Returns the home as at another day, with evidence up to the day before or the latest sale.
    pub fn on_day(&self, what: &str, day: Day, latest_sale: Option<Day>) -> Home {
        self.with_change(what, |subject| {
            subject.valuation_day = day;
            subject.evidence_through = latest_sale.map(|latest| latest.min(Day(day.0 - 1)));
        })
    }
}

/// The result of a home's valuation, and its cost.
#[derive(Clone, Debug)]
pub struct RowResult {
    /// The home's name.
    pub name: String,
    /// The answer, or why there is none.
    pub outcome: Result<Outcome, RowFailure>,
    /// The cost.
    pub cost: Cost,
}

impl RowResult {
    /// Returns all fields but the name, as text that is the same only where every bit is.
    pub fn bits(&self) -> String {
        json!({"outcome": self.outcome, "cost": self.cost}).to_string()
    }

    /// Returns the estimate, where there is one.
    pub fn estimate(&self) -> Option<f64> {
        match &self.outcome {
            Ok(Outcome::Valued(valuation)) => Some(valuation.estimate),
            _ => None,
        }
    }
}

/// Values one home.
pub fn value(release: &Release, home: &Home, evidence: &Arc<dyn EvidenceSource>) -> RowResult {
    let row = release.value(&home.subject, evidence.clone());
    RowResult {
        name: home.name.clone(),
        outcome: row.outcome,
        cost: row.cost,
    }
}

/// Values homes on all cores; the answers stand in the homes' order.
pub fn value_all(
    release: &Release,
    homes: &[Home],
    evidence: &Arc<dyn EvidenceSource>,
    stage: &str,
    progress: &mut Progress<'_>,
) -> Vec<RowResult> {
    let mut results = Vec::with_capacity(homes.len());
    for chunk in homes.chunks(CHUNK) {
        progress(stage, results.len() as u64, homes.len() as u64);
        results.par_extend(chunk.par_iter().map(|home| value(release, home, evidence)));
    }
    results
}

/// Marks an attribute as the customer's word, or as given by nobody.
pub fn state(subject: &mut Subject, attribute: Attribute, given: bool) {
    let provenance = &mut subject.provenance;
    for list in [
        &mut provenance.customer,
        &mut provenance.stored,
        &mut provenance.applied,
    ] {
        list.retain(|known| *known != attribute);
    }
    if given {
        provenance.customer.push(attribute);
        provenance.customer.sort_unstable();
    }
}
