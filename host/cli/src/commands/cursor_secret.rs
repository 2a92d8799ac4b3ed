//! `domesday cursors`: the secret under which cursors are authenticated.

use super::target::AdminTarget;
use clap::{ArgMatches, Subcommand};
use domesday_server::admin::protocol::Command;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Cursors {
    /// Rotate the cursor secret on all hosts. Existing cursors stay valid until the next rotation.
    Rotate {
        #[command(flatten)]
        target: AdminTarget,
    },
}

impl Cursors {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        let Cursors::Rotate { target } = self;
        target
            .resolve(matches)?
            .execute(Command::RotateCursors {})?;
        println!("new cursors have a new secret");
        Ok(ExitCode::SUCCESS)
    }
}
