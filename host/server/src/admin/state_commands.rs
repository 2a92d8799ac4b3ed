//! Executes commands that need the state alone, with a running service or without.

use super::keys::{check_plan, create_key, list_key};
use super::problem::Problem;
use super::protocol::{self, Command, Response};
use crate::clock::random;
use crate::promotion::promoted_ids;
use domesday_state::{
    Month, Reply, State, StateCopy, StateError, Tenant, TenantId, UnixMillis, UsageQuery,
};
use tokio::runtime::{Builder, Handle};

/// Entries of a page of the ledger of units.
const USAGE_ENTRIES: usize = 10_000;

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
        | Command::StopShadow {} => {
            return Err(Problem::NoServer);
        }
        Command::History {} => {
            let entries = state.promotions()?.into_iter().map(Into::into).collect();
            let promoted = promoted_ids(state).into_iter();
            let promoted = promoted.filter_map(|(kind, id)| Some((kind.into(), id?)));
            return Ok(Response::History {
                entries,
                promoted: promoted.collect(),
            });
        }
        Command::CopyState { path } => {
            let (schema, in_database) = match state.copy_to(&path)? {
                StateCopy::File { schema } => (schema, false),
                StateCopy::Database { schema } => (schema, true),
            };
            return Ok(Response::StateCopied {
                schema,
                in_database,
                at: now,
            });
        }
        Command::RotateCursors {} => state.rotate_cursors(random()?)?,
        Command::PauseJobs { paused } => state.pause_jobs(paused)?,
        Command::CreateKey(key) => {
            let key = create_key(state, key, now)?;
            return Ok(Response::Key { key });
        }
        Command::Keys {} => {
            let keys = state.keys(None)?.into_iter();
            let keys = keys.map(|key| list_key(key, now)).collect();
            return Ok(Response::Keys { keys });
        }
        Command::RevokeKey { key } => {
            state.revoke_key(key.parse()?, now)?;
        }
        Command::Tenants {} => {
            let month = Month::of(now);
            let entry = |tenant: Tenant| {
                Ok(protocol::Tenant {
                    id: tenant.id.to_string(),
                    enabled: tenant.enabled,
                    used: wait(state.used_units(tenant.id, month))??,
                    plan: tenant.plan,
                })
            };
            let tenants = state.tenants()?.into_iter().map(entry);
            return Ok(Response::Tenants {
                tenants: tenants.collect::<Result<_, Problem>>()?,
            });
        }
        Command::SetPlan { tenant, plan } => {
            check_plan(&plan)?;
            state.set_plan(&tenant.parse()?, &plan)?;
        }
        Command::ReceiptKeys { tenant } => {
            let filter: Option<TenantId> = tenant.map(|tenant| tenant.parse()).transpose()?;
            let keys = state.receipt_keys()?.into_iter();
            let keys = keys.filter(|(tenant, _)| filter.as_ref().is_none_or(|id| id == tenant));
            let keys = keys.map(|(tenant, secret)| protocol::ReceiptKey {
                tenant: tenant.to_string(),
                secret: hex::encode(secret),
            });
            return Ok(Response::ReceiptKeys {
                keys: keys.collect(),
            });
        }
        Command::EraseReceiptKey { tenant } => {
            if !state.erase_receipt_key(&tenant.parse()?)? {
                return Err(Problem::NoReceiptKey { tenant });
            }
        }
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
            let page = wait(state.usage_entries(query))??;
            return Ok(Response::UsageEntries(page));
        }
        Command::Enable { tenant, enabled } => {
            state.set_enabled(&tenant.parse()?, enabled)?;
        }
    }
    Ok(Response::Done {})
}

/// Waits for the state on a thread that may block, a runtime's or none.
fn wait<T>(reply: Reply<T>) -> std::io::Result<Result<T, StateError>> {
    match Handle::try_current() {
        Ok(runtime) => Ok(runtime.block_on(reply)),
        Err(_) => {
            let runtime = Builder::new_current_thread().enable_time().build()?;
            Ok(runtime.block_on(reply))
        }
    }
}
