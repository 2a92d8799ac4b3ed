//! A promotion on a host whose server does not run.

use crate::promotion::{PromotionError, PromotionRequest, PromotionRules, promote};
use crate::series_releases::{SeriesReleaseError, SeriesReleases};
use domesday_backup::ledger_key::LedgerKey;
use domesday_engine::config::Allocation;
use domesday_engine::{Runtime, RuntimeError};
use domesday_package::{Full, KeyError, Trust, Verification};
use domesday_series::catalogue::Family;
use domesday_state::{LedgerRecord, ReleaseKind, State, UnixMillis};
use domesday_valuation::compile_cache::{CompileCacheError, own_folder};
use domesday_valuation::release_store::{ReleaseError, open_release};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The reason why a release is not promoted.
#[derive(Debug, thiserror::Error)]
pub enum OfflinePromotionError {
    /// The valuation release cannot be served.
    #[error(transparent)]
    Valuation(#[from] ReleaseError),
    /// The release of series cannot be served.
    #[error(transparent)]
    Series(#[from] SeriesReleaseError),
    /// No engine can be made.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The data folder takes no key.
    #[error(transparent)]
    Folder(#[from] CompileCacheError),
    /// The key of the ledger cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The gate or the state refuses it.
    #[error(transparent)]
    Promotion(#[from] PromotionError),
}

/// Promotes a release in the state that `open_state` opens. Opens the release first, as a server
/// does. So a release that the next start would refuse changes nothing. The key of the ledger is in
/// the folder `data`, and is made of `seed` where there is none. Blocks.
///
/// # Errors
/// [`OfflinePromotionError`], or the error of `open_state`.
pub fn promote_offline<E: From<OfflinePromotionError>>(
    open_state: impl FnOnce() -> Result<Arc<dyn State>, E>,
    (data, seed): (&Path, [u8; 32]),
    rules: PromotionRules<'_>,
    request: PromotionRequest<'_>,
    now: UnixMillis,
) -> Result<LedgerRecord, E> {
    prove_served(rules, request.kind, request.release_id)?;
    let state = open_state()?;
    own_folder(data, "the data folder").map_err(OfflinePromotionError::from)?;
    let key = LedgerKey::open(data, seed).map_err(OfflinePromotionError::from)?;
    let promoted = promote(&*state, rules, Arc::new(key), request, now);
    Ok(promoted.map_err(OfflinePromotionError::from)?)
}

/// Opens and admits a release, as a server does.
fn prove_served(
    rules: PromotionRules<'_>,
    kind: ReleaseKind,
    id: &str,
) -> Result<(), OfflinePromotionError> {
    let trust: &Trust = rules.trust;
    let open_series = |family| {
        let full: Arc<dyn Verification> = Arc::new(Full);
        SeriesReleases::open(rules.releases, family, (trust.clone(), full), Some(id))
    };
    match kind {
        ReleaseKind::Markets => drop(open_series(Family::Markets)?),
        ReleaseKind::Rates => drop(open_series(Family::Rates)?),
        ReleaseKind::Valuation => {
            let runtime = Runtime::new(Allocation::OnDemand)?;
            let snapshots = &mut BTreeMap::new();
            drop(open_release(
                rules.releases,
                id,
                trust,
                &runtime,
                snapshots,
            )?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_release_that_no_server_would_serve_opens_no_state_and_makes_no_key() {
        let place = tempfile::tempdir().unwrap();
        let data = place.path().join("data");
        let releases = place.path().join("releases");
        fs::create_dir(&data).unwrap();
        let rules = PromotionRules {
            releases: &releases,
            trust: &Trust::Unsigned,
            second_key: false,
        };
        for kind in [
            ReleaseKind::Valuation,
            ReleaseKind::Markets,
            ReleaseKind::Rates,
        ] {
            let request = PromotionRequest {
                kind,
                release_id: "nowhere-1",
                who: "alice",
                reason: None,
            };
            let open_state = || panic!("the state is opened for {kind:?}");
            let refused: Result<_, OfflinePromotionError> =
                promote_offline(open_state, (&data, [7; 32]), rules, request, UnixMillis(0));
            let error = refused.err().unwrap();
            assert!(
                matches!(
                    error,
                    OfflinePromotionError::Valuation(_) | OfflinePromotionError::Series(_)
                ),
                "{error}"
            );
            assert_eq!(fs::read_dir(&data).unwrap().count(), 0, "{kind:?}");
        }
    }
}
