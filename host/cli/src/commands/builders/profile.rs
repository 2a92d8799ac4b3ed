//! `domesday release profile`: the fuel of a release by function.

use crate::commands::ReleasesFolder;
use crate::commands::progress::ProgressLine;
use crate::commands::report_file::{ReportFile, check_distinct};
use crate::commands::trust::UnsignedPackages;
use domesday_package::PackageId;
use domesday_release_tools::fuel_profile::{ProfileOptions, ProfiledRows, profile};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Profile {
    /// Id of the release.
    release: PackageId,
    /// Run the rows of this file, the body of a batch (default: the release's fixtures).
    #[arg(long, value_name = "FILE", conflicts_with = "homes")]
    rows: Option<PathBuf>,
    /// Run at most as many homes of the snapshot's last ten years, most of the last three,
    /// sampled evenly.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    homes: Option<u32>,
    /// Name the functions by a build of this model, which must give the release's own code.
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// Maximum number of functions in the table.
    #[arg(long, value_name = "N", default_value_t = 30)]
    functions: u32,
    /// Write a flame graph.
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Write folded stacks, which flame graph programs read.
    #[arg(long, value_name = "FILE")]
    folded: Option<PathBuf>,
    #[command(flatten)]
    releases: ReleasesFolder,
    #[command(flatten)]
    unsigned: UnsignedPackages,
}

impl Profile {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let root = &self.releases.releases;
        let trust = self.unsigned.trust(root)?;
        let svg = ReportFile::open_optional(self.svg.as_deref())?;
        let folded = ReportFile::open_optional(self.folded.as_deref())?;
        check_distinct(&[("--svg", &svg), ("--folded", &folded)])?;
        let options = ProfileOptions {
            rows: match (self.rows, self.homes) {
                (Some(path), _) => ProfiledRows::Batch(path),
                (None, Some(homes)) => ProfiledRows::Homes(homes as usize),
                (None, None) => ProfiledRows::Fixtures,
            },
            model: self.model,
        };
        let mut progress = ProgressLine::new();
        let found = profile(
            root,
            self.release.as_str(),
            &trust,
            &options,
            &mut |stage, done, total| progress.show(stage, done, total),
        )?;
        drop(progress);
        if let Some(output) = svg {
            output.write(found.flame_graph().as_bytes())?;
        }
        if let Some(output) = folded {
            output.write(found.fold_stacks().as_bytes())?;
        }
        print!("{}", found.table(self.functions as usize));
        Ok(ExitCode::SUCCESS)
    }
}
