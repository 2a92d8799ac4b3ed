//! The changes that a commit brings to memory.

use crate::key::KeyDigest;
use crate::{CursorSecrets, KeyRecord, ReleaseKind, Tenant};

/// A durable change, to be applied to memory.
#[derive(Debug)]
pub(super) enum Change {
    /// A tenant was made or changed.
    Tenant(Tenant),
    /// A key was made or changed.
    Key(KeyRecord, KeyDigest),
    /// Jobs were paused or resumed.
    Paused(bool),
    /// A release was promoted.
    Promoted(ReleaseKind, String),
    /// Cursors have other secrets.
    Cursors(CursorSecrets),
}
