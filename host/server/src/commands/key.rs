//! `domesday key`: API keys of tenants.

use crate::clock::{Clock, MachineClock, random};
use crate::demo;
use anyhow::{Context, bail};
use clap::Subcommand;
use domesday_state::{
    Accounts, EmbeddedState, KeyId, KeySeed, NewKey, Plan, Scopes, TenantId, UnixMillis,
};
use figment::Figment;
use figment::providers::{Format, Toml};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const DAY_MILLIS: i64 = 86_400_000;

#[derive(Debug, Subcommand)]
pub enum Key {
    /// Make a key and print it. It is shown this once: only a hash of it is stored.
    Create {
        /// The tenant; made where it does not exist yet.
        #[arg(long)]
        tenant: String,
        /// What the key may do, such as avm:value or rates:read. Repeat for several.
        #[arg(long = "scope", required = true)]
        scopes: Vec<String>,
        /// What the key is for, shown in listings.
        #[arg(long, default_value = "")]
        label: String,
        /// Days after which the key opens nothing any more.
        #[arg(long, value_name = "DAYS")]
        expires_in: Option<u16>,
        /// The tenant's plan from now on, a TOML file; what it leaves out is the default plan's.
        #[arg(long, value_name = "FILE")]
        plan: Option<PathBuf>,
        #[command(flatten)]
        data: Data,
    },
    /// List keys, without their secrets.
    List {
        #[command(flatten)]
        data: Data,
    },
    /// Revoke a key for good.
    Revoke {
        /// The key's id, as listed.
        id: String,
        #[command(flatten)]
        data: Data,
    },
}

/// Where the embedded state is.
#[derive(Debug, clap::Args)]
pub struct Data {
    /// Folder of the service's state.
    #[arg(
        long,
        env = "DOMESDAY_DATA",
        default_value = "domesday-data",
        value_name = "DIR"
    )]
    pub data: PathBuf,
}

impl Key {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let now = MachineClock.now();
        match self {
            Key::Create {
                tenant,
                scopes,
                label,
                expires_in,
                plan,
                data,
            } => {
                let plan = plan.as_deref().map(read_plan).transpose()?;
                let state = open(&data.data)?;
                if tenant == demo::TENANT {
                    bail!("the tenant {tenant} is the demo's; name yours otherwise");
                }
                let tenant: TenantId = tenant.parse()?;
                let scopes = Scopes::parse(&scopes)?;
                let expires_at =
                    expires_in.map(|days| UnixMillis(now.0 + i64::from(days) * DAY_MILLIS));
                if let Some(plan) = plan {
                    put_plan(&state, &tenant, &plan, now)?;
                }
                let key = create(&state, tenant, scopes, label, expires_at, now)?;
                println!("{key}");
                eprintln!("This is the only time that the key is shown.");
            }
            Key::List { data } => {
                for key in open(&data.data)?.keys(None)? {
                    let status = if key.revoked_at.is_some() {
                        "revoked"
                    } else if key.expires_at.is_some_and(|at| at <= now) {
                        "expired"
                    } else {
                        "active"
                    };
                    println!(
                        "{}\t{}\t{status}\t{}\t{}",
                        key.id,
                        key.tenant,
                        key.scopes.texts().join(" "),
                        key.label
                    );
                }
            }
            Key::Revoke { id, data } => {
                let id: KeyId = id.parse()?;
                open(&data.data)?.revoke_key(id, now)?;
                println!("{id} is revoked");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Makes a key, and its tenant where it is new. The key's text, which is never stored.
pub fn create(
    state: &dyn Accounts,
    tenant: TenantId,
    scopes: Scopes,
    label: String,
    expires_at: Option<UnixMillis>,
    now: UnixMillis,
) -> anyhow::Result<String> {
    if !state.tenants()?.iter().any(|known| known.id == tenant) {
        state.create_tenant(&tenant, &Plan::default(), now)?;
    }
    let seed = KeySeed::new(random().context("no randomness for a key")?);
    let key = NewKey {
        tenant,
        label,
        scopes,
        requires_metric_selection: false,
        expires_at,
    };
    Ok(state
        .create_key(&key, seed, now)?
        .secret
        .expose()
        .to_owned())
}

/// Reads a plan from a TOML file.
fn read_plan(path: &Path) -> anyhow::Result<Plan> {
    let named = || format!("the plan {}", path.display());
    let plan: Plan = Figment::from(Toml::file_exact(path))
        .extract()
        .with_context(named)?;
    for (field, value) in [
        ("requests_per_second", plan.requests_per_second),
        ("burst", plan.burst),
        ("concurrency", plan.concurrency),
    ] {
        if value == 0 {
            bail!("{}: {field} must be at least 1", named());
        }
    }
    Ok(plan)
}

/// Puts a tenant on a plan, and makes it where it is new.
fn put_plan(
    state: &dyn Accounts,
    tenant: &TenantId,
    plan: &Plan,
    now: UnixMillis,
) -> anyhow::Result<()> {
    if state.tenants()?.iter().any(|known| known.id == *tenant) {
        state.set_plan(tenant, plan)?;
    } else {
        state.create_tenant(tenant, plan, now)?;
    }
    Ok(())
}

fn open(data: &Path) -> anyhow::Result<EmbeddedState> {
    if !data.is_dir() {
        bail!(
            "{} does not exist; `domesday serve` makes it, or name another with --data",
            data.display()
        );
    }
    open_state(data)
}

/// Opens the state in a data folder, and makes it where there is none yet.
pub fn open_state(data: &Path) -> anyhow::Result<EmbeddedState> {
    let path = data.join("state.redb");
    EmbeddedState::open(&path).with_context(|| format!("the state {}", path.display()))
}
