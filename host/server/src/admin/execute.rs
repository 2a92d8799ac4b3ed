//! Executes commands: those that need a running service, and those that need its state alone.

use super::protocol;
use super::protocol::{Command, LoadedRelease, Response, Status};
use crate::clock::random;
use crate::console_sessions::ConsoleUser;
use crate::demo;
use crate::promotion::{PromotionError, PromotionRequest, promoted_ids};
use crate::sample_rate::{SampleRate, SampleRateError};
use crate::service::Service;
use crate::shadow::ShadowError;
use crate::telemetry::process::read_status;
use chrono::DateTime;
use domesday_series::catalogue::Family;
use domesday_state::{
    Accounts, DatasetAccess, KeyId, KeyRecord, KeySeed, MalformedKey, Month, NewKey, Plan,
    ReleaseKind, Reply, ScopeError, Scopes, State, StateCopy, StateError, Tenant, TenantId,
    TenantIdError, UnixMillis, UsageQuery,
};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::runtime::{Builder, Handle};
use tokio::time::timeout;

/// Entries of a page of the ledger of units.
const USAGE_ENTRIES: usize = 10_000;
const DAY_MILLIS: i64 = 86_400_000;
/// Time limit of the state when it reports its status.
const TIMEOUT: Duration = Duration::from_secs(2);

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

/// Executes a command on a running service. Blocks.
///
/// # Errors
/// [`Problem`] if the command is not carried out.
pub fn on_service(service: &Service, command: Command) -> Result<Response, Problem> {
    match command {
        Command::Status {} => Ok(Response::Status(status(service))),
        Command::Releases {} => Ok(releases(service)),
        Command::Promote {
            kind,
            release,
            who,
            reason,
        } => {
            let kind = ReleaseKind::from(kind);
            let request = PromotionRequest {
                kind,
                release_id: &release,
                who: &who,
                reason: reason.as_deref(),
            };
            let record = service.promote(request, service.clock.now())?;
            service.show_promotions();
            tracing::info!(
                kind = kind.as_str(),
                release_id = release,
                who,
                ledger_hash = hex::encode(record.hash),
                "release promoted"
            );
            Ok(Response::Promoted(record.into()))
        }
        Command::ConsoleLogin {
            tenant,
            scopes,
            operator,
        } => {
            let link = console_link(service, &tenant, &scopes, operator)?;
            tracing::info!(tenant, operator, "link to the console made");
            Ok(Response::ConsoleLink { link })
        }
        Command::EraseReceiptKey { ref tenant } => {
            log(&command);
            let id: TenantId = tenant.parse()?;
            let response = on_state(&*service.state, service.clock.now(), command.clone())?;
            if let Some(receipts) = &service.receipts {
                receipts.forget(&id);
            }
            let console = service.console.as_ref();
            if let Some(values) = console.and_then(|console| console.values())
                && let Err(error) = values.forget(&id)
            {
                // Nobody can open them any more.
                tracing::warn!(%error, "sealed values of the console were not removed");
            }
            Ok(response)
        }
        Command::StartShadow { release, share } => {
            service.begin_shadow(&release, SampleRate::new(share)?)?;
            Ok(Response::Done {})
        }
        Command::StopShadow {} => match service.shadows.end() {
            Some(release) => Ok(Response::ShadowEnded { release }),
            None => Err(Problem::NoShadow),
        },
        command => {
            log(&command);
            on_state(&*service.state, service.clock.now(), command)
        }
    }
}

/// Makes a link that opens a session of the console for a tenant.
fn console_link(
    service: &Service,
    tenant: &str,
    scopes: &[String],
    operator: bool,
) -> Result<String, Problem> {
    let sessions = service.console.as_ref().ok_or(Problem::NoConsole)?;
    let id: TenantId = tenant.parse()?;
    let tenants = service.state.tenants()?;
    match tenants.iter().find(|known| known.id == id) {
        Some(known) if known.enabled => {}
        Some(_) => {
            return Err(Problem::TenantDisabled {
                tenant: tenant.to_owned(),
            });
        }
        None => {
            return Err(Problem::NoTenant {
                tenant: tenant.to_owned(),
            });
        }
    }
    let user = ConsoleUser {
        tenant: id,
        scopes: match scopes.is_empty() {
            true => Scopes::all(),
            false => Scopes::parse(scopes)?,
        },
        operator,
    };
    Ok(sessions.make_link(user, random()?, service.clock.now()))
}

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
            let keys = keys.map(|key| key_entry(key, now)).collect();
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

fn create_key(
    state: &dyn Accounts,
    new: protocol::NewKey,
    now: UnixMillis,
) -> Result<String, Problem> {
    if new.tenant == demo::TENANT {
        return Err(Problem::Demo);
    }
    if new.label.chars().any(char::is_control) {
        return Err(Problem::Label);
    }
    let tenant: TenantId = new.tenant.parse()?;
    let scopes = Scopes::parse(&new.scopes)?;
    for (family, access) in [
        (Family::Markets, scopes.markets()),
        (Family::Rates, scopes.rates()),
    ] {
        if let DatasetAccess::Only(names) = access
            && let Some(name) = names.iter().find(|name| family.dataset(name).is_none())
        {
            return Err(Problem::Dataset {
                family: family.as_str(),
                name: name.clone(),
            });
        }
    }
    let expires_at = new
        .expires_in_days
        .map(|days| UnixMillis(now.0 + i64::from(days) * DAY_MILLIS));
    if let Some(plan) = &new.plan {
        check_plan(plan)?;
        if state
            .tenants()?
            .iter()
            .any(|existing| existing.id == tenant)
        {
            state.set_plan(&tenant, plan)?;
        } else {
            state.create_tenant(&tenant, plan, now)?;
        }
    }
    let key = NewKey {
        tenant,
        label: new.label,
        scopes,
        requires_metric_selection: new.requires_metric_selection,
        expires_at,
    };
    make_key(state, &key, now)
}

/// Makes a key, and its tenant where it is new. Returns the key's text, which is never stored.
///
/// # Errors
/// [`Problem::State`] if the state fails, [`Problem::Random`] if the system has no randomness.
fn make_key(state: &dyn Accounts, key: &NewKey, now: UnixMillis) -> Result<String, Problem> {
    if !state
        .tenants()?
        .iter()
        .any(|existing| existing.id == key.tenant)
    {
        state.create_tenant(&key.tenant, &Plan::default(), now)?;
    }
    let created = state.create_key(key, KeySeed::new(random()?), now)?;
    Ok(created.secret.expose().to_owned())
}

fn check_plan(plan: &Plan) -> Result<(), Problem> {
    for (field, value) in [
        ("requests_per_second", plan.requests_per_second),
        ("burst", plan.burst),
        ("concurrency", plan.concurrency),
        ("synchronous_batch_rows", plan.synchronous_batch_rows),
        ("asynchronous_job_rows", plan.asynchronous_job_rows),
    ] {
        if value == 0 {
            return Err(Problem::EmptyPlan { field });
        }
    }
    Ok(())
}

fn key_entry(key: KeyRecord, now: UnixMillis) -> protocol::Key {
    let status = if key.revoked_at.is_some() {
        "revoked"
    } else if key.expires_at.is_some_and(|at| at <= now) {
        "expired"
    } else {
        "active"
    };
    protocol::Key {
        id: key.id.to_string(),
        tenant: key.tenant.to_string(),
        status: status.to_owned(),
        scopes: key.scopes.texts(),
        created: day(key.created_at),
        expires: key.expires_at.map(day),
        label: key.label,
    }
}

/// Formats a time as its day in UTC, as listings show it.
fn day(at: UnixMillis) -> String {
    let at = DateTime::from_timestamp_millis(at.0).unwrap_or_default();
    at.date_naive().to_string()
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

fn releases(service: &Service) -> Response {
    let withdrawn: BTreeMap<_, _> = service.releases.list_withdrawn().into_iter().collect();
    let retained = service.releases.list_retained();
    let held = retained.iter().map(|release| LoadedRelease {
        id: release.id.clone(),
        effective_date: release.manifest.effective_date.to_string(),
        snapshot: release.manifest.snapshot.id.to_string(),
        withdrawn: withdrawn.get(&release.id).cloned(),
    });
    Response::Releases {
        current: service.releases.current().id.clone(),
        held: held.collect(),
    }
}

fn status(service: &Service) -> Status {
    let releases = service.releases.list_retained();
    let served = releases
        .iter()
        .filter(|release| service.releases.holds(&release.id));
    let withdrawn = service.list_withdrawn().into_iter();
    Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        current_release: service.releases.current().id.clone(),
        check_problem: service.find_check_refusal(),
        releases: served.map(|release| release.id.clone()).collect(),
        withdrawn: withdrawn
            .map(|(kind, release, reason)| protocol::WithdrawnRelease {
                kind: kind.into(),
                release,
                reason,
            })
            .collect(),
        shadow: service.shadows.now().map(|shadow| protocol::Shadow {
            release: shadow.release_id().to_owned(),
            share: shadow.share().part(),
        }),
        jobs_paused: service.state.jobs_paused(),
        // This thread may block, and no other does for it.
        jobs_waiting: Handle::current()
            .block_on(async { timeout(TIMEOUT, service.state.waiting()).await })
            .ok()
            .and_then(Result::ok),
        storage_problem: service.storage_problem(),
        missing_snapshots: (service.missing_snapshots.iter())
            .map(ToString::to_string)
            .collect(),
        log_lines_dropped: service.log_lines.dropped_lines(),
        resident_bytes: read_status().map(|process| process.resident_bytes),
    }
}

/// Logs a command and its subject. No command holds a secret.
fn log(command: &Command) {
    let (mut tenant, mut key, mut plan) = (None, None, None);
    let name = match command {
        Command::Status {} => "status",
        Command::Releases {} => "releases",
        Command::Promote { .. } => "promote",
        Command::History {} => "history",
        Command::ConsoleLogin { tenant: whose, .. } => {
            tenant = Some(whose);
            "console login"
        }
        Command::StartShadow { .. } => "begin shadow",
        Command::StopShadow {} => "end shadow",
        Command::RotateCursors {} => "rotate cursors",
        Command::PauseJobs { paused: true } => "pause jobs",
        Command::PauseJobs { paused: false } => "resume jobs",
        Command::CreateKey(new) => {
            (tenant, plan) = (Some(&new.tenant), new.plan.as_ref());
            "create key"
        }
        Command::CopyState { .. } => "copy state",
        Command::Keys {} => "keys",
        Command::RevokeKey { key: id } => {
            // Text that is no id may be a whole key.
            key = id.parse::<KeyId>().ok();
            "revoke key"
        }
        Command::Tenants {} => "tenants",
        Command::SetPlan {
            tenant: whose,
            plan: new,
        } => {
            (tenant, plan) = (Some(whose), Some(new));
            "set plan"
        }
        Command::ReceiptKeys { tenant: whose } => {
            tenant = whose.as_ref();
            "keys of receipts"
        }
        Command::EraseReceiptKey { tenant: whose } => {
            tenant = Some(whose);
            "erase key of receipts"
        }
        Command::UsageEntries { tenant: whose, .. } => {
            tenant = whose.as_ref();
            "usage entries"
        }
        Command::Enable {
            tenant: whose,
            enabled,
        } => {
            tenant = Some(whose);
            if *enabled { "enable" } else { "disable" }
        }
    };
    tracing::info!(
        command = name,
        tenant,
        key_id = key.map(tracing::field::display),
        plan = plan.map(tracing::field::debug),
        "an operator's command"
    );
}
