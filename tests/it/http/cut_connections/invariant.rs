//! The outcomes that a client reports, compared with the requests that reached the host.

use super::proxy::{Exchange, Fate};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

const JOBS: &str = "/v3/valuation-jobs";

/// A call, as the client saw it.
#[derive(Deserialize, Debug)]
pub struct CallOutcome {
    call: String,
    kind: String,
    rows: u64,
    outcome: String,
    #[serde(default)]
    may_be_charged: bool,
    job_id: Option<String>,
    results: Option<Vec<String>>,
}

/// The units that the contract allows, and the number of calls behind them.
#[derive(Default)]
pub struct Dues {
    /// Units that the host must have charged.
    pub charged: u64,
    /// Units that it may have charged too.
    pub in_doubt: u64,
    answered: u64,
    lost: u64,
    jobs: u64,
    submissions: u64,
    unread_results: u64,
}

impl fmt::Display for Dues {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} valuations answered, {} lost, {} jobs of {} submissions, {} without all results, {} \
             units due and {} in doubt",
            self.answered,
            self.lost,
            self.jobs,
            self.submissions,
            self.unread_results,
            self.charged,
            self.in_doubt
        )
    }
}

/// Asserts the invariant for each call, and returns the units that it allows.
pub fn check(told: &[CallOutcome], exchanges: &[Exchange]) -> Dues {
    let mut by_call: BTreeMap<&str, Vec<&Exchange>> = BTreeMap::new();
    for exchange in exchanges {
        if let Some(call) = &exchange.call {
            by_call.entry(call).or_default().push(exchange);
        }
    }
    let mut found = Dues::default();
    let mut ids = BTreeSet::new();
    for told in told {
        let exchanges = by_call.remove(told.call.as_str()).unwrap_or_default();
        if let Some(results) = &told.results {
            let expected: Vec<String> = (0..told.rows)
                .map(|row| format!("{}/{row}", told.call))
                .collect();
            assert_eq!(*results, expected, "results of {told:?}");
        }
        if told.kind == "job" {
            let id = told.job_id.as_deref().unwrap();
            assert!(ids.insert(id), "{told:?} has the id of another job");
            check_job(told, id, &exchanges, &mut found);
        } else {
            check_valuation(told, &exchanges, &mut found);
        }
    }
    let unknown: Vec<_> = by_call.keys().collect();
    assert!(unknown.is_empty(), "the client does not know {unknown:?}");
    found
}

fn check_valuation(told: &CallOutcome, exchanges: &[&Exchange], found: &mut Dues) {
    assert!(exchanges.iter().all(|exchange| exchange.path != JOBS));
    let accepted = count(
        exchanges,
        |fate| matches!(fate, Fate::Answered(status, _) if status == "200"),
    );
    let unread = count(exchanges, |fate| matches!(fate, Fate::Unread));
    let cut = count(exchanges, |fate| matches!(fate, Fate::Cut));
    assert!(accepted + unread + cut <= 1, "{told:?} was sent again");
    if told.outcome == "answered" {
        assert_eq!(accepted, 1, "{told:?} has an answer of nobody");
        assert!(told.results.is_some(), "{told:?}");
        found.answered += 1;
    } else {
        assert!(told.may_be_charged || accepted + unread == 0, "{told:?}");
        found.lost += 1;
    }
    found.charged += accepted * told.rows;
    found.in_doubt += unread * told.rows;
}

fn check_job(told: &CallOutcome, id: &str, exchanges: &[&Exchange], found: &mut Dues) {
    let mut accepted = 0;
    for exchange in exchanges {
        assert_eq!(exchange.path, JOBS);
        if let Fate::Answered(status, job) = &exchange.fate
            && status == "202"
        {
            assert_eq!(job["job_id"], id, "{told:?} became another job");
            accepted += 1;
        }
    }
    assert!(accepted > 0, "{told:?} was never accepted");
    found.jobs += 1;
    found.submissions += exchanges.len() as u64;
    found.charged += told.rows;
    found.unread_results += u64::from(told.results.is_none());
}

fn count(exchanges: &[&Exchange], is_wanted: impl Fn(&Fate) -> bool) -> u64 {
    let fates = exchanges.iter().map(|exchange| &exchange.fate);
    fates.filter(|fate| is_wanted(fate)).count() as u64
}
