//! Executes commands that need the state alone, with a running service or without.

use super::keys::{check_plan, create_key, list_key};
use super::problem::Problem;
use super::protocol::{self, Command, Response};
use crate::clock::random;
use crate::promotion::promoted_ids;
use domesday_state::{
    Month, State, StateCopy, StateError, Tenant, TenantId, UnixMillis, UsageQuery,
};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use std::path::Path;
use tokio::runtime::{Builder, Handle};

/// Entries of a page of the ledger of units.
const USAGE_ENTRIES: usize = 10_000;
/// Tenants whose units are read at the same time. A database answers each after a round trip.
const UNITS_AT_ONCE: usize = 16;

/// Executes a command on a state. Blocks. A promotion is no such command: it opens the release
/// ([`promote`](crate::promotion::promote)).
///
/// # Errors
/// [`Problem`] if the command is not carried out.
pub fn on_state(state: &dyn State, now: UnixMillis, command: Command) -> Result<Response, Problem> {
    match command {
        Command::Status {}
        | Command::Releases {}
        | Command::Promote { .. }
        | Command::ConsoleLogin { .. }
        | Command::StartShadow { .. }
        | Command::StopShadow {} => Err(Problem::NoServer),
        Command::History {} => history(state),
        Command::CopyState { path } => copy_state(state, &path, now, &|| false),
        Command::CreateKey(key) => {
            let key = create_key(state, key, now)?;
            Ok(Response::Key { key })
        }
        Command::Keys {} => {
            let keys = state.keys(None)?.into_iter();
            let keys = keys.map(|key| list_key(key, now)).collect();
            Ok(Response::Keys { keys })
        }
        Command::Tenants {} => tenants(state, now),
        Command::ReceiptKeys { tenant } => receipt_keys(state, tenant),
        Command::UsageEntries {
            month,
            tenant,
            after,
        } => {
            let query = UsageQuery {
                month,
                tenant: tenant.map(|tenant| tenant.parse()).transpose()?,
                after,
                limit: USAGE_ENTRIES,
            };
            Ok(Response::UsageEntries(wait(state.usage_entries(query))??))
        }
        Command::RotateCursors {} => confirm(state.rotate_cursors(random()?)),
        Command::PauseJobs { paused } => confirm(state.pause_jobs(paused)),
        Command::RevokeKey { key } => confirm(state.revoke_key(key.parse()?, now)),
        Command::SetPlan { tenant, plan } => {
            check_plan(&plan)?;
            confirm(state.set_plan(&tenant.parse()?, &plan))
        }
        Command::EraseReceiptKey { tenant } => {
            if !state.erase_receipt_key(&tenant.parse()?)? {
                return Err(Problem::NoReceiptKey { tenant });
            }
            Ok(Response::Done {})
        }
        Command::Enable { tenant, enabled } => {
            confirm(state.set_enabled(&tenant.parse()?, enabled))
        }
    }
}

fn confirm<T>(changed: Result<T, StateError>) -> Result<Response, Problem> {
    changed?;
    Ok(Response::Done {})
}

fn history(state: &dyn State) -> Result<Response, Problem> {
    let entries = state.promotions()?.into_iter().map(Into::into).collect();
    let promoted = promoted_ids(state).into_iter();
    let promoted = promoted.filter_map(|(kind, id)| Some((kind.into(), id?)));
    Ok(Response::History {
        entries,
        promoted: promoted.collect(),
        known: Vec::new(),
    })
}

/// Copies the state, unless `must_stop` returns true before it is done. Blocks.
///
/// # Errors
/// [`Problem::State`] if the copy fails or stops.
pub(super) fn copy_state(
    state: &dyn State,
    path: &Path,
    now: UnixMillis,
    must_stop: &dyn Fn() -> bool,
) -> Result<Response, Problem> {
    let (schema, in_database) = match state.copy_to(path, must_stop)? {
        StateCopy::File { schema } => (schema, false),
        StateCopy::Database { schema } => (schema, true),
    };
    Ok(Response::StateCopied {
        schema,
        in_database,
        at: now,
    })
}

fn tenants(state: &dyn State, now: UnixMillis) -> Result<Response, Problem> {
    let month = Month::of(now);
    let entry = |tenant: Tenant| async move {
        let used = state.used_units(tenant.id.clone(), month).await?;
        Ok::<_, StateError>(protocol::Tenant {
            id: tenant.id.to_string(),
            enabled: tenant.enabled,
            used,
            plan: tenant.plan,
        })
    };
    let entries = stream::iter(state.tenants()?).map(entry);
    let tenants = wait(entries.buffered(UNITS_AT_ONCE).try_collect())??;
    Ok(Response::Tenants { tenants })
}

fn receipt_keys(state: &dyn State, tenant: Option<String>) -> Result<Response, Problem> {
    let filter: Option<TenantId> = tenant.map(|tenant| tenant.parse()).transpose()?;
    let keys = state.receipt_keys()?.into_iter();
    let keys = keys.filter(|(tenant, _)| filter.as_ref().is_none_or(|id| id == tenant));
    let keys = keys.map(|(tenant, secret)| protocol::ReceiptKey {
        tenant: tenant.to_string(),
        secret: hex::encode(secret),
    });
    Ok(Response::ReceiptKeys {
        keys: keys.collect(),
    })
}

/// Waits for the state on a thread that may block, a runtime's or none.
fn wait<T>(reply: impl Future<Output = T>) -> std::io::Result<T> {
    match Handle::try_current() {
        Ok(runtime) => Ok(runtime.block_on(reply)),
        Err(_) => {
            let runtime = Builder::new_current_thread().enable_time().build()?;
            Ok(runtime.block_on(reply))
        }
    }
}
