//! Makes keys for an operator, and lists them.

use super::problem::Problem;
use super::protocol;
use crate::clock::random;
use crate::demo;
use chrono::DateTime;
use domesday_series::catalogue::Family;
use domesday_state::{
    Accounts, DatasetAccess, KeyRecord, KeySeed, NewKey, Plan, Scopes, TenantId, UnixMillis,
};

const DAY_MILLIS: i64 = 86_400_000;

/// Makes a key as an operator asks for it, with its tenant and plan. Returns the key's text.
///
/// # Errors
/// [`Problem`] where a name, a scope or the plan is none, or the state fails.
pub(super) fn create_key(
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

/// Checks that something can be asked under a plan.
///
/// # Errors
/// [`Problem::EmptyPlan`].
pub(super) fn check_plan(plan: &Plan) -> Result<(), Problem> {
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

/// Returns the entry of a key in a listing.
pub(super) fn list_key(key: KeyRecord, now: UnixMillis) -> protocol::Key {
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
