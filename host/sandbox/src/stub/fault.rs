//! The faults that a request may ask for.

use domesday_contract::error::Code;
use domesday_contract::vocabulary::Vocabulary;
use serde_json::{Value, json};
use std::time::Duration;

/// A fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// An error of the contract that may pass.
    Error(Code),
    /// A connection that is lost before the service sees the request.
    LostBefore,
    /// A connection that is lost when the service has done and charged the request.
    LostAfter,
    /// A response that comes late.
    Delay,
    /// A job that stays queued for a while.
    JobHeld,
    /// A job that fails.
    JobFailed,
}

/// The names of the faults that are no errors, with their meanings.
const OTHERS: [(&str, FaultKind, &str); 5] = [
    (
        "lost_before",
        FaultKind::LostBefore,
        "The connection is lost, and the service never sees the request. Nothing is charged.",
    ),
    (
        "lost_after",
        FaultKind::LostAfter,
        "The service does the request and charges it, and the connection is lost before the response.",
    ),
    (
        "delay",
        FaultKind::Delay,
        "The response comes after `seconds`, 5 by default.",
    ),
    (
        "job_held",
        FaultKind::JobHeld,
        "The job of this submission stays queued for `seconds`, 10 by default, and then goes on.",
    ),
    (
        "job_failed",
        FaultKind::JobFailed,
        "The job of this submission fails when its rows are done.",
    ),
];

impl FaultKind {
    /// Returns the fault of a name. An error's name is its code.
    pub fn from_name(name: &str) -> Option<FaultKind> {
        let other = OTHERS.iter().find(|(other, ..)| *other == name);
        match other {
            Some((_, fault, _)) => Some(*fault),
            None => errors()
                .find(|code| code.code() == name)
                .map(FaultKind::Error),
        }
    }

    /// Returns the time of a fault whose request states none. For an error it is that of
    /// `Retry-After`.
    pub fn default_time(self) -> Duration {
        Duration::from_secs(match self {
            // A real service says when the next month begins.
            FaultKind::Error(Code::MonthlyValuationQuotaExceeded) => 86_400,
            FaultKind::Delay => 5,
            FaultKind::JobHeld => 10,
            _ => 1,
        })
    }
}

/// Returns the errors that may pass, and that of the month's allowance.
fn errors() -> impl Iterator<Item = Code> {
    let passing = |code: &Code| matches!(code.status(), 429 | 500 | 503);
    Code::ALL.iter().copied().filter(passing)
}

/// Returns the list of faults for integrators.
pub fn list() -> Value {
    let errors = errors().map(|code| {
        json!({ "fault": code.code(), "http_status": code.status(), "about": code.meaning() })
    });
    let others = OTHERS.map(|(name, _, about)| json!({ "fault": name, "about": about }));
    errors.chain(others).collect()
}
