//! `domesday release new`: a model's crate from a template.

use crate::release_new::{Name, make};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct New {
    /// The model's name: lower-case letters, digits and hyphens.
    name: Name,
    /// Where to make it; by default in a folder of its name.
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

impl New {
    pub fn run(self) -> anyhow::Result<()> {
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
        Ok(())
    }
}
