//! What must survive a crash. So far: tenants, their plans and their API keys.
//!
//! **One trait.** [`State`] says what is kept and what each operation promises;
//! [`EmbeddedState`] keeps it in one redb file of one process. Another store joins by passing
//! the same test suite, which is generic over the trait.
//!
//! **Durable before it returns.** An operation that changes something returns after its
//! transaction has reached the disk. What it returned `Ok` for, a crash does not undo.
//!
//! **Synchronous, and why.** Operations on tenants and keys are rare and made by operators, so a
//! server runs them on its blocking threads. [`State::authenticate`] runs for every request, on
//! the asynchronous threads, and so must never wait: every implementation answers it from
//! memory, from a directory of all keys (they are few, and small). The embedded store's
//! directory is exact, since all changes pass through the one process that has it open. A store
//! behind a network would drive its asynchronous client on a runtime of its own, wait for it in
//! the operators' operations alone, and keep its directory fresh from the database's change
//! notices, within a stated age. Work that must be durable while a request waits (admission of
//! units, jobs) is to be handed over to a committing thread and awaited by its completion, not
//! by blocking a thread for each request; that adds operations beside these and changes none.
//!
//! **Keys.** A key is `dk_`, its public id, `_` and 32 random bytes. The id finds the record in
//! one step; the record holds SHA-256 of the key, compared in constant time. A slow password
//! hash would buy nothing: it slows the guessing of secrets that people choose, and nobody
//! guesses 256 random bits. The key itself is returned once, as a [`Secret`], and kept nowhere.
//!
//! **Time and randomness are arguments.** Nothing here reads a clock or draws a random number.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod directory;
mod embedded;
mod error;
mod key;
mod plan;
mod principal;
mod scope;
mod state;
mod tenant;
mod time;

pub use embedded::EmbeddedState;
pub use error::StateError;
pub use key::{CreatedKey, KeyId, KeyRecord, KeySeed, MalformedKey, NewKey, Secret};
pub use plan::Plan;
pub use principal::{Access, Denial, Principal};
pub use scope::{DatasetAccess, Scope, ScopeFault, Scopes};
pub use state::State;
pub use tenant::{Tenant, TenantId, TenantIdFault};
pub use time::UnixMillis;
