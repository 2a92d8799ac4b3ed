//! `domesday cursors`: the secret under which cursors are authenticated.

use super::place::Place;
use crate::admin::wire::Order;
use clap::{ArgMatches, Subcommand};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Cursors {
    /// Authenticate new cursors with another secret, on all hosts. Those given before are taken
    /// until the next rotation.
    Rotate {
        #[command(flatten)]
        place: Place,
    },
}

impl Cursors {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        let Cursors::Rotate { place } = self;
        place.settled(matches)?.order(Order::RotateCursors {})?;
        println!("new cursors have a new secret");
        Ok(ExitCode::SUCCESS)
    }
}
