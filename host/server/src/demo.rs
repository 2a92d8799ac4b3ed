//! The tenant of a demonstration: the demo's, or the sandbox's.
//!
//! A server creates it in an empty state and writes its key for the owner alone. The demo's has
//! every scope, on a loopback address only. A later start on another address, or with `--no-demo`,
//! switches it off.

use crate::clock::{Clock, random};
use domesday_contract::v3::options::{Depth, Settings};
use domesday_contract::v3::request::Kind;
use domesday_contract::v3::result::Status;
use domesday_package::replace_private;
use domesday_state::{
    Accounts, KeySeed, NewKey, Plan, Scopes, StateError, TenantId, TenantIdError,
};
use domesday_valuation::pipeline::address_lookup::AddressLookups;
use domesday_valuation::pipeline::deadline::Deadline;
use domesday_valuation::pipeline::row::{RequestContext, parse, value};
use domesday_valuation::release_store::OpenRelease;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// The demo's tenant, which no operator's may be named after.
pub const TENANT: &str = "demo";

/// A request for a home of the demo, as JSON.
pub const REQUEST: &str = include_str!("demo_request.json");
/// The longest time for one row at the start of a server.
const ROW_TIME: Duration = Duration::from_secs(5);

/// The reason why the demo cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The tenant's id.
    #[error(transparent)]
    Tenant(#[from] TenantIdError),
    /// The state.
    #[error(transparent)]
    State(#[from] StateError),
    /// The operating system gives no random bytes.
    #[error(transparent)]
    Random(#[from] getrandom::Error),
    /// The key cannot be written.
    #[error("cannot write the demo's key {path}")]
    Key {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The key's path cannot be resolved.
    #[error(transparent)]
    Path(#[from] io::Error),
}

/// A tenant that a server creates for whoever starts it.
#[derive(Debug, Clone)]
pub struct Account {
    /// Its id, which its key's file is named after.
    pub tenant: &'static str,
    /// Its plan, which each start restores.
    pub plan: Plan,
    /// The scopes of its key.
    pub scopes: Scopes,
}

impl Account {
    /// Returns the demo's. Nothing but the contract bounds a demonstration on one's own machine.
    pub fn demo() -> Account {
        Account {
            tenant: TENANT,
            plan: Plan::without_limits(),
            scopes: Scopes::all(),
        }
    }
}

/// Makes, heals or switches off an account. Where it is on, the path of its key.
///
/// # Errors
/// [`DemoError`] if the state or the key's file cannot be written.
pub fn prepare(
    account: Account,
    state: &dyn Accounts,
    clock: &dyn Clock,
    data: &Path,
    enabled: bool,
) -> Result<Option<PathBuf>, DemoError> {
    let tenant: TenantId = account.tenant.parse()?;
    let tenants = state.tenants()?;
    let existing = tenants.iter().find(|other| other.id == tenant);
    if !enabled {
        if existing.is_some_and(|demo| demo.enabled) {
            state.set_enabled(&tenant, false)?;
            tracing::warn!("the demo's tenant is switched off: its key opens nothing here");
        }
        return Ok(None);
    }
    if existing.is_none() && !tenants.is_empty() {
        return Ok(None);
    }
    match existing {
        None => drop(state.create_tenant(&tenant, &account.plan, clock.now())?),
        Some(demo) if demo.plan != account.plan => {
            state.set_plan(&tenant, &account.plan)?;
        }
        Some(_) => {}
    }
    if existing.is_some_and(|demo| !demo.enabled) {
        state.set_enabled(&tenant, true)?;
    }
    let path = data.join(format!("{}.key", account.tenant));
    // Missing also where an earlier start ended between the tenant and its key.
    if !path.is_file() {
        let key = NewKey {
            tenant,
            label: account.tenant.to_owned(),
            scopes: account.scopes,
            requires_metric_selection: false,
            expires_at: None,
        };
        let created = state.create_key(&key, KeySeed::new(random()?), clock.now())?;
        let key = created.secret.expose();
        replace_private(&path, format!("{key}\n").as_bytes()).map_err(|source| DemoError::Key {
            path: path.clone(),
            source,
        })?;
    }
    // In full, so that the printed command works wherever it is pasted.
    Ok(Some(path.canonicalize()?))
}

/// Reports whether the release values the home of [`command_line`]. Blocks for as long as one row
/// takes, at most [`ROW_TIME`].
pub fn is_valued(release: Arc<OpenRelease>) -> bool {
    let context = RequestContext {
        release,
        kind: Kind::Existing,
        depth: Depth::Standard,
        settings: Settings::default(),
        stored_data: true,
        execution_id: Uuid::nil(),
        observer: None,
    };
    let row = parse(REQUEST, &context);
    let deadline = Deadline::after(ROW_TIME);
    let lookups = AddressLookups::none();
    value(&row, &context, &lookups, Uuid::nil(), Some(deadline)).status == Status::Valued
}

/// Returns a shell command that values a home of the demo, ready to paste.
pub fn command_line(key: &Path, address: SocketAddr, certificate: Option<&Path>) -> String {
    let request: String = REQUEST.split('\n').map(str::trim).collect();
    let (scheme, trusted) = match certificate {
        Some(path) => ("https", format!(" --cacert {}", shell_quote(path))),
        None => ("http", String::new()),
    };
    format!(
        "Try it:\n\ncurl -s{trusted} {scheme}://{address}/v3/value -H \"Authorization: Bearer $(cat {})\" -H 'Content-Type: application/json' -d '{request}'\n",
        shell_quote(key)
    )
}

/// Quotes a path for a shell. It escapes quotation marks in the path, which would end the quoting.
fn shell_quote(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}
