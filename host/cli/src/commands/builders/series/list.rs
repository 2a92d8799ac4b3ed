//! `domesday series list`.

use super::table::table;
use crate::commands::ReleasesFolder;
use crate::commands::trust::trust;
use domesday_package::{Full, Trust};
use domesday_series::catalogue::Family;
use domesday_series::store::Release;
use domesday_valuation::release_store::package_ids;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct List {
    #[command(flatten)]
    releases: ReleasesFolder,
    /// Include unsigned packages.
    #[arg(long)]
    unsigned: bool,
}

impl List {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let root = &self.releases.releases;
        let trust = match self.unsigned {
            true => Trust::Unsigned,
            false => trust(root, &[])?,
        };
        let mut outcome = ExitCode::SUCCESS;
        for family in Family::ALL {
            let packages_dir = root.join(family.as_str());
            // The folder of a family may be absent.
            if !packages_dir.exists() {
                continue;
            }
            for id in package_ids(&packages_dir)? {
                match Release::open(&packages_dir.join(&id), family, &trust, &Full) {
                    Ok(release) => print!("{id}\t{family}\n{}", table(&release.summaries())),
                    Err(error) => {
                        println!("{id}\t{family}\tcannot be used: {error}");
                        outcome = ExitCode::FAILURE;
                    }
                }
            }
        }
        Ok(outcome)
    }
}
