//! `domesday series build markets`.

use super::super::wrong_kind::{GivenFiles, name_true_kind};
use super::table::table;
use crate::commands::ReleasesFolder;
use crate::commands::progress::ProgressLine;
use anyhow::Context;
use domesday_package::{PackageId, SigningKey, Timestamp};
use domesday_registers::{MaxRejected, RegisterKind};
use domesday_series::build::markets::{
    Coverage, Inputs, MarketsError, Month, ReleaseDetails, build,
};
use domesday_series::build::recognition::{Builder, InputKind};
use domesday_series::catalogue::Family;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Markets {
    /// Id of the release: lower-case letters, digits, dots, hyphens and underscores. An id is never
    /// reused.
    #[arg(long, value_name = "ID")]
    release_id: String,
    /// HM Land Registry Price Paid Data: the 16-column file or the linked-data export. Repeatable.
    #[arg(long, required = true, num_args = 1.., value_name = "CSV")]
    price_paid: Vec<PathBuf>,
    /// Domestic energy certificates, for floor areas and rooms. Repeatable.
    #[arg(long, num_args = 1.., value_name = "CSV")]
    certificates: Vec<PathBuf>,
    /// ONS Standard Area Measurements of local authorities. Repeatable.
    #[arg(long, required = true, num_args = 1.., value_name = "CSV")]
    areas: Vec<PathBuf>,
    /// ONS local authority codes, past and current.
    #[arg(long, value_name = "CSV")]
    authority_codes: PathBuf,
    /// OS Code-Point Open, the zip as downloaded (default: the district that a sale names).
    #[arg(long, value_name = "ZIP")]
    code_point: Vec<PathBuf>,
    /// ONS Price Index of Private Rents, or the earlier private rental market statistics.
    /// Repeatable.
    #[arg(long, num_args = 1.., value_name = "WORKBOOK")]
    rents: Vec<PathBuf>,
    /// UK House Price Index, full file. Repeatable.
    #[arg(long, num_args = 1.., value_name = "CSV")]
    house_price_index: Vec<PathBuf>,
    /// State an authority and months that the sales cover, CODE:YYYY-MM:YYYY-MM. Repeatable
    /// (default: every authority).
    #[arg(long, num_args = 1.., value_name = "COVERAGE")]
    covers: Vec<String>,
    /// Take the price paid files as complete, even for an authority without sales.
    #[arg(long, conflicts_with = "covers")]
    whole_country: bool,
    /// Month of the release, YYYY-MM (default: the month after the newest sale).
    #[arg(long, value_name = "MONTH")]
    release_month: Option<String>,
    /// Largest share of a file's rows that may be rejected, per cent. More stops the build.
    #[arg(long, value_name = "PERCENT", default_value_t)]
    max_rejected: MaxRejected,
    /// Also write the certificate of each sale, to re-derive the figures.
    #[arg(long, value_name = "CSV")]
    matches: Option<PathBuf>,
    /// Mark the files as synthetic in the manifest.
    #[arg(long)]
    synthetic: bool,
    /// Time of publication (default: none recorded).
    #[arg(long, value_name = "TIME")]
    published_at: Option<Timestamp>,
    /// Build timestamp for reproducible builds (default: midnight after the newest month).
    #[arg(long, value_name = "TIME")]
    created: Option<Timestamp>,
    /// Private key to sign with.
    #[arg(long, value_name = "FILE")]
    sign_with: Option<PathBuf>,
    #[command(flatten)]
    releases: ReleasesFolder,
}

impl Markets {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let release_id: PackageId = self
            .release_id
            .parse()
            .with_context(|| format!("--release-id {}", self.release_id))?;
        // A key that cannot be read ends the command before the build.
        let key = self.sign_with.as_deref().map(SigningKey::read);
        let key = key.transpose()?;
        let month =
            |text: &String| Month::parse(text).with_context(|| format!("--release-month {text}"));
        let coverage: Result<Vec<Coverage>, _> = self
            .covers
            .iter()
            .map(|text| Coverage::parse(text))
            .collect();
        let inputs = Inputs {
            price_paid: self.price_paid,
            certificates: self.certificates,
            areas: self.areas,
            code_map: self.authority_codes,
            code_point: self.code_point,
            rents: self.rents,
            price_index: self.house_price_index,
            coverage: coverage?,
            whole_country: self.whole_country,
            max_rejected: self.max_rejected,
            release_month: self.release_month.as_ref().map(month).transpose()?,
            matches: self.matches,
        };
        let about = ReleaseDetails {
            release_id: release_id.clone(),
            created: self.created,
            published_at: self.published_at,
            synthetic: self.synthetic,
        };
        let packages_dir = self.releases.releases.join(Family::Markets.as_str());
        let mut progress = ProgressLine::new();
        let about = (about, key.as_ref());
        let (_, report) = build(&packages_dir, about, &inputs, &mut |stage, done, total| {
            progress.show(stage, done, total)
        })
        .inspect_err(|error| {
            // The report of rows read and rejected shows why there is no observation.
            if let MarketsError::NoObservation { report, .. } = error
                && let Ok(report) = serde_json::to_string_pretty(report)
            {
                println!("{report}");
            }
        })
        .map_err(|error| name_true_kind(error.into(), Builder::Markets, &given_files(&inputs)))?;
        drop(progress);
        let package_dir = packages_dir.join(release_id.as_str());
        println!("{}", serde_json::to_string_pretty(&report)?);
        if report.sales.areas_without_sales > 0 {
            eprintln!(
                "{} authorities have no sale in these files, so that their counts are 0.",
                report.sales.areas_without_sales
            );
        }
        eprint!("{}", table(&report.datasets));
        eprintln!(
            "{} series with {} observations are in {}.",
            report.series,
            report.observations,
            package_dir.display()
        );
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the files with the kind of the flag that they were given with.
fn given_files(inputs: &Inputs) -> [GivenFiles<'_>; 7] {
    let register = InputKind::Register;
    [
        (register(RegisterKind::PricePaid), &inputs.price_paid),
        (register(RegisterKind::Certificates), &inputs.certificates),
        (register(RegisterKind::Areas), &inputs.areas),
        (
            register(RegisterKind::AuthorityCodes),
            std::slice::from_ref(&inputs.code_map),
        ),
        (register(RegisterKind::CodePoint), &inputs.code_point),
        (register(RegisterKind::PriceIndex), &inputs.price_index),
        (InputKind::Rents, &inputs.rents),
    ]
}
