//! `domesday key`: API keys of tenants.

use super::target::AdminTarget;
use super::tenant::read_plan;
use clap::{ArgMatches, Subcommand};
use domesday_server::admin::protocol::{Command, NewKey, Response};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Key {
    /// Create a key and print it once. Only its hash is stored.
    Create {
        /// Tenant id; the tenant is created if missing.
        #[arg(long)]
        tenant: String,
        /// Scope of the key, such as avm:value or rates:read. Repeatable.
        #[arg(long = "scope", required = true)]
        scopes: Vec<String>,
        /// Label shown in listings.
        #[arg(long, default_value = "")]
        label: String,
        /// Require requests for market statistics and rates to name their metrics.
        #[arg(long)]
        requires_metric_selection: bool,
        /// Days until the key expires.
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..))]
        expires_in: Option<u16>,
        /// TOML file with the tenant's new plan; missing fields take the default plan's values.
        #[arg(long, value_name = "FILE")]
        plan: Option<PathBuf>,
        #[command(flatten)]
        target: AdminTarget,
    },
    /// List keys without their secrets.
    List {
        #[command(flatten)]
        target: AdminTarget,
    },
    /// Revoke a key permanently.
    Revoke {
        /// Key id, as listed.
        id: String,
        #[command(flatten)]
        target: AdminTarget,
    },
}

impl Key {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        match self {
            Key::Create {
                tenant,
                scopes,
                label,
                requires_metric_selection,
                expires_in,
                plan,
                target,
            } => {
                let key = NewKey {
                    tenant,
                    scopes,
                    label,
                    requires_metric_selection,
                    expires_in_days: expires_in,
                    plan: plan.as_deref().map(read_plan).transpose()?,
                };
                let answer = target.resolve(matches)?.execute(Command::CreateKey(key))?;
                if let Response::Key { key } = answer {
                    println!("{key}");
                    eprintln!("This is the only time that the key is shown.");
                }
            }
            Key::List { target } => {
                if let Response::Keys { keys } =
                    target.resolve(matches)?.execute(Command::Keys {})?
                {
                    for key in keys {
                        // A label may be older than the rule that keeps such characters out.
                        let label = key.label.replace(char::is_control, "\u{fffd}");
                        println!(
                            "{}\t{}\t{}\t{}\tmade {}\texpires {}\t{label}",
                            key.id,
                            key.tenant,
                            key.status,
                            key.scopes.join(" "),
                            key.created,
                            key.expires.as_deref().unwrap_or("never"),
                        );
                    }
                }
            }
            Key::Revoke { id, target } => {
                let command = Command::RevokeKey { key: id.clone() };
                target.resolve(matches)?.execute(command)?;
                println!("{id} is revoked");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
