//! `domesday man`: the man pages, for packages.

use anyhow::Context;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Man {
    /// Folder for the pages.
    folder: PathBuf,
}

impl Man {
    pub fn run(self, program: clap::Command) -> anyhow::Result<ExitCode> {
        let folder = self.folder;
        fs::create_dir_all(&folder)
            .and_then(|()| clap_mangen::generate_to(program, &folder))
            .with_context(|| format!("cannot write man pages to {}", folder.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}
