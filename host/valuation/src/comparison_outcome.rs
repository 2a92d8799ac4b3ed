//! An outcome of the engine in the terms of a comparison.

use crate::release_store::OpenRelease;
use domesday_contract::v3::result::Referral;
use domesday_contract::vocabulary::Vocabulary;
use domesday_engine::outcome::{Outcome, RowFailure};
use domesday_evaluation::compare::paired::ComparedOutcome;
use domesday_package::Band;

/// Converts a release's outcome, or its failure, to the outcome that a comparison counts.
pub fn compared_outcome(
    release: &OpenRelease,
    outcome: &Result<Outcome, RowFailure>,
) -> ComparedOutcome {
    match outcome {
        Ok(Outcome::Valued(value)) => ComparedOutcome::Valued {
            estimate: value.estimate,
            range: value.range.map(|range| [range.lower, range.upper]),
            confidence: value.confidence,
            band: release
                .manifest
                .band(value.confidence)
                .map_or("none", band_word)
                .to_owned(),
        },
        Ok(Outcome::Referred(referral)) => ComparedOutcome::Referred {
            reason: word(&referral.reason),
        },
        Ok(Outcome::Failed { reason }) => ComparedOutcome::Failed {
            reason: word(reason),
        },
        Err(failure) => ComparedOutcome::Failed {
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

/// Converts the host's referral of a home that the release does not value. The host never ran the
/// release.
pub fn referred_outcome(referral: &Referral) -> ComparedOutcome {
    ComparedOutcome::Referred {
        reason: referral.code.code().to_owned(),
    }
}

/// Spells a reason as the wire does.
fn word(reason: &impl serde::Serialize) -> String {
    match serde_json::to_value(reason) {
        Ok(serde_json::Value::String(word)) => word,
        _ => "other".to_owned(),
    }
}

/// Returns a band in a word.
pub fn band_word(band: Band) -> &'static str {
    match band {
        Band::High => "high",
        Band::Medium => "medium",
        Band::Low => "low",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_engine::outcome::ReferralReason;

    #[test]
    fn a_reason_is_spelt_as_on_the_wire() {
        assert_eq!(word(&ReferralReason::UnusualSize), "unusual_size");
    }

    #[test]
    fn a_band_is_spelt_as_in_a_manifest() {
        for band in [Band::High, Band::Medium, Band::Low] {
            assert_eq!(band_word(band), word(&band));
        }
    }
}
