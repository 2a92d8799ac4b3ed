//! Promotions: the gate that lets a release pass, and following those that came from elsewhere,
//! another host or a command before the last start.

mod gate;

pub use gate::{PromotionRequest, PromotionRules, promote};

use crate::ledger_key::is_trusted;
use crate::release_source::is_release_here;
use crate::series_releases::{SeriesReleaseError, SeriesReleases};
use crate::service::Service;
use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};
use domesday_package::{GateError, PackageError, Trust, open};
use domesday_state::{
    LedgerRecord, LedgerSigner as _, PromotionEntry, ReleaseKind, State, StateError, UnixMillis,
    UnprovedPromotion, last_trusted_promotion, prove_promotion,
};
use domesday_valuation::release_store::ReleaseError;
use futures_util::future::join_all;
use std::error::Error;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::MissedTickBehavior;

/// The interval of checks for a promotion.
const PERIOD: Duration = Duration::from_secs(1);
/// The interval of readings of the whole ledger, for the metrics.
const LEDGER_PERIOD: Duration = Duration::from_secs(60);
/// The longest time between two attempts to follow a promotion.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The reason why a release cannot be promoted.
#[derive(Debug, thiserror::Error)]
pub enum PromotionError {
    /// The valuation release cannot be served.
    #[error(transparent)]
    Valuation(Box<ReleaseError>),
    /// The release of series cannot be served.
    #[error(transparent)]
    Series(Box<SeriesReleaseError>),
    /// The package does not open.
    #[error(transparent)]
    Package(#[from] Box<PackageError>),
    /// The release was not checked as it must be, or failed.
    #[error(transparent)]
    Gate(#[from] Box<GateError>),
    /// The state cannot be read or written.
    #[error(transparent)]
    State(#[from] StateError),
    /// The ledger does not prove a promotion that the state has.
    #[error(
        "{0}. Promote it again through a host of this service, or put `ledger.pub` of the host that promoted it into keys/ of the releases folder"
    )]
    Unproved(#[from] UnprovedPromotion),
    /// The release is not here, and cannot be fetched.
    #[error("{id} is not here, and was not fetched: {source}")]
    Source {
        /// The release.
        id: String,
        /// The reason.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The package here is not the one that was promoted.
    #[error(
        "the package of {id} here has the manifest {found}, and the one that was promoted {promoted}; copy that one here"
    )]
    OtherManifest {
        /// The release.
        id: String,
        /// SHA-256 of the manifest here.
        found: String,
        /// SHA-256 of the manifest in the ledger.
        promoted: String,
    },
}

impl From<ReleaseError> for PromotionError {
    fn from(error: ReleaseError) -> PromotionError {
        PromotionError::Valuation(Box::new(error))
    }
}

impl From<SeriesReleaseError> for PromotionError {
    fn from(error: SeriesReleaseError) -> PromotionError {
        PromotionError::Series(Box::new(error))
    }
}

/// Makes each release that is promoted from now on the current one of its kind. `known` holds the
/// promoted releases from the time when this host chose its first. A flag may have overridden them.
pub async fn follow(service: Arc<Service>, known: PromotedIds) {
    // Each waits for no other: one may be fetched for minutes.
    let followers = known.map(|(kind, known)| {
        let follower = PromotionFollower {
            kind,
            known,
            doubted: None,
            refused: None,
            retry: None,
        };
        follower.run(&service)
    });
    tokio::join!(join_all(followers), show_ledger(&service));
}

/// Shows the ledger from time to time. Another host may have promoted the same release again.
async fn show_ledger(service: &Arc<Service>) {
    let mut ticks = tokio::time::interval(LEDGER_PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first one comes at once, when the start has shown it.
    ticks.tick().await;
    loop {
        ticks.tick().await;
        let showing = service.clone();
        let shown = tokio::task::spawn_blocking(move || showing.show_promotions());
        if let Err(error) = shown.await {
            tracing::warn!(%error, "the promotion ledger could not be shown");
        }
    }
}

/// The ids promoted last, by kind.
pub type PromotedIds = [(ReleaseKind, Option<String>); ReleaseKind::ALL.len()];

/// Returns the ids that a state has as promoted last, one for each kind of release.
pub fn promoted_ids(state: &dyn State) -> PromotedIds {
    ReleaseKind::ALL.map(|kind| (kind, state.promoted_release(kind)))
}

/// Returns the releases to serve from a start on, one for each kind: the promoted one, where the
/// ledger proves that. Otherwise it is that of the last entry that counts here, and the follower
/// logs the reason. Where none counts, such as after an update from a version without the ledger,
/// the promoted release is served with a warning. Blocks.
///
/// # Errors
/// The ledger cannot be read.
pub fn proved_ids(
    state: &dyn State,
    trust: &Trust,
    own_key: &str,
) -> Result<PromotedIds, StateError> {
    let records = state.promotions()?;
    let is_trusted = |record: &LedgerRecord| is_trusted(record, own_key, trust);
    Ok(promoted_ids(state).map(|(kind, promoted)| {
        let Some(id) = promoted else {
            return (kind, None);
        };
        let Err(reason) = prove_promotion(&records, kind, &id, is_trusted) else {
            return (kind, Some(id));
        };
        let last = last_trusted_promotion(&records, kind, is_trusted);
        if last.is_none() {
            tracing::warn!(
                kind = kind.as_str(),
                release_id = id,
                %reason,
                "the promoted release is served, though the ledger does not prove its promotion"
            );
        }
        (kind, Some(last.map_or(id, |entry| entry.release_id)))
    }))
}

/// Returns the manifest of a release, as SHA-256, by the last entry of it in the ledger. Blocks.
///
/// # Errors
/// The ledger cannot be read.
pub fn promoted_manifest(
    state: &dyn State,
    kind: ReleaseKind,
    id: &str,
) -> Result<Option<String>, StateError> {
    let records = state.promotions()?;
    let entries = records.iter().rev();
    let mut entries = entries.filter_map(|record| record.parse().ok());
    let of_release = entries.find(|entry| entry.kind == kind.as_str() && entry.release_id == id);
    Ok(of_release.map(|entry| entry.manifest))
}

impl Service {
    /// Opens a release, so that it can be promoted. Blocks.
    ///
    /// # Errors
    /// [`PromotionError`] if the release cannot be served.
    pub fn open(&self, kind: ReleaseKind, id: &str) -> Result<(), PromotionError> {
        match kind {
            ReleaseKind::Valuation => {
                self.releases.get(id)?;
            }
            ReleaseKind::Markets => {
                self.markets.retain(id)?;
            }
            ReleaseKind::Rates => {
                self.rates.retain(id)?;
            }
        }
        Ok(())
    }

    /// Promotes a release by this host's rules: in the state, in the ledger, and here. Blocks.
    ///
    /// # Errors
    /// As [`promote`], or the release cannot be served. Then the current release stays.
    pub fn promote(
        &self,
        request: PromotionRequest<'_>,
        now: UnixMillis,
    ) -> Result<LedgerRecord, PromotionError> {
        let (kind, release_id) = (request.kind, request.release_id);
        // Open it first, so that no host learns of a release that it cannot serve.
        self.fetch_missing(kind, release_id)?;
        self.open(kind, release_id)?;
        let rules = PromotionRules {
            releases: self.releases.root(),
            trust: self.releases.trust(),
            second_key: self.second_key,
        };
        let _promoting = self.begin_promotion();
        let record = promote(&*self.state, rules, self.ledger_key.clone(), request, now)?;
        self.metrics.promotions.record(kind);
        self.make_current(kind, release_id)?;
        Ok(record)
    }

    /// Makes a release current that was promoted elsewhere, and says whether it was not so already.
    /// It does nothing where another one was promoted meanwhile. Blocks.
    ///
    /// # Errors
    /// The ledger does not prove the promotion, or the package here is another than the promoted
    /// one or cannot be served. The current release stays.
    fn follow_promotion(&self, kind: ReleaseKind, id: &str) -> Result<bool, PromotionError> {
        let entry = self.prove_promotion(kind, id)?;
        // A promotion through this host does not wait for the opening.
        self.fetch_missing(kind, id)?;
        self.open(kind, id)?;
        self.check_manifest(kind, id, entry.manifest)?;
        let _promoting = self.begin_promotion();
        if self.state.promoted_release(kind).as_deref() != Some(id) {
            return Ok(false);
        }
        self.make_current(kind, id)
    }

    /// Fetches a release that is not here from the source, where one is set. Blocks.
    ///
    /// # Errors
    /// [`PromotionError::Source`] if it cannot be fetched.
    fn fetch_missing(&self, kind: ReleaseKind, id: &str) -> Result<(), PromotionError> {
        let Some(source) = &self.release_source else {
            return Ok(());
        };
        if is_release_here(self.releases.root(), self.releases.trust(), kind, id) {
            return Ok(());
        }
        let manifest = match self.state.promoted_release(kind).as_deref() == Some(id) {
            true => promoted_manifest(&*self.state, kind, id)?,
            // A promotion of other bytes under this id is a new one.
            false => None,
        };
        tracing::info!(kind = kind.as_str(), release_id = id, "fetching a release");
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

    /// Returns the entry of the ledger that proves a promotion, by this host's own key or one that
    /// it trusts. Blocks.
    fn prove_promotion(
        &self,
        kind: ReleaseKind,
        id: &str,
    ) -> Result<PromotionEntry, PromotionError> {
        let own_key = self.ledger_key.public_key();
        let trust = self.releases.trust();
        let records = self.state.promotions()?;
        let proved = prove_promotion(&records, kind, id, |record| {
            is_trusted(record, &own_key, trust)
        });
        Ok(proved?)
    }

    /// Compares the package of a release with the manifest that was promoted. Blocks.
    ///
    /// # Errors
    /// [`PromotionError::OtherManifest`] if they differ, or the release cannot be opened.
    fn check_manifest(
        &self,
        kind: ReleaseKind,
        id: &str,
        promoted: String,
    ) -> Result<(), PromotionError> {
        let found = match kind {
            ReleaseKind::Valuation => self.releases.get(id)?.package.to_string(),
            ReleaseKind::Markets | ReleaseKind::Rates => {
                let package_dir = self.releases.root().join(kind.as_str()).join(id);
                let package = open(&package_dir, self.releases.trust()).map_err(Box::new)?;
                package.digest().to_string()
            }
        };
        match found == promoted {
            true => Ok(()),
            false => Err(PromotionError::OtherManifest {
                id: id.to_owned(),
                found,
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
                self.metrics.promotions.show(entries);
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
        let family = |releases: &SeriesReleases| {
            releases
                .current()
                .is_some_and(|now| now.id().as_str() == id)
        };
        let already = match kind {
            ReleaseKind::Valuation => self.releases.current().id == id,
            ReleaseKind::Markets => family(&self.markets),
            ReleaseKind::Rates => family(&self.rates),
        };
        match kind {
            ReleaseKind::Valuation => {
                self.releases.promote(id)?;
                self.shadows.stop_if_promoted(id);
            }
            ReleaseKind::Markets => self.markets.promote(id)?,
            ReleaseKind::Rates => self.rates.promote(id)?,
        }
        Ok(!already)
    }
}

struct PromotionFollower {
    kind: ReleaseKind,
    known: Option<String>,
    /// The promotion that the ledger did not prove at one look. At the next one it may: a host can
    /// learn of the promoted release and of the entry in two moments.
    doubted: Option<String>,
    refused: Option<String>,
    /// The pauses between attempts to follow it, and the time of the next attempt.
    retry: Option<(ExponentialBackoff, Instant)>,
}

impl PromotionFollower {
    async fn run(mut self, service: &Arc<Service>) {
        let mut ticks = tokio::time::interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.check(service).await;
        }
    }

    /// Returns whether a promotion may be tried now. Another one does not wait for the retry of the
    /// one that was refused.
    fn is_due(&self, promoted: Option<&str>) -> bool {
        let retry = self
            .retry
            .as_ref()
            .filter(|_| self.refused.as_deref() == promoted);
        retry.is_none_or(|(_, at)| *at <= Instant::now())
    }

    /// Puts the next attempt off, for longer each time. The package may still be on its way here,
    /// and an attempt may read all of it. The log says the problem once.
    fn refuse(&mut self, promoted: Option<String>, problem: &str, error: &dyn Error) {
        if self.refused != promoted {
            let release_id = promoted.as_deref();
            tracing::error!(%error, kind = self.kind.as_str(), release_id, "{problem}");
            self.refused = promoted;
            self.retry = None;
        }
        let pauses = || {
            let pauses = ExponentialBuilder::default().with_max_delay(LONGEST_PAUSE);
            pauses.without_max_times().build()
        };
        let mut pauses = self.retry.take().map_or_else(pauses, |(pauses, _)| pauses);
        let pause = pauses.next().unwrap_or(LONGEST_PAUSE);
        self.retry = Some((pauses, Instant::now() + pause));
    }

    async fn check(&mut self, service: &Arc<Service>) {
        let kind = self.kind;
        let promoted = service.state.promoted_release(kind);
        let Some(id) = promoted.clone().filter(|_| promoted != self.known) else {
            return;
        };
        if !self.is_due(promoted.as_deref()) {
            return;
        }
        let opening = service.clone();
        let release_id = id.clone();
        let outcome = tokio::task::spawn_blocking(move || {
            let changed = opening.follow_promotion(kind, &release_id);
            if changed.is_ok() {
                opening.show_promotions();
            }
            if kind == ReleaseKind::Valuation && matches!(changed, Ok(true)) {
                opening.warn_of_unchecked_release();
            }
            changed
        })
        .await;
        match outcome {
            Ok(Ok(changed)) => {
                // Not where it was promoted through this server, which has said so.
                if changed {
                    tracing::info!(kind = kind.as_str(), release_id = id, "release promoted");
                }
                self.known = promoted;
                (self.doubted, self.refused, self.retry) = (None, None, None);
            }
            Ok(Err(PromotionError::Unproved(_))) if self.doubted != promoted => {
                self.doubted = promoted;
            }
            Ok(Err(error)) => {
                let problem = match error {
                    PromotionError::Source { .. } => "the promoted release is not here",
                    PromotionError::Unproved(_) => {
                        service.metrics.promotions.show_unproved(kind, id);
                        "the ledger does not prove the promotion, so the current release stays"
                    }
                    _ => "the promoted release cannot be served",
                };
                self.refuse(promoted, problem, &error);
            }
            Err(panicked) => {
                self.refuse(promoted, "opening the promoted release panicked", &panicked);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_that_fails_is_put_off_for_longer_each_time() {
        let mut follower = PromotionFollower {
            kind: ReleaseKind::Markets,
            known: None,
            doubted: None,
            refused: None,
            retry: None,
        };
        let [this, other] = ["a", "b"].map(|id| Some(id.to_owned()));
        assert!(follower.is_due(this.as_deref()));
        let error = PromotionError::OtherManifest {
            id: "a".to_owned(),
            found: "1".to_owned(),
            promoted: "2".to_owned(),
        };
        let mut shortest = Duration::from_millis(900);
        for _ in 0..4 {
            let before = Instant::now();
            follower.refuse(this.clone(), "on purpose", &error);
            assert!(!follower.is_due(this.as_deref()));
            assert!(
                follower.is_due(other.as_deref()),
                "another promotion waits for none"
            );
            let (_, at) = follower.retry.as_ref().unwrap();
            assert!(*at >= before + shortest, "{shortest:?}");
            shortest *= 2;
        }
        follower.refuse(other, "on purpose", &error);
        let (_, at) = follower.retry.as_ref().unwrap();
        assert!(
            *at < Instant::now() + Duration::from_secs(2),
            "it begins anew"
        );
    }
}
