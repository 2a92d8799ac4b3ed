//! Packages that have the id of a promoted release and are not the promoted one.

use super::{PromotedRelease, PromotedReleases};
use crate::service::Service;
use domesday_package::Sha256Digest;

/// Withdraws each promoted release whose package here has another manifest than the promoted one.
/// The ledger names the promoted manifest, by an entry that counts here.
pub fn withdraw_other_packages(service: &Service, promoted: &PromotedReleases) {
    for (kind, release) in promoted {
        let Some(release) = release else {
            continue;
        };
        let id = &release.id;
        let found = service.retained_digest(*kind, id);
        let difference = find_difference(release, found);
        let Some((found, reason)) = found.zip(difference) else {
            continue;
        };
        tracing::error!(
            kind = kind.as_str(),
            release_id = id,
            reason,
            "the package of the promoted release is another one here"
        );
        service.withdraw(*kind, id, found, &reason);
    }
}

/// Returns how the package that was found differs from the promoted one. There is no difference
/// where no entry of the ledger counts, or where no package was found.
fn find_difference(promoted: &PromotedRelease, found: Option<Sha256Digest>) -> Option<String> {
    let manifest = promoted.manifest.as_ref()?;
    let found = found.filter(|found| found.to_string() != *manifest)?;
    Some(format!(
        "its package here has the manifest {found}, and the one that was promoted {manifest}; copy that one here and start again, or promote this one while the service is stopped"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifests_tell_another_package_where_both_are_known() {
        let [this, other] = [b"this", b"else"].map(|bytes| Sha256Digest::of(bytes));
        let promoted = |manifest: Option<Sha256Digest>| PromotedRelease {
            id: "a".to_owned(),
            manifest: manifest.map(|digest| digest.to_string()),
        };
        assert_eq!(find_difference(&promoted(Some(this)), Some(this)), None);
        assert_eq!(find_difference(&promoted(Some(this)), None), None);
        assert_eq!(find_difference(&promoted(None), Some(other)), None);
        let reason = find_difference(&promoted(Some(this)), Some(other)).unwrap();
        assert!(reason.contains(&this.to_string()), "{reason}");
        assert!(reason.contains(&other.to_string()), "{reason}");
    }
}
