//! An outcome of the engine in the terms of a comparison.

use crate::releases::OpenRelease;
use domesday_backtest::compare::paired::Said;
use domesday_contract::v3::result::Referral;
use domesday_contract::vocabulary::Vocabulary;
use domesday_engine::outcome::{Outcome, RowFailure};
use domesday_package::Band;

/// What a release said of a row: its outcome, or its failure, which is its own where it is final.
pub fn said(release: &OpenRelease, outcome: &Result<Outcome, RowFailure>) -> Said {
    match outcome {
        Ok(Outcome::Valued(value)) => Said::Valued {
            estimate: value.estimate,
            range: value.range.map(|range| [range.lower, range.upper]),
            confidence: value.confidence,
            band: release
                .manifest
                .band(value.confidence)
                .map_or("none", band_word)
                .to_owned(),
        },
        Ok(Outcome::Referred(referral)) => Said::Referred {
            reason: word(&referral.reason),
        },
        Ok(Outcome::Failed { reason }) => Said::Failed {
            reason: word(reason),
        },
        Err(failure) => Said::Failed {
            reason: match failure {
                RowFailure::FuelSpent { .. } => "fuel spent".to_owned(),
                RowFailure::LimitReached { what, .. } => format!("{what} limit reached"),
                RowFailure::Trapped { .. } => "trapped".to_owned(),
                RowFailure::InvalidOutcome { .. } => "invalid outcome".to_owned(),
                RowFailure::OutOfTime => "out of time".to_owned(),
                RowFailure::Host { .. } => "host failure".to_owned(),
            },
        },
    }
}

/// What the host says for a release that does not value such homes, and is not asked.
pub fn referred(referral: &Referral) -> Said {
    Said::Referred {
        reason: referral.code.code().to_owned(),
    }
}

/// A reason as the wire spells it.
fn word(reason: &impl serde::Serialize) -> String {
    match serde_json::to_value(reason) {
        Ok(serde_json::Value::String(word)) => word,
        _ => "other".to_owned(),
    }
}

/// A band in a word.
pub fn band_word(band: Band) -> &'static str {
    match band {
        Band::High => "high",
        Band::Medium => "medium",
        Band::Low => "low",
    }
}
