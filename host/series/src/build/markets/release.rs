//! From the registers to a package in a packages folder.

use super::coverage::Coverage;
use super::report::Report;
use super::sources::Kind;
use super::{Inputs, MarketsError, draft};
use crate::build::{BuildError, Publication, write_signed};
use crate::catalogue::Family;
use crate::package::SourceFile;
use domesday_package::{Manifest, PackageId, SigningKey, Timestamp};
use domesday_registers::Progress;
use domesday_registers::sources::{FileReport, Kind as _};
use std::path::Path;

/// The facts of a release beside its figures.
#[derive(Clone, Debug)]
pub struct ReleaseDetails {
    /// The release's id.
    pub release_id: PackageId,
    /// The build timestamp (default: midnight after the newest observation's month).
    pub created: Option<Timestamp>,
    /// The time of publication, if it is to be recorded.
    pub published_at: Option<Timestamp>,
    /// True if any source is invented.
    pub synthetic: bool,
}

/// Builds the release and writes it as `<packages>/<release_id>`, signed where there is a key. The
/// same inputs give the same bytes.
///
/// # Errors
/// See [`MarketsError`].
pub fn build(
    packages_dir: &Path,
    (about, key): (ReleaseDetails, Option<&SigningKey>),
    inputs: &Inputs,
    progress: &mut Progress<'_>,
) -> Result<(Manifest, Report), MarketsError> {
    let (draft, report) = draft(inputs, progress)?;
    let sources: Result<Vec<SourceFile>, MarketsError> = report.files.iter().map(source).collect();
    let publication = Publication {
        family: Family::Markets,
        release_id: about.release_id,
        created: about.created,
        published_at: about.published_at,
        preview_bounds: None,
        sources: sources?,
        synthetic: about.synthetic,
        notes: notes(&report, &inputs.coverage, about.synthetic),
    };
    match write_signed(packages_dir, draft, publication, key) {
        Err(BuildError::Empty) => Err(MarketsError::NoObservation {
            counted: report.sales.counted,
            transactions: report.sales.transactions,
            first: report.first_month.clone(),
            core: report.core_month.clone(),
            report: Box::new(report),
        }),
        manifest => Ok((manifest?, report)),
    }
}

/// The Open Government Licence, the terms of most registers.
const OPEN: &str = "Open Government Licence v3.0";

fn source(file: &FileReport) -> Result<SourceFile, MarketsError> {
    let (publisher, licence) = match file.register {
        name if name == Kind::PricePaid.name() || name == Kind::PriceIndex.name() => {
            ("HM Land Registry", OPEN)
        }
        name if name == Kind::Certificates.name() => (
            "Ministry of Housing, Communities and Local Government",
            "Open Government Licence v3.0, addresses excepted",
        ),
        name if name == Kind::CodePoint.name() => ("Ordnance Survey", OPEN),
        _ => ("Office for National Statistics", OPEN),
    };
    Ok(SourceFile {
        name: file.file.clone(),
        sha256: file.sha256.parse().map_err(|_| MarketsError::Digest {
            file: file.file.clone(),
        })?,
        publisher: publisher.to_owned(),
        licence: licence.to_owned(),
    })
}

fn notes(report: &Report, coverage: &[Coverage], synthetic: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if synthetic {
        notes.push(
            "Every figure is invented: the registers describe a made-up England and Wales."
                .to_owned(),
        );
    }
    notes.push(format!(
        "Price paid data is stated to {}; rents to {}.",
        report.core_month,
        report.rental_month.as_deref().unwrap_or("none"),
    ));
    if let Some(rate) = report.sales.floor_area_match_pct {
        notes.push(format!(
            "{} sales are counted; {} of them ({rate:.1} per cent) have a floor area.",
            report.sales.counted, report.sales.with_floor_area,
        ));
    }
    let covers = coverage.iter().map(|one| {
        format!(
            "Covered: {} from {} to {}.",
            one.area_code, one.months.first, one.months.last
        )
    });
    notes.extend(covers);
    notes
}
