//! The gate of publishing and promotion: a trusted report of this very manifest that passed.

use std::fmt;

use crate::check_report::{CheckReport, approval_message, check_message};
use crate::manifest::{APPROVAL, CHECK, CHECK_SIGNATURE};
use crate::signature::DetachedSignature;
use crate::{Attachments, Package, PackageError, PackageId, PublicKey, Sha256Digest, Trust};

/// The proof that a release was checked and, where that was asked for, approved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckEvidence {
    /// SHA-256 of the report; `None` for a release that needs none.
    pub report: Option<Sha256Digest>,
    /// The key of the approval, if there is a good one.
    pub approved_by: Option<PublicKey>,
    /// The checks of the report that were not judged. Not judged is not passed.
    pub not_judged: Vec<String>,
}

/// A release that may not be published or promoted.
#[derive(Debug, thiserror::Error)]
pub struct GateError {
    /// The release.
    pub release: PackageId,
    /// The problem.
    pub kind: Box<GateErrorKind>,
}

/// The reason why a release may not be published or promoted.
#[derive(Debug, thiserror::Error)]
pub enum GateErrorKind {
    /// There is no `check.json`.
    #[error("has no check report")]
    NoReport,
    /// There is no `check.sig`.
    #[error("has a check report without a signature")]
    NoSignature,
    /// `check.json` is not a report.
    #[error("has a check.json that is not a report: {0}")]
    ReportForm(#[source] serde_json::Error),
    /// The report is of a package with another manifest.
    #[error("has the check report of another manifest, {checked}")]
    OtherManifest {
        /// The SHA-256 of the other manifest.
        checked: Sha256Digest,
    },
    /// A signature file is not in its form.
    #[error("has {} {file} that is not a signature file", article(file))]
    SignatureForm {
        /// The file's name.
        file: &'static str,
    },
    /// A signature is not for this manifest and this report.
    #[error(
        "has {} {file} by {key} that is not for this report and manifest",
        article(file)
    )]
    SignatureMismatch {
        /// The file's name.
        file: &'static str,
        /// The key that the file names.
        key: PublicKey,
    },
    /// A signature is good, but nobody trusts its key.
    #[error("has {} {file} by {key}, which is not trusted", article(file))]
    Untrusted {
        /// The file's name.
        file: &'static str,
        /// The key that signed.
        key: PublicKey,
    },
    /// The release failed its check.
    #[error("failed its check: {}", checks.join(", "))]
    Failed {
        /// The checks that fail it.
        checks: Vec<String>,
    },
    /// The check valued too few rows.
    #[error("has the report of a check with {weakness}")]
    Weak {
        /// The option that made it weak.
        weakness: String,
    },
    /// The report lacks parts that a whole check has.
    #[error("has a check report without {}", missing.join(", "))]
    Incomplete {
        /// The missing parts: `limits`, or names of checks.
        missing: Vec<&'static str>,
    },
    /// The check could not judge how good the release is.
    #[error("has {problem}")]
    UnprovedQuality {
        /// The back-test that says too little.
        problem: String,
    },
    /// There is no `approval.sig`, and the operator demands one.
    #[error("has no approval by a second key")]
    NotApproved,
    /// The approval is by the key of the report.
    #[error("is approved by {key}, which signed its check report too")]
    SameKey {
        /// The key.
        key: PublicKey,
    },
    /// The approval is by the key of the package.
    #[error("is approved by {key}, which signed the package too")]
    MakersKey {
        /// The key.
        key: PublicKey,
    },
    /// The package cannot be read.
    #[error("cannot be read: {0}")]
    Package(#[source] PackageError),
}

impl GateError {
    /// Wraps an error of reading or writing the package.
    pub(crate) fn package(package: &Package, error: PackageError) -> GateError {
        GateError {
            release: package.manifest().id.clone(),
            kind: Box::new(GateErrorKind::Package(error)),
        }
    }
}

impl fmt::Display for GateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = &self.release;
        write!(f, "release {id} {}", self.kind)?;
        match &*self.kind {
            GateErrorKind::Package(_) => Ok(()),
            GateErrorKind::Untrusted { .. } => f.write_str(
                ". To trust it, put it as a .pub file into keys/ of the releases folder, and restart a running service",
            ),
            GateErrorKind::Failed { .. } => write!(
                f,
                ". Repair the model and build it under another id; `domesday release check {id}` shows why"
            ),
            GateErrorKind::Incomplete { .. } => write!(
                f,
                ". Check it again with this program: `domesday release check {id} --sign-with KEY`"
            ),
            GateErrorKind::UnprovedQuality { .. } => f.write_str(
                ". Build it under another id with a back-test of more sales (--max-backtest-rows), or waive the report with --allow-unsigned",
            ),
            GateErrorKind::NotApproved
            | GateErrorKind::SameKey { .. }
            | GateErrorKind::MakersKey { .. } => approve_with(f, id),
            GateErrorKind::SignatureForm { file }
            | GateErrorKind::SignatureMismatch { file, .. }
                if *file == APPROVAL =>
            {
                approve_with(f, id)
            }
            _ => write!(
                f,
                ". Make its report with `domesday release check {id} --sign-with KEY`"
            ),
        }
    }
}

/// Returns the article before the name of a file.
fn article(file: &str) -> &'static str {
    if file.starts_with('a') { "an" } else { "a" }
}

fn approve_with(f: &mut fmt::Formatter<'_>, id: &PackageId) -> fmt::Result {
    write!(
        f,
        ". Another person approves it with `domesday release approve {id} --sign-with KEY`"
    )
}

/// Judges whether an opened release may be published or promoted, by its attachments.
///
/// A release that the operator takes unsigned by its id needs no report, unless `second_key`
/// demands an approval. That is by a third key, neither the report's nor the package's. A report
/// that says that the release failed counts whoever signed it.
///
/// # Errors
/// [`GateError`] names the missing or wrong attachment, or the checks that failed.
pub fn judge_check(
    package: &Package,
    attachments: &Attachments,
    trust: &Trust,
    second_key: bool,
) -> Result<CheckEvidence, GateError> {
    let exempt = match trust {
        Trust::Required(list) => list.exempts(&package.manifest().id),
        Trust::Unsigned => true,
    };
    match judge(package, attachments, trust, second_key) {
        Ok(evidence) => Ok(evidence),
        Err(_) if exempt && !second_key && !has_failed(attachments) => Ok(CheckEvidence::default()),
        Err(kind) => Err(GateError {
            release: package.manifest().id.clone(),
            kind: Box::new(kind),
        }),
    }
}

/// Returns whether a report is there that says that its release failed, signed or not.
fn has_failed(attachments: &Attachments) -> bool {
    let report = attachments.get(CHECK).map(CheckReport::parse);
    matches!(report, Some(Ok(report)) if report.has_failed())
}

fn judge(
    package: &Package,
    attachments: &Attachments,
    trust: &Trust,
    second_key: bool,
) -> Result<CheckEvidence, GateErrorKind> {
    let bytes = attachments.get(CHECK).ok_or(GateErrorKind::NoReport)?;
    let report = CheckReport::parse(bytes).map_err(GateErrorKind::ReportForm)?;
    if report.manifest != package.digest() {
        return Err(GateErrorKind::OtherManifest {
            checked: report.manifest,
        });
    }
    let signature = attachments
        .get(CHECK_SIGNATURE)
        .ok_or(GateErrorKind::NoSignature)?;
    let message = check_message(package, bytes);
    let checked_by = trusted_signer(CHECK_SIGNATURE, signature, &message, trust)?;
    if report.has_failed() {
        let checks = report.failed_checks();
        return Err(GateErrorKind::Failed { checks });
    }
    if let Some(weakness) = report.weakness() {
        return Err(GateErrorKind::Weak { weakness });
    }
    let missing = report.missing_parts();
    if !missing.is_empty() {
        return Err(GateErrorKind::Incomplete { missing });
    }
    if let Some(problem) = report.unproved_quality() {
        return Err(GateErrorKind::UnprovedQuality { problem });
    }
    let message = approval_message(package, bytes);
    let approval = match attachments.get(APPROVAL) {
        None => Err(GateErrorKind::NotApproved),
        Some(approval) => match trusted_signer(APPROVAL, approval, &message, trust) {
            Ok(key) if key == checked_by => Err(GateErrorKind::SameKey { key }),
            Ok(key) if package.signer() == Some(&key) => Err(GateErrorKind::MakersKey { key }),
            signer => signer,
        },
    };
    let approved_by = match approval {
        Ok(key) => Some(key),
        Err(error) if second_key => return Err(error),
        Err(_) => None,
    };
    Ok(CheckEvidence {
        report: Some(Sha256Digest::of(bytes)),
        approved_by,
        not_judged: report.unjudged_checks(),
    })
}

/// Returns the trusted key that made the signature in `bytes` over `message`.
fn trusted_signer(
    file: &'static str,
    bytes: &[u8],
    message: &[u8],
    trust: &Trust,
) -> Result<PublicKey, GateErrorKind> {
    let signature = DetachedSignature::parse(bytes).ok_or(GateErrorKind::SignatureForm { file })?;
    let key = signature.key;
    if !signature.is_of(message) {
        return Err(GateErrorKind::SignatureMismatch { file, key });
    }
    match trust.takes(&key) {
        true => Ok(key),
        false => Err(GateErrorKind::Untrusted { file, key }),
    }
}

#[cfg(test)]
#[path = "check_gate_tests.rs"]
mod tests;
