//! Following the promotions that came from elsewhere, one follower for each kind of release.

use super::{FollowOutcome, PromotedRelease, PromotedReleases, PromotionError, named_manifest};
use crate::service::{CurrentPackage, Service};
use crate::telemetry::promotions::RefusedPromotion;
use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};
use domesday_state::ReleaseKind;
use futures_util::future::join_all;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::spawn_blocking;
use tokio::time::MissedTickBehavior;

/// The interval of checks for a promotion.
const PERIOD: Duration = Duration::from_secs(1);
/// The interval of readings of the whole ledger, for the metrics.
const LEDGER_PERIOD: Duration = Duration::from_secs(60);
/// The interval of looks into the ledger for another manifest of the promoted release.
const MANIFEST_PERIOD: Duration = Duration::from_secs(10);
/// The longest time between two attempts to follow a promotion.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Makes each release that is promoted from now on the current one of its kind. `known` holds the
/// promoted releases from the time when this host chose its first. A flag may have overridden them.
pub async fn follow(service: Arc<Service>, known: PromotedReleases) {
    // Each waits for no other: one may be fetched for minutes.
    let followers = known.map(|(kind, known)| {
        let follower = PromotionFollower {
            known,
            ..PromotionFollower::of(kind)
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
        let shown = spawn_blocking(move || showing.show_promotions());
        if let Err(error) = shown.await {
            tracing::warn!(%error, "the promotion ledger could not be shown");
        }
    }
}

struct PromotionFollower {
    kind: ReleaseKind,
    known: Option<PromotedRelease>,
    /// The current package as the follower left it, or as it found it at the start. A promotion
    /// through this host makes another one current.
    current: Option<CurrentPackage>,
    /// The known promotion that this host has ready, though a setting names another release.
    held: Option<PromotedRelease>,
    /// The promoted release at the last look into the ledger, and the time of that.
    seen: Option<(PromotedRelease, Instant)>,
    /// The promotion that the ledger did not prove at one look. At the next one it may: a host can
    /// learn of the promoted release and of the entry in two moments.
    doubted: Option<PromotedRelease>,
    refused: Option<PromotedRelease>,
    /// The pauses between attempts to follow it, and the time of the next attempt.
    retry: Option<(ExponentialBackoff, Instant)>,
}

impl PromotionFollower {
    fn of(kind: ReleaseKind) -> PromotionFollower {
        PromotionFollower {
            kind,
            known: None,
            current: None,
            held: None,
            seen: None,
            doubted: None,
            refused: None,
            retry: None,
        }
    }

    async fn run(mut self, service: &Arc<Service>) {
        self.current = service.current_package(self.kind);
        let mut ticks = tokio::time::interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.check(service).await;
        }
    }

    /// Returns whether a promotion may be tried now. Another one does not wait for the retry of the
    /// one that was refused.
    fn is_due(&self, promoted: &PromotedRelease) -> bool {
        let is_refused = self.refused.as_ref() == Some(promoted);
        let retry = self.retry.as_ref().filter(|_| is_refused);
        retry.is_none_or(|(_, at)| *at <= Instant::now())
    }

    /// Puts the next attempt off, for longer each time. The package may still be on its way here,
    /// and an attempt may read all of it. The log says the problem once.
    fn refuse(&mut self, promoted: PromotedRelease, problem: &str, error: &dyn Error) {
        if self.refused.as_ref() != Some(&promoted) {
            let release_id = &promoted.id;
            tracing::error!(%error, kind = self.kind.as_str(), release_id, "{problem}");
            self.refused = Some(promoted);
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

    /// Returns the promoted release, with the manifest of its last entry in the ledger. That is
    /// read anew for another id, and from time to time.
    async fn find_promoted(&mut self, service: &Arc<Service>) -> Option<PromotedRelease> {
        let (kind, id) = (self.kind, service.state.promoted_release(self.kind)?);
        if let Some((seen, at)) = &self.seen
            && seen.id == id
            && at.elapsed() < MANIFEST_PERIOD
        {
            return Some(seen.clone());
        }
        let (state, release_id) = (service.state.clone(), id.clone());
        let reading = spawn_blocking(move || named_manifest(&*state, (kind, &release_id)));
        let promoted = match (reading.await, self.seen.take()) {
            (Ok(Ok(manifest)), _) => PromotedRelease { id, manifest },
            // A ledger that cannot be read changes nothing.
            (_, Some((seen, _))) if seen.id == id => seen,
            _ => PromotedRelease { id, manifest: None },
        };
        self.seen = Some((promoted.clone(), Instant::now()));
        Some(promoted)
    }

    /// Returns whether a promotion is the known one. The manifest of either may not be known: no
    /// entry counted at the start, or the ledger could not be read.
    fn is_known(&self, promoted: &PromotedRelease) -> bool {
        let Some(known) = self.known.as_ref().filter(|known| known.id == promoted.id) else {
            return false;
        };
        let manifests = known.manifest.as_ref().zip(promoted.manifest.as_ref());
        manifests.is_none_or(|(known, promoted)| known == promoted)
    }

    /// Returns whether the known promotion is to be fetched, though it is not followed. A start
    /// with `--release` serves another release, and its peers serve this one.
    fn is_to_be_held(&self, service: &Service, promoted: &PromotedRelease) -> bool {
        service.release_source.is_some()
            && self.held.as_ref() != Some(promoted)
            && service
                .current_release(self.kind)
                .is_some_and(|current| current != promoted.id)
    }

    /// Returns whether a promotion through this host made another package current since then. Then
    /// a promotion of the known release elsewhere is a new one.
    fn was_overtaken(&self, current: Option<&CurrentPackage>) -> bool {
        current.is_some() && current != self.current.as_ref()
    }

    /// Forgets what was noted of other promotions than this. One of them is a new one where it
    /// comes again: its problem is logged, and it is tried at once. Returns whether one was
    /// refused.
    fn forget_others(&mut self, promoted: &PromotedRelease) -> bool {
        let is_other = |noted: &PromotedRelease| noted != promoted;
        self.doubted.take_if(|doubted| is_other(doubted));
        let forgotten = self.refused.take_if(|refused| is_other(refused));
        if forgotten.is_some() {
            self.retry = None;
        }
        forgotten.is_some()
    }

    /// Notes a promotion that is followed or held. The current package is the one that this made
    /// current, though a promotion through this host may have made another one current meanwhile.
    fn note_done(&mut self, promoted: PromotedRelease, outcome: FollowOutcome) {
        if let FollowOutcome::Switched(manifest) | FollowOutcome::Unchanged(manifest) = outcome {
            let id = promoted.id.clone();
            self.current = Some(CurrentPackage { id, manifest });
        }
        (self.known, self.held) = (Some(promoted.clone()), Some(promoted));
        (self.doubted, self.refused, self.retry) = (None, None, None);
    }

    async fn check(&mut self, service: &Arc<Service>) {
        let kind = self.kind;
        let Some(promoted) = self.find_promoted(service).await else {
            return;
        };
        if self.forget_others(&promoted) {
            service.metrics.promotions.show_refused(kind, None);
        }
        let current = service.current_package(kind);
        let is_known = self.is_known(&promoted) && !self.was_overtaken(current.as_ref());
        // A manifest that is learned late is that of the known promotion.
        if is_known && promoted.manifest.is_some() {
            self.known = Some(promoted.clone());
        }
        if (is_known && !self.is_to_be_held(service, &promoted)) || !self.is_due(&promoted) {
            return;
        }
        let opening = service.clone();
        let id = promoted.id.clone();
        let outcome = spawn_blocking(move || {
            if is_known {
                let held = opening.hold_promotion(kind, &id);
                return held.map(|_| FollowOutcome::Held);
            }
            let followed = opening.follow_promotion(kind, &id);
            if followed.is_ok() {
                opening.show_promotions();
            }
            let has_switched = matches!(followed, Ok(FollowOutcome::Switched(_)));
            if kind == ReleaseKind::Valuation && has_switched {
                opening.warn_of_unchecked_release();
            }
            followed
        })
        .await;
        match outcome {
            // It did not become current, so it is new where it is promoted again.
            Ok(Ok(FollowOutcome::Superseded)) => {}
            Ok(Ok(followed)) => {
                // Not where it was promoted through this server, which has said so.
                if matches!(followed, FollowOutcome::Switched(_)) {
                    let release_id = &promoted.id;
                    tracing::info!(kind = kind.as_str(), release_id, "release promoted");
                }
                service.metrics.promotions.show_refused(kind, None);
                self.note_done(promoted, followed);
            }
            // Nothing names its package. A start serves what is here under the id, with a warning.
            Ok(Err(PromotionError::Unproved(_))) if is_known => self.held = Some(promoted),
            Ok(Err(PromotionError::Unproved(_))) if self.doubted.as_ref() != Some(&promoted) => {
                // The entry may come next.
                (self.doubted, self.seen) = (Some(promoted), None);
            }
            // The stop ended the fetch, and the next start fetches again.
            Ok(Err(PromotionError::Source { .. })) if service.connections.is_draining() => {}
            Ok(Err(error)) => {
                let (problem, unproved) = problem_of(&error);
                let refused = RefusedPromotion {
                    id: promoted.id.clone(),
                    reason: error.to_string(),
                    unproved,
                };
                service.metrics.promotions.show_refused(kind, Some(refused));
                self.refuse(promoted, problem, &error);
            }
            Err(panicked) => {
                self.refuse(promoted, "opening the promoted release panicked", &panicked);
            }
        }
    }
}

/// Returns the sentence of the log about a promotion that cannot be followed. The second part is
/// true if the ledger does not prove it for the package that is here.
fn problem_of(error: &PromotionError) -> (&'static str, bool) {
    match error {
        PromotionError::Source { .. } => ("the promoted release is not here", false),
        PromotionError::Unproved(_) => (
            "the ledger does not prove the promotion, so the current release stays",
            true,
        ),
        PromotionError::OtherManifest { .. } => (
            "the package of the promoted release is another one here",
            true,
        ),
        _ => ("the promoted release cannot be served", false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_package::Sha256Digest;

    fn release(manifest: Option<&str>) -> PromotedRelease {
        PromotedRelease {
            id: "a".to_owned(),
            manifest: manifest.map(str::to_owned),
        }
    }

    fn package(id: &str, manifest: &str) -> CurrentPackage {
        CurrentPackage {
            id: id.to_owned(),
            manifest: Sha256Digest::of(manifest.as_bytes()),
        }
    }

    #[test]
    fn another_manifest_of_the_known_release_is_another_promotion() {
        let mut follower = PromotionFollower::of(ReleaseKind::Markets);
        assert!(!follower.is_known(&release(None)));
        follower.known = Some(release(None));
        assert!(follower.is_known(&release(Some("1"))));
        follower.known = Some(release(Some("1")));
        assert!(follower.is_known(&release(Some("1"))) && follower.is_known(&release(None)));
        assert!(!follower.is_known(&release(Some("2"))));
    }

    #[test]
    fn a_promotion_through_this_host_makes_the_known_one_new_again() {
        let mut follower = PromotionFollower::of(ReleaseKind::Markets);
        let [this, other, same_id] =
            [("a", "1"), ("b", "1"), ("a", "2")].map(|(id, manifest)| package(id, manifest));
        follower.current = Some(this.clone());
        assert!(!follower.was_overtaken(Some(&this)));
        assert!(follower.was_overtaken(Some(&other)));
        assert!(follower.was_overtaken(Some(&same_id)), "of its id too");
        // Nothing is served after a withdrawal, which is no promotion.
        assert!(!follower.was_overtaken(None));
    }

    /// The promotion through this host comes while the follower fetches, opens or shows a release.
    #[test]
    fn a_promotion_through_this_host_while_another_is_followed_or_held_overtakes_it() {
        let [before, this, other] =
            [("x", "1"), ("a", "1"), ("b", "1")].map(|(id, manifest)| package(id, manifest));
        let follower = |outcome| {
            let mut follower = PromotionFollower::of(ReleaseKind::Markets);
            follower.current = Some(before.clone());
            follower.note_done(release(Some("1")), outcome);
            assert!(follower.is_known(&release(Some("1"))) && follower.held.is_some());
            follower
        };
        for outcome in [
            FollowOutcome::Switched(this.manifest),
            FollowOutcome::Unchanged(this.manifest),
        ] {
            let followed = follower(outcome);
            assert!(!followed.was_overtaken(Some(&this)));
            assert!(followed.was_overtaken(Some(&other)), "{outcome:?}");
        }
        let held = follower(FollowOutcome::Held);
        assert!(!held.was_overtaken(Some(&before)), "that is served on");
        assert!(held.was_overtaken(Some(&other)));
    }

    #[test]
    fn an_attempt_that_fails_is_put_off_for_longer_each_time() {
        let mut follower = PromotionFollower::of(ReleaseKind::Markets);
        let [this, other] = ["1", "2"].map(|manifest| release(Some(manifest)));
        assert!(follower.is_due(&this));
        let error = PromotionError::OtherManifest {
            id: "a".to_owned(),
            found: "1".to_owned(),
            promoted: "2".to_owned(),
        };
        let mut shortest = Duration::from_millis(900);
        for _ in 0..4 {
            let before = Instant::now();
            follower.refuse(this.clone(), "on purpose", &error);
            assert!(!follower.is_due(&this));
            assert!(follower.is_due(&other), "another promotion waits for none");
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

    /// The known release is promoted in between, so that nothing is tried or noted for it.
    #[test]
    fn a_refused_promotion_that_comes_again_is_a_new_one() {
        let mut follower = PromotionFollower::of(ReleaseKind::Markets);
        let [known, refused] = ["1", "2"].map(|manifest| release(Some(manifest)));
        follower.known = Some(known.clone());
        let error = PromotionError::OtherManifest {
            id: "a".to_owned(),
            found: "1".to_owned(),
            promoted: "2".to_owned(),
        };
        for _ in 0..4 {
            follower.refuse(refused.clone(), "on purpose", &error);
        }
        follower.doubted = Some(refused.clone());
        assert!(!follower.forget_others(&refused), "its pauses go on");
        assert!(!follower.is_due(&refused) && follower.doubted.is_some());
        assert!(follower.forget_others(&known));
        assert!(follower.is_due(&refused) && follower.doubted.is_none());
        assert!(follower.refused.is_none(), "the next problem is logged");
        assert!(!follower.forget_others(&known), "it is shown once");
        follower.refuse(refused, "on purpose", &error);
        let (_, at) = follower.retry.as_ref().unwrap();
        assert!(*at < Instant::now() + Duration::from_secs(2));
    }
}
