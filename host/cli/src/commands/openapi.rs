//! `domesday openapi`

use crate::stdout;
use std::io::Write;
use std::process::ExitCode;

/// Prints the document that `GET /openapi.json` serves.
#[derive(Debug, clap::Args)]
pub struct Openapi {}

impl Openapi {
    /// Runs it.
    ///
    /// # Errors
    /// Standard output could not be written.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        stdout::writer().write_all(domesday_openapi::json()?.as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }
}
