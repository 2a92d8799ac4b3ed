//! `domesday release backtest`: how far off a release is on sales that it had not seen.

use super::sale_days::check_sale_days;
use crate::commands::ReleasesFolder;
use crate::commands::compile_cache_arg::CompiledFolder;
use crate::commands::progress::ProgressLine;
use crate::commands::report_file::{ReportFile, check_distinct};
use crate::commands::trust::UnsignedPackages;
use anyhow::bail;
use chrono::NaiveDate;
use domesday_engine::config::Allocation;
use domesday_evaluation::html::page;
use domesday_evaluation::lines;
use domesday_evaluation::report::AsAt;
use domesday_evaluation::request_shape::RequestShape;
use domesday_evaluation::summary::summary;
use domesday_package::{Kind, PackageId, PropertyBody, Trust, open};
use domesday_registers::Day;
use domesday_release_tools::backtest::{
    BacktestInput, BacktestOptions, EVIDENCE_LAG_DAYS, report_json, run,
};
use domesday_valuation::release_store::open_release;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Backtest {
    /// Id of the release.
    release: PackageId,
    /// First day of the sales to value.
    #[arg(long, value_name = "DATE")]
    from: NaiveDate,
    /// Last day of the sales to value.
    #[arg(long, value_name = "DATE")]
    to: NaiveDate,
    /// Maximum number of sales, sampled evenly.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sample: Option<u32>,
    /// Valuation day of a sale: its own day, or the first of its month.
    #[arg(long, value_enum, default_value_t = Moment::Sale)]
    as_at: Moment,
    /// Part of the home's size that the requests state.
    #[arg(long, value_enum, default_value_t = Request::Stored)]
    request: Request,
    /// Days that registers lag by: hides evidence registered within them before the valuation day.
    #[arg(long, value_name = "DAYS", default_value_t = EVIDENCE_LAG_DAYS, value_parser = clap::value_parser!(u16).range(..=3_660))]
    evidence_lag: u16,
    /// Homes of the leakage probe at each of three days (0 disables it).
    #[arg(long, value_name = "N", default_value_t = 100)]
    leakage_probe: u16,
    /// Allow a window that the release was trained on; every output says so.
    #[arg(long)]
    allow_overlap: bool,
    /// Write an HTML report with plots.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write all metrics as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write one CSV row per sale, with its prediction.
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,
    #[command(flatten)]
    releases: ReleasesFolder,
    #[command(flatten)]
    compiled: CompiledFolder,
    #[command(flatten)]
    unsigned: UnsignedPackages,
}

/// The day that a sale is valued as at.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Moment {
    /// The day of the sale.
    Sale,
    /// The first day of its month.
    Month,
}

/// Part of a home's size that a request states.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Request {
    /// Bedrooms, and stored data gives the rest.
    Stored,
    /// The floor area and bedrooms, without stored data.
    Area,
    /// Bedrooms, of a home without stored data.
    Bedrooms,
}

impl Backtest {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        check_sale_days(Some(self.from), Some(self.to))?;
        let html = ReportFile::open_optional(self.report.as_deref())?;
        let json = ReportFile::open_optional(self.json.as_deref())?;
        let csv = ReportFile::open_optional(self.rows.as_deref())?;
        check_distinct(&[("--report", &html), ("--json", &json), ("--rows", &csv)])?;
        let root = &self.releases.releases;
        let id = self.release.as_str();
        let trust = self.unsigned.trust(root)?;
        let runtime = self.compiled.runtime(Allocation::OnDemand)?;
        let open_release = open_release(root, id, &trust, &runtime, &mut BTreeMap::new())?;
        let snapshot = open_release.manifest.snapshot.id.as_str();
        // The package is verified already. Only its manifest is read here.
        let package = open(
            &root.join(Kind::Property.as_str()).join(snapshot),
            &Trust::Unsigned,
        )?;
        let body: PropertyBody = package.body()?;
        let options = BacktestOptions {
            from: Day::from(self.from),
            to: Day::from(self.to),
            as_at: match self.as_at {
                Moment::Sale => AsAt::Sale,
                Moment::Month => AsAt::Month,
            },
            request: match self.request {
                Request::Stored => RequestShape::Stored,
                Request::Area => RequestShape::Area,
                Request::Bedrooms => RequestShape::Bedrooms,
            },
            evidence_lag_days: self.evidence_lag,
            sample: self.sample.map(|rows| rows as usize),
            probe_homes: usize::from(self.leakage_probe),
            allow_overlap: self.allow_overlap,
        };
        let tested = BacktestInput {
            manifest: &open_release.manifest,
            release: &open_release.release,
            snapshot: &open_release.snapshot,
            database: &package.path(body.database.as_str())?,
            synthetic: body.synthetic,
        };
        let mut progress = ProgressLine::new();
        let (report, rows) = run(&tested, &options, &mut |stage, done, total| {
            progress.show(stage, done, total);
        })?;
        drop(progress);
        if let Some(json) = json {
            json.write(report_json(&report)?.as_bytes())?;
        }
        if let Some(csv) = csv {
            let mut text = Vec::new();
            lines::write(&rows, &mut text)?;
            csv.write(&text)?;
        }
        if let Some(html) = html {
            html.write(page(&report)?.as_bytes())?;
        }
        print!("{}", summary(&report));
        // Last, so that a person can read the findings.
        match &report.leakage_probe {
            Some(probe) if !probe.passed => {
                bail!(
                    "the leakage probe failed: the release or its evidence sees the future. \
                     `leakage_probe` in the file of --json names the first home that differs"
                )
            }
            _ => Ok(ExitCode::SUCCESS),
        }
    }
}
