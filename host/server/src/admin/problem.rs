//! The reasons why a command of an operator fails.

use crate::demo;
use crate::promotion::PromotionError;
use crate::shadow::ShadowError;
use domesday_state::{MalformedKey, ScopeError, StateError, TenantIdError};
use domesday_valuation::sample_rate::SampleRateError;

/// The reason why a command fails.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The state would not.
    #[error(transparent)]
    State(#[from] StateError),
    /// A tenant is not named as one.
    #[error(transparent)]
    Tenant(#[from] TenantIdError),
    /// A scope there is none of.
    #[error(transparent)]
    Scopes(#[from] ScopeError),
    /// The argument is no key id. The message does not repeat it, since it may be a whole key.
    #[error("a key is named by its id, 16 hexadecimal digits, as `domesday key list` shows them")]
    Key(#[from] MalformedKey),
    /// A label that could draw on an operator's terminal.
    #[error("--label: take the control characters out")]
    Label,
    /// A dataset that no family has: the key would open nothing.
    #[error("{family} has no dataset {name:?}; GET /v1/{family}/datasets lists them")]
    Dataset {
        /// `markets` or `rates`.
        family: &'static str,
        /// The name given.
        name: String,
    },
    /// No runtime to wait for the state with.
    #[error("cannot wait for the state: {0}")]
    Waiting(#[from] std::io::Error),
    /// A release cannot be served.
    #[error(transparent)]
    Release(#[from] PromotionError),
    /// A release cannot run as a shadow.
    #[error(transparent)]
    Shadow(#[from] ShadowError),
    /// A share that is none.
    #[error(transparent)]
    Share(#[from] SampleRateError),
    /// There is nothing to end.
    #[error("no release runs as a shadow; `domesday shadow start` starts one")]
    NoShadow,
    /// The demo's tenant is made by the service alone.
    #[error("the tenant {} belongs to the demo; choose another name", demo::TENANT)]
    Demo,
    /// A plan under which nothing could ever be asked.
    #[error("the plan: {field} must be at least 1")]
    EmptyPlan {
        /// The field.
        field: &'static str,
    },
    /// No randomness to make a key of.
    #[error("cannot generate a random key: {0}")]
    Random(#[from] getrandom::Error),
    /// A tenant without receipts has no key of them.
    #[error("the tenant {tenant} has no key of receipts: none was created, or it is erased")]
    NoReceiptKey {
        /// The tenant.
        tenant: String,
    },
    /// The tenant is disabled, so a session would open nothing.
    #[error("the tenant {tenant} is disabled; `domesday tenant enable {tenant}` enables it")]
    TenantDisabled {
        /// The tenant.
        tenant: String,
    },
    /// The server shows no console.
    #[error("this server shows no console; `domesday serve --console 127.0.0.1:8081` shows one")]
    NoConsole,
    /// No tenant has this name.
    #[error("there is no tenant {tenant}; `domesday tenant list` lists them")]
    NoTenant {
        /// The name.
        tenant: String,
    },
    /// The command needs a running server, and none runs.
    #[error("no server runs on this data folder; `domesday serve` starts one")]
    NoServer,
}
