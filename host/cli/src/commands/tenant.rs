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
        target: AdminTarget,
    },
    /// Set a tenant's plan for all its keys, from the next request on.
    Plan {
        /// Tenant id.
        tenant: String,
        /// TOML file with the plan; missing fields take the default plan's values.
        #[arg(value_name = "FILE")]
        plan: PathBuf,
        #[command(flatten)]
        target: AdminTarget,
    },
    /// Enable a tenant.
    Enable {
        /// Tenant id.
        tenant: String,
        #[command(flatten)]
        target: AdminTarget,
    },
    /// Disable a tenant: refuse all its requests. Its keys and jobs stay.
    Disable {
        /// Tenant id.
        tenant: String,
        #[command(flatten)]
        target: AdminTarget,
    },
}

impl Tenant {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        match self {
            Tenant::List { target } => {
                let answer = target.resolve(matches)?.execute(Command::Tenants {})?;
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
                target,
            } => {
                let plan = read_plan(&plan)?;
                let command = Command::SetPlan {
                    tenant: tenant.clone(),
                    plan,
                };
                target.resolve(matches)?.execute(command)?;
                println!("{tenant} is on the plan");
            }
            Tenant::Enable { tenant, target } => {
                enable(target.resolve(matches)?, tenant, true)?;
            }
            Tenant::Disable { tenant, target } => {
                enable(target.resolve(matches)?, tenant, false)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn enable(target: AdminTarget, tenant: String, enabled: bool) -> anyhow::Result<()> {
    let command = Command::Enable {
        tenant: tenant.clone(),
        enabled,
    };
    target.execute(command)?;
    let state = if enabled { "enabled" } else { "disabled" };
    println!("{tenant} is {state}");
    Ok(())
}

/// Reads a plan from a TOML file.
///
/// # Errors
/// The file is not a plan. The error names the wrong field.
pub fn read_plan(path: &Path) -> anyhow::Result<Plan> {
    let subject = || format!("cannot read the plan {}", path.display());
    let text = std::fs::read_to_string(path).with_context(subject)?;
    toml::from_str(&text).with_context(subject)
}
