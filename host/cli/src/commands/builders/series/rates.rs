//! `domesday series build rates`.

use super::super::wrong_kind::{GivenFiles, name_true_kind};
use super::table::table;
use crate::commands::ReleasesFolder;
use anyhow::{Context, bail, ensure};
use chrono::NaiveDate;
use domesday_package::{PackageId, SigningKey, Timestamp};
use domesday_series::build::rates::{Inputs, derive, read};
use domesday_series::build::recognition::{Builder, InputKind};
use domesday_series::build::{BuildError, Publication, write_signed};
use domesday_series::catalogue::Family;
use indicatif::ProgressBar;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub struct Rates {
    /// Id of the release: lower-case letters, digits, dots, hyphens and underscores. An id is never
    /// reused.
    #[arg(long, value_name = "ID")]
    release_id: String,
    /// Export of the Bank's database, or its list of Bank Rate changes. Repeatable.
    #[arg(long, required = true, num_args = 1.., value_name = "CSV")]
    bank_csv: Vec<PathBuf>,
    /// Yield-curve workbook, zip of workbooks, or curve table (docs/how-to/build-series.md).
    /// Repeatable.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    curves: Vec<PathBuf>,
    /// Day to which the list of Bank Rate changes is complete, YYYY-MM-DD (default: its last
    /// change).
    #[arg(long, value_name = "DATE")]
    complete_to: Option<NaiveDate>,
    /// Mark the files as synthetic in the manifest.
    #[arg(long)]
    synthetic: bool,
    /// Note for readers of the manifest. Repeatable.
    #[arg(long, value_name = "TEXT")]
    note: Vec<String>,
    /// Time of publication (default: none recorded).
    #[arg(long, value_name = "TIME")]
    published_at: Option<Timestamp>,
    /// Build timestamp for reproducible builds (default: midnight after the newest observation).
    #[arg(long, value_name = "TIME")]
    created: Option<Timestamp>,
    /// Private key to sign with.
    #[arg(long, value_name = "FILE")]
    sign_with: Option<PathBuf>,
    #[command(flatten)]
    releases: ReleasesFolder,
}

impl Rates {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let release_id: PackageId = self
            .release_id
            .parse()
            .with_context(|| format!("--release-id {}", self.release_id))?;
        // A key that cannot be read ends the command before the build.
        let key = self.sign_with.as_deref().map(SigningKey::read);
        let key = key.transpose()?;
        let inputs = Inputs {
            database: self.bank_csv,
            curves: self.curves,
            synthetic: self.synthetic,
        };
        let spinner = ProgressBar::new_spinner();
        spinner.enable_steady_tick(Duration::from_millis(200));
        let mut published = read(&inputs, &mut |name, _, _| {
            spinner.set_message(format!("reading {name}"))
        })
        .map_err(|error| {
            let given: [GivenFiles<'_>; 2] = [
                (InputKind::Database, &inputs.database),
                (InputKind::Curves, &inputs.curves),
            ];
            name_true_kind(error.into(), Builder::Rates, &given)
        })?;
        let mut notes = self.note;
        if let Some(day) = self.complete_to {
            let Some((last, _)) = published.bank_rate_changes.last_key_value() else {
                bail!(
                    "--complete-to {day}: no file is a list of Bank Rate changes. Give the list \
                     with --bank-csv, or leave the option out"
                );
            };
            ensure!(
                *last <= day,
                "--complete-to {day}: the list has a change on {last}. Give that day or a later \
                 one"
            );
            published.bank_rate_complete_to = Some(day);
            notes.push(format!(
                "The list of Bank Rate changes is complete to {day}."
            ));
        }
        spinner.set_message("computing and writing");
        let draft = derive(&published);
        let datasets = table(&draft.summaries(Family::Rates));
        let packages_dir = self.releases.releases.join(Family::Rates.as_str());
        let manifest = write_signed(
            &packages_dir,
            draft,
            Publication {
                family: Family::Rates,
                release_id: release_id.clone(),
                created: self.created,
                published_at: self.published_at,
                preview_bounds: None,
                sources: published.sources,
                synthetic: self.synthetic,
                notes,
            },
            key.as_ref(),
        )
        .inspect_err(|error| {
            // The table shows for each dataset why it has no observation.
            if matches!(error, BuildError::Empty) {
                print!("{datasets}");
            }
        })?;
        spinner.finish_and_clear();
        let package_dir = packages_dir.join(release_id.as_str());
        for warning in &published.warnings {
            eprintln!("{warning}");
        }
        print!("{datasets}");
        println!(
            "{} series with {} observations, created {}, are in {}",
            manifest.body["series"],
            manifest.body["observations"],
            manifest.created,
            package_dir.display()
        );
        Ok(ExitCode::SUCCESS)
    }
}
