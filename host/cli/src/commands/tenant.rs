//! `domesday tenant`: who is served, and how much.

use super::target::AdminTarget;
use anyhow::Context;
use clap::{ArgMatches, Subcommand};
use domesday_server::admin::protocol::{Command, Response};
use domesday_state::Plan;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Tenant {
    /// List tenants with their plans.
    List {
        #[command(flatten)]
        place: AdminTarget,
    },
    /// Set a tenant's plan for all its keys, from the next request on.
    Plan {
        /// Tenant id.
        tenant: String,
        /// TOML file with the plan; missing fields take the default plan's values.
        #[arg(value_name = "FILE")]
        plan: PathBuf,
        #[command(flatten)]
        place: AdminTarget,
    },
    /// Enable a tenant.
    Enable {
        /// Tenant id.
        tenant: String,
        #[command(flatten)]
        place: AdminTarget,
    },
    /// Disable a tenant: refuse all its requests. Its keys and jobs stay.
    Disable {
        /// Tenant id.
        tenant: String,
        #[command(flatten)]
        place: AdminTarget,
    },
}

impl Tenant {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        match self {
            Tenant::List { place } => {
                let answer = place.settled(matches)?.order(Command::Tenants {})?;
                if let Response::Tenants { tenants } = answer {
                    for tenant in tenants {
                        let enabled = if tenant.enabled {
                            "enabled"
                        } else {
                            "disabled"
                        };
                        let plan = serde_json::to_string(&tenant.plan)?;
                        let used = tenant.used;
                        println!("{}\t{enabled}\t{used} units this month\t{plan}", tenant.id);
                    }
                }
            }
            Tenant::Plan {
                tenant,
                plan,
                place,
            } => {
                let plan = read_plan(&plan)?;
                let order = Command::SetPlan {
                    tenant: tenant.clone(),
                    plan,
                };
                place.settled(matches)?.order(order)?;
                println!("{tenant} is on the plan");
            }
            Tenant::Enable { tenant, place } => {
                enable(place.settled(matches)?, tenant, true)?;
            }
            Tenant::Disable { tenant, place } => {
                enable(place.settled(matches)?, tenant, false)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn enable(place: AdminTarget, tenant: String, enabled: bool) -> anyhow::Result<()> {
    let order = Command::Enable {
        tenant: tenant.clone(),
        enabled,
    };
    place.order(order)?;
    let state = if enabled { "enabled" } else { "disabled" };
    println!("{tenant} is {state}");
    Ok(())
}

/// Reads a plan from a TOML file.
///
/// # Errors
/// Where it is none, with the field that is wrong.
pub fn read_plan(path: &Path) -> anyhow::Result<Plan> {
    let named = || format!("the plan {}", path.display());
    let text = std::fs::read_to_string(path).with_context(named)?;
    toml::from_str(&text).with_context(named)
}
