//! Promotions: the gate that lets a release pass, and following those that came from elsewhere,
//! another host or a command before the last start.

mod error;
mod follower;
mod gate;
mod later_approval;
mod other_packages;
mod stored_release;

pub use error::PromotionError;
pub use follower::follow;
pub use gate::{PromotionRequest, PromotionRules, promote};
pub use other_packages::withdraw_other_packages;

use crate::release_source::is_release_here;
use crate::series_releases::{SeriesReleaseError, SeriesReleases};
use crate::service::Service;
use domesday_backup::ledger_key::ProofRules;
use domesday_package::{Sha256Digest, read_claimed_digest};
use domesday_state::{
    LedgerRecord, LedgerSigner as _, PromotionEntry, ReleaseKind, State, StateError, UnixMillis,
    last_trusted_entry, last_trusted_promotion, prove_promotion,
};
use domesday_valuation::release_store::ReleaseError;
use later_approval::promote_with_source;
use std::sync::{Arc, MutexGuard, PoisonError};

/// The end of an attempt to follow a promotion that was made elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FollowOutcome {
    /// The package of this manifest became current.
    Switched(Sha256Digest),
    /// It was current before.
    Unchanged(Sha256Digest),
    /// It is held beside the release that a setting names.
    Held,
    /// Another one was promoted while this one was fetched and opened.
    Superseded,
}

/// The ids promoted last, by kind.
pub type PromotedIds = [(ReleaseKind, Option<String>); ReleaseKind::ALL.len()];

/// Returns the ids that a state has as promoted last, one for each kind of release.
pub fn promoted_ids(state: &dyn State) -> PromotedIds {
    ReleaseKind::ALL.map(|kind| (kind, state.promoted_release(kind)))
}

/// A release that was promoted last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromotedRelease {
    /// Its id.
    pub id: String,
    /// SHA-256 of the manifest that was promoted, where an entry of the ledger counts for it.
    pub manifest: Option<String>,
}

/// The releases promoted last, by kind.
pub type PromotedReleases = [(ReleaseKind, Option<PromotedRelease>); ReleaseKind::ALL.len()];

/// Returns the releases to serve from a start on, one for each kind: the promoted one, where the
/// ledger proves that. Otherwise it is that of the last entry that counts here, and the follower
/// logs the reason. Where none counts, such as after an update from a version without the ledger,
/// the promoted release is served with a warning. Blocks.
///
/// # Errors
/// The ledger cannot be read.
pub fn proved_releases(
    state: &dyn State,
    rules: &ProofRules<'_>,
) -> Result<PromotedReleases, StateError> {
    let records = state.promotions()?;
    let is_trusted = |record: &LedgerRecord| rules.accepts(record);
    Ok(promoted_ids(state).map(|(kind, promoted)| {
        let Some(id) = promoted else {
            return (kind, None);
        };
        let entry = prove_promotion(&records, kind, &id, is_trusted).or_else(|reason| {
            let last = last_trusted_promotion(&records, kind, is_trusted);
            if last.is_none() {
                tracing::warn!(
                    kind = kind.as_str(),
                    release_id = id,
                    %reason,
                    "the promoted release is served, though the ledger does not prove its promotion"
                );
            }
            last.ok_or(reason)
        });
        let (id, manifest) = match entry {
            Ok(entry) => (entry.release_id, Some(entry.manifest)),
            Err(_) => (id, None),
        };
        (kind, Some(PromotedRelease { id, manifest }))
    }))
}

/// Returns the manifest of a release, as SHA-256, by the last entry of it in the ledger that counts
/// here. Blocks.
///
/// # Errors
/// The ledger cannot be read.
pub fn promoted_manifest(
    state: &dyn State,
    rules: &ProofRules<'_>,
    release: (ReleaseKind, &str),
) -> Result<Option<String>, StateError> {
    let records = state.promotions()?;
    let entry = last_trusted_entry(&records, release, |record| rules.accepts(record));
    Ok(entry.map(|entry| entry.manifest))
}

/// Returns the manifest of a release, as SHA-256, by the last entry of it, whether that counts here
/// or not. It tells one promotion from another, and names no package to fetch. Blocks.
///
/// # Errors
/// The ledger cannot be read.
fn named_manifest(
    state: &dyn State,
    (kind, id): (ReleaseKind, &str),
) -> Result<Option<String>, StateError> {
    let records = state.promotions()?;
    let mut entries = (records.iter().rev()).filter_map(|record| record.parse().ok());
    let of_release = entries.find(|entry| entry.kind == kind.as_str() && entry.release_id == id);
    Ok(of_release.map(|entry| entry.manifest))
}

impl Service {
    /// Promotes a release by this host's rules: in the state, in the ledger, and here. One that the
    /// gate refuses is judged again with the report and the approval that the source has. Blocks.
    ///
    /// # Errors
    /// As [`promote`], or the release cannot be served. Then the current release stays, and so does
    /// the package that the host serves under this id.
    pub fn promote(
        &self,
        request: PromotionRequest<'_>,
        now: UnixMillis,
    ) -> Result<LedgerRecord, PromotionError> {
        let (kind, release_id) = (request.kind, request.release_id);
        // Open it first, so that no host learns of a release that it cannot serve.
        self.fetch_missing(kind, release_id, None)?;
        // The ledger will name the package on the disk, which may be another than the open one.
        let manifest = self.stored_manifest(kind, release_id);
        let stored = self.open_stored(kind, release_id, manifest.as_deref())?;
        let rules = PromotionRules {
            releases: self.releases.root(),
            trust: self.releases.trust(),
            second_key: self.second_key,
        };
        // No other promotion waits while this one fetches.
        let promote_here = || {
            let _promoting = self.begin_promotion();
            let record = promote(&*self.state, rules, self.ledger_key.clone(), request, now)?;
            self.metrics.promotions.record(kind);
            self.serve_stored(&stored)?;
            self.make_current(kind, release_id)?;
            self.show_promotions();
            Ok(record)
        };
        let source = self.release_source.as_deref();
        promote_with_source(
            source,
            (kind, release_id),
            manifest.as_deref(),
            promote_here,
        )
    }

    /// Makes a release current that was promoted elsewhere, unless another one was promoted
    /// meanwhile. Blocks.
    ///
    /// # Errors
    /// As [`Service::hold_promotion`]. The current release stays.
    fn follow_promotion(
        &self,
        kind: ReleaseKind,
        id: &str,
    ) -> Result<FollowOutcome, PromotionError> {
        // A promotion through this host does not wait for the opening.
        let manifest = self.hold_promotion(kind, id)?;
        let _promoting = self.begin_promotion();
        if self.state.promoted_release(kind).as_deref() != Some(id) {
            return Ok(FollowOutcome::Superseded);
        }
        Ok(match self.make_current(kind, id)? {
            true => FollowOutcome::Switched(manifest),
            false => FollowOutcome::Unchanged(manifest),
        })
    }

    /// Opens a release that was promoted elsewhere, and serves the current one on. Returns the
    /// digest of the promoted manifest. Blocks.
    ///
    /// # Errors
    /// The ledger does not prove the promotion, or the package here is another than the promoted
    /// one or cannot be served.
    fn hold_promotion(&self, kind: ReleaseKind, id: &str) -> Result<Sha256Digest, PromotionError> {
        let entry = self.prove_promotion(kind, id)?;
        self.fetch_missing(kind, id, Some(&entry.manifest))?;
        // What is open under this id is served until the promoted package is open.
        if self.stored_manifest(kind, id).as_ref() == Some(&entry.manifest) {
            let before = self.retained_digest(kind, id);
            let stored = self.open_stored(kind, id, Some(&entry.manifest))?;
            let _promoting = self.begin_promotion();
            // A copy may have replaced the package meanwhile, and a promotion the open one.
            let is_promoted = stored.digest().to_string() == entry.manifest;
            if is_promoted && self.retained_digest(kind, id) == before {
                self.serve_stored(&stored)?;
            }
        }
        self.check_manifest(kind, id, entry.manifest)
    }

    /// Fetches a release from the source, where one is set and the release is not here with the
    /// promoted manifest. A promotion anew takes any that is here. Blocks.
    ///
    /// # Errors
    /// [`PromotionError::Source`] if it cannot be fetched.
    fn fetch_missing(
        &self,
        kind: ReleaseKind,
        id: &str,
        promoted: Option<&str>,
    ) -> Result<(), PromotionError> {
        let Some(source) = &self.release_source else {
            return Ok(());
        };
        let (root, trust) = (self.releases.root(), self.releases.trust());
        if is_release_here(root, trust, (kind, id), promoted) {
            return Ok(());
        }
        let manifest = match promoted {
            Some(manifest) => Some(manifest.to_owned()),
            None if self.state.promoted_release(kind).as_deref() == Some(id) => {
                self.with_rules(|rules| promoted_manifest(&*self.state, rules, (kind, id)))?
            }
            // A promotion of other bytes under this id is a new one.
            None => None,
        };
        source
            .fetch(kind, id, manifest.as_deref())
            .map_err(|source| PromotionError::Source {
                id: id.to_owned(),
                source,
            })
    }

    fn begin_promotion(&self) -> MutexGuard<'_, ()> {
        // It guards no data that could be left half done.
        self.promoting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the entry of the ledger that proves a promotion. Blocks.
    fn prove_promotion(
        &self,
        kind: ReleaseKind,
        id: &str,
    ) -> Result<PromotionEntry, PromotionError> {
        let records = self.state.promotions()?;
        let proved = self.with_rules(|rules| {
            prove_promotion(&records, kind, id, |record| rules.accepts(record))
        });
        Ok(proved?)
    }

    /// Calls a function with the rules by which entries of the ledger count here.
    pub(crate) fn with_rules<T>(&self, judge: impl FnOnce(&ProofRules<'_>) -> T) -> T {
        judge(&ProofRules {
            own_key: &self.ledger_key.public_key(),
            trust: self.releases.trust(),
            known_signers: self.second_key,
        })
    }

    /// Returns the SHA-256 of the manifest that a release has on the disk. Blocks.
    fn stored_manifest(&self, kind: ReleaseKind, id: &str) -> Option<String> {
        let folder = self.releases.root().join(kind.as_str());
        read_claimed_digest(&folder.join(id)).map(|digest| digest.to_string())
    }

    /// Opens a release, and compares its package with the manifest that was promoted. Returns the
    /// digest of both. Blocks.
    ///
    /// # Errors
    /// [`PromotionError::OtherManifest`] if they differ, or the release cannot be opened.
    fn check_manifest(
        &self,
        kind: ReleaseKind,
        id: &str,
        promoted: String,
    ) -> Result<Sha256Digest, PromotionError> {
        let digest = match kind {
            ReleaseKind::Valuation => match self.releases.get(id) {
                Err(ReleaseError::OtherPackage { found, .. }) => Err(found),
                opened => Ok(opened?.package),
            },
            ReleaseKind::Markets => Ok(self.markets.retain(id)?.digest()),
            ReleaseKind::Rates => Ok(self.rates.retain(id)?.digest()),
        };
        match digest {
            Ok(digest) if digest.to_string() == promoted => Ok(digest),
            Ok(found) | Err(found) => Err(PromotionError::OtherManifest {
                id: id.to_owned(),
                found: found.to_string(),
                promoted,
            }),
        }
    }

    /// Returns why the gate would refuse the release that is served now, if it would. Then it has
    /// no check report that passed, by this host's trust. It is served all the same. Blocks.
    pub fn find_check_refusal(&self) -> Option<String> {
        let current = self.releases.current();
        let judged = current.judge_check(self.releases.trust());
        let refusal = judged.err().map(|refusal| refusal.to_string());
        self.metrics.promotions.show_check(refusal.is_none());
        refusal
    }

    /// Logs a warning where the gate would refuse the release that is served now. Blocks.
    pub fn warn_of_unchecked_release(&self) {
        if let Some(reason) = self.find_check_refusal() {
            tracing::warn!(
                release_id = self.releases.current().id,
                reason,
                "the served release has no check report that passed"
            );
        }
    }

    /// Shows the ledger, and the check of the served release, in the metrics. Blocks. A state that
    /// cannot be read leaves them as they are.
    pub fn show_promotions(&self) {
        self.find_check_refusal();
        match self.state.promotions() {
            Ok(records) => {
                let entries = records.iter().filter_map(|record| record.parse().ok());
                let counted = promoted_ids(&*self.state).map(|(kind, id)| {
                    self.with_rules(|rules| {
                        let accepts = |record: &LedgerRecord| rules.accepts(record);
                        last_trusted_entry(&records, (kind, &id?), accepts)
                    })
                });
                let counted = counted.into_iter().flatten();
                self.metrics.promotions.show(entries, counted);
            }
            Err(error) => tracing::warn!(%error, "the promotion ledger could not be read"),
        }
    }

    /// Makes a release the current one of its kind, here, and says whether it was not so already.
    /// Blocks where it must be opened first.
    ///
    /// # Errors
    /// The release cannot be served. The current release stays.
    fn make_current(&self, kind: ReleaseKind, id: &str) -> Result<bool, PromotionError> {
        // Another package of the same id is opened anew.
        let family = |releases: &SeriesReleases| {
            let before = releases.current();
            releases.promote(id)?;
            let (before, now) = (before.as_ref(), releases.current());
            let is_same = before
                .zip(now.as_ref())
                .is_some_and(|(a, b)| Arc::ptr_eq(a, b));
            Ok::<bool, SeriesReleaseError>(!is_same)
        };
        Ok(match kind {
            ReleaseKind::Valuation => {
                let before = self.releases.current();
                self.releases.promote(id)?;
                self.shadows.stop_if_promoted(id);
                !Arc::ptr_eq(&before, &self.releases.current())
            }
            ReleaseKind::Markets => family(&self.markets)?,
            ReleaseKind::Rates => family(&self.rates)?,
        })
    }
}
