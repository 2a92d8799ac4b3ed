//! The signed report of a release's check, and a second person's approval of it.
//!
//! The signed message of a report begins with the prefix `domesday-check-v1`. The kind, the id and
//! the SHA-256 of the manifest follow, each ended by a zero byte, and then the report. The message
//! of an approval has the prefix `domesday-approval-v1`, and ends with the SHA-256 of the report.

use serde::Deserialize;
use serde_json::Value;

use crate::{Package, Sha256Digest};

/// The homes that a check values by default, and at least where its report opens the gate.
pub const CHECKED_HOMES: u32 = 300;
/// The adversarial rows that a check values by default, and at least where its report opens the
/// gate.
pub const CHECKED_ADVERSARIAL_ROWS: u32 = 10_000;
/// The checks that a report must list to open the gate. Checks that came after the gate are not
/// demanded: reports of earlier programs lack them, and those releases need no other check today.
pub const REQUIRED_CHECKS: [&str; 18] = [
    "admission",
    "fixtures",
    "snapshot",
    "answers",
    "order",
    "monotone",
    "adversarial",
    "ranges",
    "cost",
    "dates",
    "small_changes",
    "attributes",
    "own_sale",
    "spread",
    "reference",
    BACKTEST,
    COVERAGE,
    "request_shapes",
];
/// The check of the package's back-test.
const BACKTEST: &str = "backtest";
/// The check of the ranges on the sales of the back-test.
const COVERAGE: &str = "coverage";
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
    passed: bool,
    /// True if a check that is not judged fails the release.
    #[serde(default)]
    strict: bool,
    /// The rows that the checks might value, at most. A report without them opens nothing.
    limits: Option<CheckLimits>,
    /// True if coverage was judged on other sales than those of the package's back-test.
    #[serde(default)]
    other_sales: bool,
    checks: Vec<CheckVerdict>,
}

/// The rows that the checks of a report might value, at most.
#[derive(Debug, Deserialize)]
struct CheckLimits {
    homes: u32,
    adversarial_rows: u32,
}

#[derive(Debug, Deserialize)]
struct CheckVerdict {
    check: String,
    verdict: String,
    /// The figures of the check. The gate reads one of them.
    #[serde(default)]
    figures: Value,
}

impl CheckReport {
    pub(crate) fn parse(bytes: &[u8]) -> Result<CheckReport, serde_json::Error> {
        serde_json::from_slice(bytes)
    }

    /// Returns why the report is too weak to decide by, if it is.
    pub(crate) fn weakness(&self) -> Option<String> {
        if let Some(limits) = &self.limits {
            for (flag, found, least) in [
                ("--homes", limits.homes, CHECKED_HOMES),
                (
                    "--adversarial-rows",
                    limits.adversarial_rows,
                    CHECKED_ADVERSARIAL_ROWS,
                ),
            ] {
                if found < least {
                    return Some(format!("{flag} {found}, where {least} is the least"));
                }
            }
        }
        let few_sales =
            || "--from and --to, whose sales are too few to judge coverage by".to_owned();
        (self.other_sales && self.find_unjudged(COVERAGE).is_some()).then(few_sales)
    }

    /// Reports whether the report says enough to decide by, whatever its verdict is.
    pub(crate) fn is_whole(&self) -> bool {
        self.weakness().is_none() && self.missing_parts().is_empty()
    }

    /// Returns the parts that a report of this program has and this one lacks.
    pub(crate) fn missing_parts(&self) -> Vec<&'static str> {
        let limits = self.limits.is_none().then_some("limits");
        let is_missing = |name: &&str| self.checks.iter().all(|found| found.check != *name);
        let checks = REQUIRED_CHECKS.into_iter().filter(is_missing);
        limits.into_iter().chain(checks).collect()
    }

    /// Returns why nothing says how good the release is, if so. A small place has few sales, and
    /// its coverage may stay unjudged. A back-test of a part of the sales leaves it so for want of
    /// work alone.
    pub(crate) fn unproved_quality(&self) -> Option<String> {
        if self.find_unjudged(BACKTEST).is_some() {
            return Some("no back-test that the check could judge".to_owned());
        }
        let every = self.find_unjudged(COVERAGE)?.figures.get("taken_every")?;
        let every = every.as_u64().filter(|every| *every > 1)?;
        Some(format!(
            "a back-test of too few sales to judge coverage by, one in {every} of its window"
        ))
    }

    fn find_unjudged(&self, check: &str) -> Option<&CheckVerdict> {
        let is_of = |found: &&CheckVerdict| found.check == check && found.verdict == "not_judged";
        self.checks.iter().find(is_of)
    }

    /// Returns whether the release failed: by the report's own word, or by the verdict of a check.
    pub(crate) fn has_failed(&self) -> bool {
        !self.passed || !self.failed_checks().is_empty()
    }

    /// Returns the names of the checks that were not judged.
    pub(crate) fn unjudged_checks(&self) -> Vec<String> {
        let unjudged = |found: &&CheckVerdict| found.verdict == "not_judged";
        let checks = self.checks.iter().filter(unjudged);
        checks.map(|found| found.check.clone()).collect()
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
