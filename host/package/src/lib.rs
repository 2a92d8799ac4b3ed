//! Immutable packages: a directory with a manifest of its contents. It is opened only if every byte
//! agrees.
//!
//! Everything that Domesday serves from (valuation releases, property snapshots, market and rate
//! series) is a package: a directory `<packages>/<id>` that holds
//!
//! - `manifest.json`, which names the package (kind, id, creation time) and lists every file with
//!   its size and SHA-256. It carries a body whose shape belongs to the kind;
//! - `manifest.sig`, a detached ed25519 signature over the manifest;
//! - the listed files, and nothing else but the attachments.
//!
//! **Attachments.** `check.json` is the report of a release's check, `check.sig` its signature and
//! `approval.sig` a second person's. The manifest does not pin them, because a release is checked
//! after it is made. So they prove nothing to a reader that opens the package.
//! [`judge_check`] verifies them where a release is published or promoted.
//!
//! **One set of bytes.** `manifest.json` is the RFC 8785 canonical form of its JSON, indented in
//! the one way of [`manifest`]. Any other spelling of the same values is refused. So a person can
//! review a manifest, and `sha256sum manifest.json` identifies the package. An id, once published,
//! never changes its bytes: [`write()`] refuses to replace it.
//!
//! **The signed message.** A signature covers the prefix `domesday-package-v1`, the kind and the
//! id, each ended by a zero byte, and then the canonical manifest. So a signature for one kind or
//! id can never be shown as a signature for another. The private key is no part of a package or of
//! this repository.
//!
//! **Opening.** [`open()`] refuses unlisted or missing files, symbolic and hard links, special
//! files, and paths that leave the directory. It refuses other sizes or digests, members given
//! twice and unknown formats. The name of the directory must be the id. The error names the file.
//! After opening, [`Package::bytes`] reads a file and proves it again. [`Package::path`] returns a
//! proved location. [`Verification`] says how bytes are proved: all of them ([`Full`]), or by a
//! host's own authenticated [`VerificationCache`] of the files that it proved earlier.
//!
//! **Bodies.** Each kind has a typed body ([`ValuationBody`], [`PropertyBody`]) behind the trait
//! [`Body`]. Another crate may define the body of its own kind. This crate knows the claims of a
//! manifest, never the meaning of the files.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod attachments;
mod body;
mod body_error;
mod check_gate;
mod check_report;
mod check_sign;
mod date;
mod digest;
mod disk_probe;
mod durable;
mod error;
mod existing;
mod file_signature;
mod files;
mod foreign_text;
mod id;
mod json;
mod keys;
pub mod manifest;
mod monotone;
mod new_directory;
mod open;
mod open_at_rest;
mod path;
mod property;
mod publish;
mod receive;
mod sign;
mod signature;
mod snapshot_pin;
mod staged_content;
mod staging;
#[cfg(test)]
mod test_package;
mod transfer;
mod transfer_control;
mod trust;
mod valuation;
mod valuation_check;
mod verification;
mod verification_cache;
mod write;

pub use attachments::{ATTACHMENTS, Attachments};
pub use body::Body;
pub use body_error::BodyError;
pub use check_gate::{CheckEvidence, GateError, GateErrorKind, judge_check};
pub use check_report::{CHECKED_ADVERSARIAL_ROWS, CHECKED_HOMES, REQUIRED_CHECKS};
pub use check_sign::{approve, attach_check};
pub use date::Timestamp;
pub use digest::Sha256Digest;
pub use disk_probe::DiskProbe;
pub use durable::{
    create_durably, parent_directory, persist_durably, replace_durably, replace_private,
    sync_directory,
};
pub use error::{PackageError, PackageErrorKind};
pub use existing::{LARGEST_VERIFIED_AGAIN, PublishOutcome};
pub use file_signature::{FileSignatureError, sign_file, verify_file};
pub use foreign_text::{join_causes, printable, printable_within};
pub use id::{Kind, PackageId, PackageIdError};
pub use keys::{KeyError, PublicKey, SigningKey};
pub use manifest::{FileEntry, Manifest};
pub use monotone::{Direction, Monotone, MonotoneInput};
pub use new_directory::{make_directory, make_readable_directory};
pub use open::{Package, open, open_unproved, open_with, read_claimed_body, read_claimed_digest};
pub use open_at_rest::open_at_rest;
pub use path::{FilePath, PathError};
pub use property::{PropertyBody, RegisterFile};
pub use publish::publish;
pub use receive::{PackageReceiver, ReceiveState, RemoteManifest};
pub use sign::sign;
pub use signature::LARGEST_SIGNATURE;
pub use snapshot_pin::{PinError, check_pin, find_pinned_snapshot};
pub use staged_content::{StagedContent, StagedContentError, check_no_staged_content};
pub use staging::{StagingDirectory, remove_abandoned_staging};
pub use transfer::{
    FileProgress, PublishedRelease, PulledRelease, Remote, Repository, RepositoryError,
    TransferError, TransferObserver,
};
pub use transfer_control::TransferControl;
pub use trust::{KEYS, Trust, TrustList};
pub use valuation::{
    Band, ConfidenceBand, Country, DateWindow, Endpoint, EngineVersion, Model, Profile,
    PropertyType, RowLimits, SnapshotPin, TrainingWindow, ValuationBody,
};
pub use verification::{FileFacts, Full, Verification};
pub use verification_cache::VerificationCache;
pub use write::{Draft, Source, write, write_signed};

#[cfg(test)]
extern crate self as domesday_package;

#[cfg(test)]
mod tests;
