//! The gate of a promotion: the release was checked, and the ledger records who promoted it.

use super::PromotionError;
use domesday_backup::ledger_key::{is_known, verify};
use domesday_package::{Attachments, CheckEvidence, Kind, Package, Trust, judge_check, open};
use domesday_state::{
    LedgerRecord, LedgerSigner, NewPromotion, ReleaseKind, State, StateError, UnixMillis, is_reason,
};
use std::path::Path;
use std::sync::Arc;

/// A promotion that an operator asks for.
#[derive(Debug, Clone, Copy)]
pub struct PromotionRequest<'a> {
    /// The kind of release.
    pub kind: ReleaseKind,
    /// The release.
    pub release_id: &'a str,
    /// The operator.
    pub who: &'a str,
    /// The operator's reason.
    pub reason: Option<&'a str>,
}

/// The releases that may be promoted, and what they need.
#[derive(Debug, Clone, Copy)]
pub struct PromotionRules<'a> {
    /// The folder of releases.
    pub releases: &'a Path,
    /// The keys that are trusted.
    pub trust: &'a Trust,
    /// True if a second person must approve a valuation release.
    pub second_key: bool,
}

/// Promotes a release in the state and records it in the ledger, if the gate lets it. Whether the
/// release can be served is for the caller to prove first. Blocks.
///
/// # Errors
/// [`PromotionError::Reason`] if the reason is not one line, or too long.
/// [`PromotionError::Gate`] if the release was not checked as it must be, or failed.
/// [`PromotionError::Package`] or [`PromotionError::State`] if one cannot be read or written.
pub fn promote(
    state: &dyn State,
    rules: PromotionRules<'_>,
    signer: Arc<dyn LedgerSigner>,
    request: PromotionRequest<'_>,
    now: UnixMillis,
) -> Result<LedgerRecord, PromotionError> {
    let PromotionRequest {
        kind,
        release_id,
        who,
        reason,
    } = request;
    if reason.is_some_and(|reason| !is_reason(reason)) {
        return Err(PromotionError::Reason);
    }
    let package_dir = rules.releases.join(kind.as_str()).join(release_id);
    let package = open(&package_dir, rules.trust).map_err(Box::new)?;
    let evidence = match kind {
        ReleaseKind::Valuation => judge(state, rules, &package, &signer.public_key())?,
        // These kinds have no checks.
        ReleaseKind::Markets | ReleaseKind::Rates => CheckEvidence::default(),
    };
    if !evidence.not_judged.is_empty() {
        tracing::warn!(
            release_id,
            not_judged = evidence.not_judged.join(", "),
            "the check of the release did not judge everything"
        );
    }
    let promotion = NewPromotion {
        kind,
        release_id: release_id.to_owned(),
        manifest: package.digest().to_string(),
        who: who.to_owned(),
        at: now,
        reason: reason.map(str::to_owned),
        report: evidence.report.map(|digest| digest.to_string()),
        approved_by: evidence.approved_by.map(|key| key.to_string()),
    };
    Ok(state.promote(promotion, signer)?)
}

/// Judges a valuation release. One that was promoted before may be promoted again without proof.
fn judge(
    state: &dyn State,
    rules: PromotionRules<'_>,
    package: &Package,
    own_key: &str,
) -> Result<CheckEvidence, PromotionError> {
    let attachments = Attachments::read(package.directory()).map_err(Box::new)?;
    match judge_check(package, &attachments, rules.trust, rules.second_key) {
        Ok(evidence) => Ok(evidence),
        Err(_) if was_promoted(state, rules, package, own_key)? => Ok(CheckEvidence::default()),
        Err(error) => Err(Box::new(error).into()),
    }
}

/// Returns whether the release was promoted before, by the ledger. Only entries of a ledger that
/// fits count, and only those signed by this host or by one that it trusts. So who can write the
/// state alone cannot open the gate. Where the operator demands a second person, an entry without a
/// report proves nothing.
fn was_promoted(
    state: &dyn State,
    rules: PromotionRules<'_>,
    package: &Package,
    own_key: &str,
) -> Result<bool, StateError> {
    let id = package.manifest().id.as_str();
    let manifest = package.digest().to_string();
    let records = state.promotions()?;
    let entries = match verify(&records) {
        Ok(entries) => entries,
        Err(error) => {
            tracing::error!(%error, "the promotion ledger does not fit, so it proves no earlier promotion");
            return Ok(false);
        }
    };
    Ok(entries.iter().zip(&records).any(|(entry, record)| {
        entry.kind == Kind::Valuation.as_str()
            && entry.release_id == id
            && entry.manifest == manifest
            // A promotion without a report was waived by one person.
            && (!rules.second_key || entry.report.is_some())
            && is_known(&record.signer, own_key, rules.trust)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_backup::ledger_key::LedgerKey;
    use domesday_state::{EmbeddedState, Promotions as _};

    #[test]
    fn a_reason_of_two_lines_promotes_nothing() {
        let place = tempfile::tempdir().unwrap();
        let state = EmbeddedState::open(&place.path().join("state.redb")).unwrap();
        let signer = Arc::new(LedgerKey::open(place.path(), [7; 32]).unwrap());
        let rules = PromotionRules {
            releases: place.path(),
            trust: &Trust::Unsigned,
            second_key: false,
        };
        let promoted = |reason| {
            let request = PromotionRequest {
                kind: ReleaseKind::Valuation,
                release_id: "nowhere-1",
                who: "alice",
                reason: Some(reason),
            };
            promote(&state, rules, signer.clone(), request, UnixMillis(0)).unwrap_err()
        };
        let refused = promoted("after the check\nof June");
        assert!(matches!(refused, PromotionError::Reason), "{refused}");
        // One line goes on, to a package that is not there.
        let missing = promoted("after the check of June");
        assert!(matches!(missing, PromotionError::Package(_)), "{missing}");
        assert_eq!(state.promotions().unwrap(), []);
    }
}
