//! Backups of a host: a folder with a copy of its state, its keys and its journal of receipts.
//!
//! A manifest lists each file with its size and SHA-256, and the host's key of the promotion ledger
//! signs it. It is written last, so that a backup that was cut short has none and is refused.
//!
//! The journal is copied before the state. So the state has the keys of all copied receipts.

#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod create;
mod error;
mod files;
pub mod ledger_key;
mod manifest;
mod restore;
mod state_copies;

pub use create::{CopiedState, HostFolders, back_up};
pub use error::BackupError;
pub use manifest::{BackupManifest, StateLocation};
pub use restore::{RestoredBackup, restore};
pub use state_copies::remove_abandoned_copies;

/// The file of the key of the demo's tenant, in a data folder and in a backup.
const DEMO_KEY: &str = "demo.key";
/// The state's file, in a data folder and in a backup.
const STATE: &str = "state.redb";
