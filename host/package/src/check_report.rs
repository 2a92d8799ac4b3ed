//! The signed report of a release's check, and a second person's approval of it.
//!
//! The signed message of a report begins with the prefix `domesday-check-v1`. The kind, the id and
//! the SHA-256 of the manifest follow, each ended by a zero byte, and then the report. The message
//! of an approval has the prefix `domesday-approval-v1`, and ends with the SHA-256 of the report.

use serde::Deserialize;

use crate::{Package, Sha256Digest};

/// Keeps signatures of reports apart from every other use of the same key.
const CHECK_DOMAIN: &[u8] = b"domesday-check-v1\0";
/// Keeps approvals apart from every other use of the same key.
const APPROVAL_DOMAIN: &[u8] = b"domesday-approval-v1\0";

/// The members of a report that decide. Others are for people and programs that read it.
#[derive(Debug, Deserialize)]
pub(crate) struct CheckReport {
    /// SHA-256 of the manifest of the release that was checked.
    pub(crate) manifest: Sha256Digest,
    /// True if the release passed.
    pub(crate) passed: bool,
    /// True if a check that is not judged fails the release.
    #[serde(default)]
    strict: bool,
    checks: Vec<CheckVerdict>,
}

#[derive(Debug, Deserialize)]
struct CheckVerdict {
    check: String,
    verdict: String,
}

impl CheckReport {
    pub(crate) fn parse(bytes: &[u8]) -> Result<CheckReport, serde_json::Error> {
        serde_json::from_slice(bytes)
    }

    /// Returns the names of the checks that fail the release.
    pub(crate) fn failed_checks(&self) -> Vec<String> {
        let fails = |found: &&CheckVerdict| match found.verdict.as_str() {
            "passed" => false,
            "not_judged" => self.strict,
            _ => true,
        };
        let failed = self.checks.iter().filter(fails);
        failed.map(|found| found.check.clone()).collect()
    }
}

/// Returns the message that a report's signature covers.
pub(crate) fn check_message(package: &Package, report: &[u8]) -> Vec<u8> {
    message(CHECK_DOMAIN, package, report)
}

/// Returns the message that an approval's signature covers.
pub(crate) fn approval_message(package: &Package, report: &[u8]) -> Vec<u8> {
    let digest = Sha256Digest::of(report);
    message(APPROVAL_DOMAIN, package, digest.as_bytes())
}

fn message(domain: &[u8], package: &Package, content: &[u8]) -> Vec<u8> {
    let manifest = package.manifest();
    let mut message = domain.to_vec();
    for part in [
        manifest.kind.as_str(),
        manifest.id.as_str(),
        &package.digest().to_string(),
    ] {
        message.extend_from_slice(part.as_bytes());
        message.push(0);
    }
    message.extend_from_slice(content);
    message
}
