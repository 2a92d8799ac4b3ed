//! The signed report of a check travels with its release, and publishing demands it.

use crate::check_run::{PLAIN, plain, write_copy};
use crate::common::packages::Releases;
use crate::common::program::{ProcessOutput, run};
use domesday_package::{SigningKey, Trust, attach_check, open, sign};
use serde_json::json;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A copy of the plain release that a trusted key signed, and the file of that key.
struct Signed {
    releases: Releases,
    key: SigningKey,
    key_file: String,
    _folder: TempDir,
}

impl Signed {
    fn new() -> Signed {
        let releases = Releases::without_release();
        write_copy(plain().path(), PLAIN, releases.path(), PLAIN, |_, _| {});
        let folder = TempDir::new().unwrap();
        let key_file = folder.path().join("team");
        let key = SigningKey::from_seed([7; 32]);
        key.write(&key_file).unwrap();
        let public = releases.path().join("keys/team.pub");
        key.public().write(&public, "team").unwrap();
        sign(&releases.release(PLAIN), &key).unwrap();
        Signed {
            releases,
            key,
            key_file: key_file.display().to_string(),
            _folder: folder,
        }
    }

    fn publish(&self, to: &Path) -> ProcessOutput {
        let (from, to) = (
            self.releases.path().display().to_string(),
            to.display().to_string(),
        );
        run([
            "release",
            "publish",
            PLAIN,
            &to,
            "--releases",
            &from,
            "--without-snapshot",
        ])
    }
}

#[test]
fn a_release_that_failed_its_check_is_not_published() {
    let (signed, shared) = (Signed::new(), TempDir::new().unwrap());
    let refused = signed.publish(shared.path()).refused();
    assert!(refused.contains("has no check report"), "{refused}");
    let package = open(&signed.releases.release(PLAIN), &Trust::Unsigned).unwrap();
    let report = json!({
        "manifest": package.digest().to_string(),
        "passed": false,
        "checks": [{"check": "dates", "verdict": "failed"}, {"check": "order", "verdict": "passed"}],
    });
    attach_check(&package, report.to_string().as_bytes(), &signed.key).unwrap();
    let refused = signed.publish(shared.path()).refused();
    assert!(refused.contains("failed its check: dates."), "{refused}");
    assert!(fs::read_dir(shared.path()).unwrap().next().is_none());
}

#[test]
fn a_check_stores_its_signed_report_which_is_published_with_the_release() {
    let (signed, shared) = (Signed::new(), TempDir::new().unwrap());
    let folder = signed.releases.path().display().to_string();
    let check = [
        "release",
        "check",
        PLAIN,
        "--sign-with",
        &signed.key_file,
        "--releases",
        &folder,
    ];
    let checked = run(check).ok().stdout;
    assert!(checked.contains("The signed report is "), "{checked}");
    signed.publish(shared.path()).ok();
    for name in ["check.json", "check.sig"] {
        let original = fs::read(signed.releases.release(PLAIN).join(name)).unwrap();
        let copy = fs::read(shared.path().join("valuation").join(PLAIN).join(name)).unwrap();
        assert_eq!(original, copy, "{name}");
    }
}
