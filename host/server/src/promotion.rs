//! Promotions that came from elsewhere: another host, or a command before the last start.

use crate::series_releases::{SeriesReleaseError, SeriesReleases};
use crate::service::Service;
use domesday_state::{ReleaseKind, State};
use domesday_valuation::release_store::ReleaseError;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::MissedTickBehavior;

/// How often it is looked whether another release was promoted.
const PERIOD: Duration = Duration::from_secs(1);

/// Why a release cannot be promoted.
#[derive(Debug, thiserror::Error)]
pub enum PromotionError {
    /// The valuation release cannot be served.
    #[error(transparent)]
    Valuation(Box<ReleaseError>),
    /// The release of series cannot be served.
    #[error(transparent)]
    Series(Box<SeriesReleaseError>),
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

/// Makes each release that is promoted from now on the current one of its kind. `known` is what was
/// promoted when this host chose its first, which a flag may have overruled.
pub async fn follow(service: Arc<Service>, known: PromotedIds) {
    let mut ticks = tokio::time::interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut followed = known.map(|(what, known)| PromotionFollower {
        what,
        known,
        refused: None,
    });
    loop {
        ticks.tick().await;
        for followed in &mut followed {
            followed.look(&service).await;
        }
    }
}

/// What was promoted last, by kind.
pub type PromotedIds = [(ReleaseKind, Option<String>); ReleaseKind::ALL.len()];

/// What was promoted last in a state.
pub fn promoted(state: &dyn State) -> PromotedIds {
    ReleaseKind::ALL.map(|what| (what, state.promoted(what)))
}

impl Service {
    /// Opens a release, so that it can be promoted. Blocks.
    ///
    /// # Errors
    /// Where it cannot be served.
    pub fn open(&self, what: ReleaseKind, id: &str) -> Result<(), PromotionError> {
        match what {
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

    /// Makes a release the current one of its kind, here, and says whether it was not so already.
    /// Blocks where it must be opened first.
    ///
    /// # Errors
    /// Where it cannot be served; the current release is then the one it was.
    pub fn make_current(&self, what: ReleaseKind, id: &str) -> Result<bool, PromotionError> {
        let family = |releases: &SeriesReleases| {
            releases
                .current()
                .is_some_and(|now| now.id().as_str() == id)
        };
        let already = match what {
            ReleaseKind::Valuation => self.releases.current().id == id,
            ReleaseKind::Markets => family(&self.markets),
            ReleaseKind::Rates => family(&self.rates),
        };
        match what {
            ReleaseKind::Valuation => {
                self.releases.promote(id)?;
                self.shadows.promoted(id);
            }
            ReleaseKind::Markets => self.markets.promote(id)?,
            ReleaseKind::Rates => self.rates.promote(id)?,
        }
        Ok(!already)
    }
}

struct PromotionFollower {
    what: ReleaseKind,
    known: Option<String>,
    refused: Option<String>,
}

impl PromotionFollower {
    async fn look(&mut self, service: &Arc<Service>) {
        let what = self.what;
        let promoted = service.state.promoted(what);
        let Some(id) = promoted.clone().filter(|_| promoted != self.known) else {
            return;
        };
        let opening = service.clone();
        let wanted = id.clone();
        let done = tokio::task::spawn_blocking(move || opening.make_current(what, &wanted)).await;
        match done {
            Ok(Ok(changed)) => {
                // Not where it was promoted through this server, which has said so.
                if changed {
                    tracing::info!(kind = what.as_str(), release_id = id, "release promoted");
                }
                self.known = promoted;
            }
            // Its package may still be on its way here, so that it is tried again; said once.
            Ok(Err(error)) if self.refused != promoted => {
                tracing::error!(%error, kind = what.as_str(), release_id = id, "the promoted release cannot be served");
                self.refused = promoted;
            }
            Ok(Err(_)) | Err(_) => {}
        }
    }
}
