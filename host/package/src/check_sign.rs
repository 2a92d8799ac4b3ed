//! Signing: the report of a release's check, and a second person's approval of it.

use crate::check_report::{approval_message, check_message};
use crate::error::PackageErrorKind;
use crate::manifest::{APPROVAL, CHECK, CHECK_SIGNATURE};
use crate::signature::{DetachedSignature, put};
use crate::{
    Attachments, GateError, Package, PackageError, Sha256Digest, SigningKey, Trust, judge_check,
};

/// Puts the report of a check beside the manifest of an opened package, signed with `key`, and
/// returns its SHA-256. An earlier report and its approval are removed.
///
/// # Errors
/// A file cannot be written.
pub fn attach_check(
    package: &Package,
    report: &[u8],
    key: &SigningKey,
) -> Result<Sha256Digest, PackageError> {
    let signature = DetachedSignature::new(key, &check_message(package, report));
    let mut attachments = Attachments::default();
    attachments.insert(CHECK, report.to_owned());
    attachments.insert(CHECK_SIGNATURE, signature.text().into_bytes());
    attachments
        .replace(package.directory())
        .map_err(|error| error.of(package.directory()))?;
    Ok(Sha256Digest::of(report))
}

/// Approves an opened package and its report with `key`, and returns the report's SHA-256.
///
/// # Errors
/// The package has no signed report by a key that `trust` holds, the release failed, or `key` made
/// the report. [`GateErrorKind::Package`](crate::GateErrorKind::Package) if the approval cannot be
/// written.
pub fn approve(
    package: &Package,
    trust: &Trust,
    key: &SigningKey,
) -> Result<Sha256Digest, GateError> {
    let directory = package.directory();
    let of = |error: PackageErrorKind| GateError::package(package, error.of(directory));
    let mut attachments = Attachments::read_from(directory).map_err(of)?;
    let report = attachments.get(CHECK).unwrap_or_default().to_owned();
    let approval = DetachedSignature::new(key, &approval_message(package, &report));
    attachments.insert(APPROVAL, approval.text().into_bytes());
    // The approver's own key may be trusted on the hosts that promote alone.
    let trust = trust.with_key(key.public());
    judge_check(package, &attachments, &trust, true)?;
    put(directory, APPROVAL, approval.text().as_bytes()).map_err(of)?;
    Ok(Sha256Digest::of(&report))
}
