//! `domesday series list`.

use super::table::table;
use crate::commands::ReleasesFolder;
use crate::commands::trust::trust;
use domesday_package::{Full, PackageError, PackageErrorKind, Trust};
use domesday_series::catalogue::Family;
use domesday_series::store::{OpenError, Release};
use domesday_valuation::release_store::package_ids;
use std::path::Path;
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
                        print!(
                            "{}",
                            unsigned_table(&error, &packages_dir.join(&id), family)
                        );
                        outcome = ExitCode::FAILURE;
                    }
                }
            }
        }
        Ok(outcome)
    }
}

/// Returns the table of a release that lacks its signature and nothing else, as after a build.
fn unsigned_table(error: &OpenError, package: &Path, family: Family) -> String {
    let OpenError::Package(PackageError { kind, .. }) = error else {
        return String::new();
    };
    if !matches!(kind, PackageErrorKind::Unsigned) {
        return String::new();
    }
    match Release::open(package, family, &Trust::Unsigned, &Full) {
        Ok(release) => table(&release.summaries()),
        // The first error has been printed.
        Err(_) => String::new(),
    }
}
