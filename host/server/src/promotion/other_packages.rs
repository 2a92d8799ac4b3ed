//! Packages that have the id of a promoted release and are not the promoted one.

use domesday_server::promotion::{PromotedRelease, PromotedReleases};
use domesday_server::service::Service;
use domesday_state::ReleaseKind;

/// Withdraws each promoted release whose package here has another manifest than the promoted one.
/// The ledger names the promoted manifest, by an entry that counts here.
pub fn withdraw_other_packages(service: &Service, promoted: &PromotedReleases) {
    for (kind, release) in promoted {
        let Some(PromotedRelease {
            id,
            manifest: Some(manifest),
        }) = release
        else {
            continue;
        };
        let found = service.retained_digest(*kind, id);
        let Some(found) = found.filter(|found| found.to_string() != *manifest) else {
            continue;
        };
        let reason = format!(
            "its package here has the manifest {found}, and the one that was promoted {manifest}; copy that one here and start again, or promote this one while the service is stopped"
        );
        tracing::error!(
            kind = kind.as_str(),
            release_id = id,
            reason,
            "the package of the promoted release is another one here"
        );
        match kind {
            ReleaseKind::Valuation => service.releases.withdraw(id, &reason),
            ReleaseKind::Markets => service.markets.withdraw(id, &reason),
            ReleaseKind::Rates => service.rates.withdraw(id, &reason),
        }
    }
}
