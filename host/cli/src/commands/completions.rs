//! `domesday completions`: what a shell completes, for packages.

use crate::stdout;
use clap_complete::{Shell, generate};
use std::io::Write;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Completions {
    /// Shell that completes.
    shell: Shell,
}

impl Completions {
    pub fn run(self, mut program: clap::Command) -> anyhow::Result<ExitCode> {
        // Written at once, since the generator panics where its output is closed.
        let mut script = Vec::new();
        generate(self.shell, &mut program, "domesday", &mut script);
        stdout::writer().write_all(&script)?;
        Ok(ExitCode::SUCCESS)
    }
}
