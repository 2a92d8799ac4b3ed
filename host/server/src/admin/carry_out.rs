//! Carrying out orders: what needs a running service, and what needs its state alone.

use super::wire::{self, Answer, HeldRelease, Order, Status};
use crate::clock::random;
use crate::demo;
use crate::releases::ReleaseError;
use crate::service::Service;
use crate::shadow::{NoShare, ShadowError, Share};
use crate::telemetry::page::resident_bytes;
use chrono::DateTime;
use domesday_breaks::broken;
use domesday_series::catalogue::Family;
use domesday_state::{
    Accounts, DatasetAccess, KeyId, KeyRecord, KeySeed, MalformedKey, Month, NewKey, Plan,
    Released, Reply, ScopeFault, Scopes, State, StateError, Tenant, TenantId, TenantIdFault,
    UnixMillis,
};
use tokio::runtime::{Builder, Handle};

const DAY_MILLIS: i64 = 86_400_000;

/// Why an order is not carried out.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The state would not.
    #[error(transparent)]
    State(#[from] StateError),
    /// A tenant is not named as one.
    #[error(transparent)]
    Tenant(#[from] TenantIdFault),
    /// A scope there is none of.
    #[error(transparent)]
    Scopes(#[from] ScopeFault),
    /// A key is not named as one. What was given is not repeated: it may be a whole key.
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
        /// What was named.
        name: String,
    },
    /// No runtime to wait for the state with.
    #[error("waiting for the state: {0}")]
    Waiting(#[from] std::io::Error),
    /// A release cannot be served.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// A release cannot run as a shadow.
    #[error(transparent)]
    Shadow(#[from] ShadowError),
    /// A share that is none.
    #[error(transparent)]
    Share(#[from] NoShare),
    /// There is nothing to end.
    #[error("no release runs as a shadow")]
    NoShadow,
    /// The demo's tenant is made by the service alone.
    #[error("the tenant {} is the demo's; name yours otherwise", demo::TENANT)]
    Demo,
    /// A plan under which nothing could ever be asked.
    #[error("the plan: {field} must be at least 1")]
    EmptyPlan {
        /// The field.
        field: &'static str,
    },
    /// No randomness to make a key of.
    #[error("no randomness for a key: {0}")]
    Random(#[from] getrandom::Error),
    /// A tenant without receipts has no key of them.
    #[error("the tenant {tenant} has no key of receipts: it has had none, or it is erased already")]
    NoReceiptKey {
        /// The tenant.
        tenant: String,
    },
    /// The order asks about a server, and none runs.
    #[error("no server runs on this data folder")]
    NoServer,
}

/// Carries out an order on a running service. Blocks.
///
/// # Errors
/// Why it is not carried out.
pub fn on_service(service: &Service, order: Order) -> Result<Answer, Problem> {
    match order {
        Order::Status {} => Ok(Answer::Status(status(service))),
        Order::Releases {} => Ok(Answer::Releases {
            current: service.releases.current().id.clone(),
            held: service
                .releases
                .held()
                .iter()
                .map(|release| HeldRelease {
                    id: release.id.clone(),
                    effective_date: release.manifest.effective_date.to_string(),
                    snapshot: release.manifest.snapshot.id.to_string(),
                })
                .collect(),
        }),
        Order::Promote { kind, release } => {
            let what = Released::from(kind);
            // First opened and admitted, so that no host is told of a release that cannot be served.
            service.open(what, &release)?;
            service.state.promote(what, &release)?;
            service.make_current(what, &release)?;
            tracing::info!(
                kind = what.as_str(),
                release_id = release,
                "release promoted"
            );
            Ok(Answer::Done {})
        }
        Order::EraseReceiptKey { ref tenant } => {
            log(&order);
            let id: TenantId = tenant.parse()?;
            let done = on_state(&*service.state, service.clock.now(), order.clone())?;
            if let Some(receipts) = &service.receipts {
                receipts.forget(&id);
            }
            Ok(done)
        }
        Order::BeginShadow { release, share } => {
            service.begin_shadow(&release, Share::new(share)?)?;
            Ok(Answer::Done {})
        }
        Order::EndShadow {} => match service.shadows.end() {
            Some(release) => Ok(Answer::ShadowEnded { release }),
            None => Err(Problem::NoShadow),
        },
        order => {
            log(&order);
            on_state(&*service.state, service.clock.now(), order)
        }
    }
}

/// Carries out an order on a state. Blocks. Whether a release that is promoted can be served is for the
/// caller to prove first.
///
/// # Errors
/// Why it is not carried out.
pub fn on_state(state: &dyn State, now: UnixMillis, order: Order) -> Result<Answer, Problem> {
    match order {
        Order::Status {} | Order::Releases {} | Order::BeginShadow { .. } | Order::EndShadow {} => {
            return Err(Problem::NoServer);
        }
        Order::Promote { kind, release } => state.promote(kind.into(), &release)?,
        Order::RotateCursors {} => state.rotate_cursors(random()?)?,
        Order::PauseJobs { paused } => state.pause_jobs(paused)?,
        Order::CreateKey(key) => {
            let key = create_key(state, key, now)?;
            return Ok(Answer::Key { key });
        }
        Order::Keys {} => {
            let keys = state.keys(None)?.into_iter();
            let keys = keys.map(|key| listed(key, now)).collect();
            return Ok(Answer::Keys { keys });
        }
        Order::RevokeKey { key } => {
            state.revoke_key(key.parse()?, now)?;
        }
        Order::Tenants {} => {
            let month = Month::of(now);
            let listed = |tenant: Tenant| {
                Ok(wire::Tenant {
                    id: tenant.id.to_string(),
                    enabled: tenant.enabled,
                    used: wait(state.used(tenant.id, month))??,
                    plan: tenant.plan,
                })
            };
            let tenants = state.tenants()?.into_iter().map(listed);
            return Ok(Answer::Tenants {
                tenants: tenants.collect::<Result<_, Problem>>()?,
            });
        }
        Order::SetPlan { tenant, plan } => {
            possible(&plan)?;
            state.set_plan(&tenant.parse()?, &plan)?;
        }
        Order::ReceiptKeys { tenant } => {
            let wanted: Option<TenantId> = tenant.map(|tenant| tenant.parse()).transpose()?;
            let keys = state.receipt_keys()?.into_iter();
            let keys = keys.filter(|(tenant, _)| wanted.as_ref().is_none_or(|id| id == tenant));
            let keys = keys.map(|(tenant, secret)| wire::ReceiptKey {
                tenant: tenant.to_string(),
                secret: hex::encode(secret),
            });
            return Ok(Answer::ReceiptKeys {
                keys: keys.collect(),
            });
        }
        Order::EraseReceiptKey { tenant } => {
            if !broken("receipts-erased") && !state.erase_receipt_key(&tenant.parse()?)? {
                return Err(Problem::NoReceiptKey { tenant });
            }
        }
        Order::Enable { tenant, enabled } => {
            state.set_enabled(&tenant.parse()?, enabled)?;
        }
    }
    Ok(Answer::Done {})
}

fn create_key(state: &dyn Accounts, new: wire::NewKey, now: UnixMillis) -> Result<String, Problem> {
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
        possible(plan)?;
        if state.tenants()?.iter().any(|known| known.id == tenant) {
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

/// Makes a key, and its tenant where it is new. The key's text, which is never stored.
///
/// # Errors
/// What the state says, or where the operating system has no randomness.
pub fn make_key(state: &dyn Accounts, key: &NewKey, now: UnixMillis) -> Result<String, Problem> {
    if !state.tenants()?.iter().any(|known| known.id == key.tenant) {
        state.create_tenant(&key.tenant, &Plan::default(), now)?;
    }
    let created = state.create_key(key, KeySeed::new(random()?), now)?;
    Ok(created.secret.expose().to_owned())
}

fn possible(plan: &Plan) -> Result<(), Problem> {
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

fn listed(key: KeyRecord, now: UnixMillis) -> wire::Key {
    let status = if key.revoked_at.is_some() {
        "revoked"
    } else if key.expires_at.is_some_and(|at| at <= now) {
        "expired"
    } else {
        "active"
    };
    wire::Key {
        id: key.id.to_string(),
        tenant: key.tenant.to_string(),
        status: status.to_owned(),
        scopes: key.scopes.texts(),
        created: day(key.created_at),
        expires: key.expires_at.map(day),
        label: key.label,
    }
}

/// A day in UTC, as listings show it.
fn day(at: UnixMillis) -> String {
    let at = DateTime::from_timestamp_millis(at.0).unwrap_or_default();
    at.date_naive().to_string()
}

/// Waits for the state on a thread that may block, a runtime's or none.
fn wait<T>(reply: Reply<T>) -> std::io::Result<Result<T, StateError>> {
    match Handle::try_current() {
        Ok(runtime) => Ok(runtime.block_on(reply)),
        Err(_) => Ok(Builder::new_current_thread().build()?.block_on(reply)),
    }
}

fn status(service: &Service) -> Status {
    let held = service.releases.held();
    Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        current_release: service.releases.current().id.clone(),
        releases: held.iter().map(|release| release.id.clone()).collect(),
        shadow: service.shadows.now().map(|shadow| wire::Shadow {
            release: shadow.release_id().to_owned(),
            share: shadow.share().part(),
        }),
        jobs_paused: service.state.jobs_paused(),
        // This thread may block, and no other does for it.
        jobs_waiting: tokio::runtime::Handle::current()
            .block_on(service.state.waiting())
            .ok(),
        trouble: service.state.trouble().or_else(|| {
            let trouble = service.receipts.as_ref()?.status().1?;
            Some(format!("no receipt can be kept: {trouble}"))
        }),
        log_lines_dropped: service.log_lines.dropped(),
        resident_bytes: resident_bytes(),
    }
}

/// Logs an order with whom and what it is about. Nothing of an order is secret.
fn log(order: &Order) {
    let (mut tenant, mut key, mut plan) = (None, None, None);
    let name = match order {
        Order::Status {} => "status",
        Order::Releases {} => "releases",
        Order::Promote { .. } => "promote",
        Order::BeginShadow { .. } => "begin shadow",
        Order::EndShadow {} => "end shadow",
        Order::RotateCursors {} => "rotate cursors",
        Order::PauseJobs { paused: true } => "pause jobs",
        Order::PauseJobs { paused: false } => "resume jobs",
        Order::CreateKey(new) => {
            (tenant, plan) = (Some(&new.tenant), new.plan.as_ref());
            "create key"
        }
        Order::Keys {} => "keys",
        Order::RevokeKey { key: id } => {
            // What is no id may be a whole key.
            key = id.parse::<KeyId>().ok();
            "revoke key"
        }
        Order::Tenants {} => "tenants",
        Order::SetPlan {
            tenant: whose,
            plan: new,
        } => {
            (tenant, plan) = (Some(whose), Some(new));
            "set plan"
        }
        Order::ReceiptKeys { tenant: whose } => {
            tenant = whose.as_ref();
            "keys of receipts"
        }
        Order::EraseReceiptKey { tenant: whose } => {
            tenant = Some(whose);
            "erase key of receipts"
        }
        Order::Enable {
            tenant: whose,
            enabled,
        } => {
            tenant = Some(whose);
            if *enabled { "enable" } else { "disable" }
        }
    };
    tracing::info!(
        order = name,
        tenant,
        key_id = key.map(tracing::field::display),
        plan = plan.map(tracing::field::debug),
        "an operator's order"
    );
}
