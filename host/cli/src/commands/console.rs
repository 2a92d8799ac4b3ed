//! `domesday console`: links that open the console of a running server.

use super::target::AdminTarget;
use anyhow::bail;
use clap::{ArgMatches, Subcommand};
use domesday_server::admin::protocol::{Command, Response};
use domesday_server::demo;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Console {
    /// Print a link that opens one session of the console, within ten minutes.
    Login {
        /// Tenant that the session acts for. Its values count against the tenant's plan.
        #[arg(long, value_name = "ID", default_value = demo::TENANT)]
        tenant: String,
        /// Scope of the session. Repeatable (default: all).
        #[arg(long = "scope", value_name = "SCOPE")]
        scopes: Vec<String>,
        /// Show the pages of operation too, with the units of all tenants.
        #[arg(long)]
        operator: bool,
        #[command(flatten)]
        target: AdminTarget,
    },
}

impl Console {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        let Console::Login {
            tenant,
            scopes,
            operator,
            target,
        } = self;
        let command = Command::ConsoleLogin {
            tenant,
            scopes,
            operator,
        };
        match target.resolve(matches)?.execute(command)? {
            Response::ConsoleLink { link } => println!("{link}"),
            Response::Refused { problem } => bail!(problem),
            _ => bail!("unexpected reply from the server: client and server versions differ"),
        }
        Ok(ExitCode::SUCCESS)
    }
}
