//! `domesday key`: API keys of tenants.

use super::place::Place;
use super::tenant::read_plan;
use crate::admin::wire::{Answer, NewKey, Order};
use clap::{ArgMatches, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

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
        /// Whether requests for market statistics and rates must name their metrics.
        #[arg(long)]
        requires_metric_selection: bool,
        /// Days after which the key opens nothing any more.
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..))]
        expires_in: Option<u16>,
        /// The tenant's plan from now on, a TOML file; what it leaves out is the default plan's.
        #[arg(long, value_name = "FILE")]
        plan: Option<PathBuf>,
        #[command(flatten)]
        place: Place,
    },
    /// List keys, without their secrets.
    List {
        #[command(flatten)]
        place: Place,
    },
    /// Revoke a key for good.
    Revoke {
        /// The key's id, as listed.
        id: String,
        #[command(flatten)]
        place: Place,
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
                place,
            } => {
                let key = NewKey {
                    tenant,
                    scopes,
                    label,
                    requires_metric_selection,
                    expires_in_days: expires_in,
                    plan: plan.as_deref().map(read_plan).transpose()?,
                };
                let answer = place.settled(matches)?.order(Order::CreateKey(key))?;
                if let Answer::Key { key } = answer {
                    println!("{key}");
                    eprintln!("This is the only time that the key is shown.");
                }
            }
            Key::List { place } => {
                if let Answer::Keys { keys } = place.settled(matches)?.order(Order::Keys {})? {
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
            Key::Revoke { id, place } => {
                let order = Order::RevokeKey { key: id.clone() };
                place.settled(matches)?.order(order)?;
                println!("{id} is revoked");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
