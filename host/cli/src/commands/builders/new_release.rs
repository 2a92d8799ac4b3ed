//! `domesday release new`: a model's crate from a template.

use domesday_release_tools::scaffold::{Name, make};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct NewRelease {
    /// Name of the model: lower-case letters, digits and hyphens.
    name: Name,
    /// Target folder (default: the model's name).
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

impl NewRelease {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let folder = self
            .path
            .unwrap_or_else(|| PathBuf::from(self.name.as_str()));
        let files = make(&self.name, &folder)?;
        println!(
            "{} is in {}, {} files; its README.md says what is where. Next:\n\n  cd {}\n  cargo test",
            self.name,
            folder.display(),
            files.len(),
            folder.display()
        );
        Ok(ExitCode::SUCCESS)
    }
}
