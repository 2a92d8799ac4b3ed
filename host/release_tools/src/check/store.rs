//! Stores the signed report of a check beside the manifest of the release that it is of.

use super::{CheckError, Report};
use domesday_package::{Sha256Digest, SigningKey, Trust, attach_check, open};
use std::path::Path;

/// Signs a report, stores it with the package in `package_dir` and returns its SHA-256.
///
/// # Errors
/// [`CheckError::PackageChanged`] if the package is not the one that was checked, or
/// [`CheckError::Package`] if it does not open or the report cannot be written.
pub fn store_report(
    report: &Report,
    package_dir: &Path,
    trust: &Trust,
    key: &SigningKey,
) -> Result<Sha256Digest, CheckError> {
    let package = open(package_dir, trust)?;
    if package.digest() != report.manifest {
        return Err(CheckError::PackageChanged {
            package_dir: package_dir.to_owned(),
        });
    }
    let mut bytes = serde_json::to_vec_pretty(report)?;
    bytes.push(b'\n');
    Ok(attach_check(&package, &bytes, key)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::finding::RowLimits;
    use domesday_package::{Draft, PropertyBody, RegisterFile, Source, write};
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    /// Writes an unsigned package of one file, without meaning. A snapshot does, since a report
    /// is stored by the manifest alone.
    fn write_package(packages: &Path) -> PathBuf {
        let draft = Draft {
            id: "s-1".parse().unwrap(),
            created: "2026-01-31T09:30:00Z".parse().unwrap(),
            body: PropertyBody {
                snapshot_id: "s-1".parse().unwrap(),
                content_digest: Sha256Digest::of(b"content"),
                schema: 1,
                database: "homes".parse().unwrap(),
                sources: vec![RegisterFile {
                    name: "sales.csv".to_owned(),
                    sha256: Sha256Digest::of(b"s"),
                    rows: 1,
                }],
                synthetic: true,
                latest_sale: None,
                counts: BTreeMap::new(),
            },
            files: BTreeMap::from([("homes".parse().unwrap(), Source::Bytes(b"content".to_vec()))]),
        };
        write(packages, draft).unwrap();
        packages.join("s-1")
    }

    fn report_of(manifest: Sha256Digest) -> Report {
        let limits = RowLimits {
            homes: 1,
            adversarial_rows: 1,
        };
        Report::of(("s-1", manifest), limits, "1", Vec::new())
    }

    #[test]
    fn a_report_is_stored_with_the_package_that_was_checked_and_no_other() {
        let packages = tempfile::tempdir().unwrap();
        let package_dir = write_package(packages.path());
        let key = SigningKey::from_seed([5; 32]);
        let store = |report: &Report| store_report(report, &package_dir, &Trust::Unsigned, &key);
        let stored = package_dir.join("check.json");
        let refused = store(&report_of(Sha256Digest::of(b"other"))).unwrap_err();
        assert!(
            matches!(refused, CheckError::PackageChanged { .. }),
            "{refused}"
        );
        assert!(!stored.exists());
        let manifest = open(&package_dir, &Trust::Unsigned).unwrap().digest();
        let digest = store(&report_of(manifest)).unwrap();
        assert_eq!(Sha256Digest::of(&std::fs::read(&stored).unwrap()), digest);
    }
}
