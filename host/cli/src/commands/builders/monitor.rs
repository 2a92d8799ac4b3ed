//! `domesday release monitor`: how far off a release is on sales that were registered since.

use super::sale_days::check_sale_days;
use crate::commands::ReleasesFolder;
use crate::commands::compile_cache_arg::CompiledFolder;
use crate::commands::progress::ProgressLine;
use crate::commands::report_file::{ReportFile, check_distinct};
use crate::commands::trust::UnsignedPackages;
use anyhow::Context;
use chrono::NaiveDate;
use domesday_engine::config::Allocation;
use domesday_evaluation::monitor::Verdict;
use domesday_evaluation::monitor::html::page;
use domesday_evaluation::monitor::metrics::metrics;
use domesday_evaluation::monitor::summary::summary;
use domesday_evaluation::report::Report;
use domesday_package::{Kind, PackageId, PropertyBody, open};
use domesday_property::Snapshot;
use domesday_refresh::monitor_exit::{ALARMED, NOTHING_JUDGED};
use domesday_registers::Day;
use domesday_release_tools::backtest::EVIDENCE_LAG_DAYS;
use domesday_release_tools::monitor::{ALARM, MonitorOptions, run};
use domesday_valuation::release_store::open_release;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Monitor {
    /// Id of the release.
    release: PackageId,
    /// Id of a later snapshot of the same registers.
    #[arg(long, value_name = "ID")]
    later_snapshot: PackageId,
    /// First day of the sales (default: the day after the latest sale of the release's snapshot).
    #[arg(long, value_name = "DATE")]
    from: Option<NaiveDate>,
    /// Last day of the sales (default: the day of the later snapshot's latest sale).
    #[arg(long, value_name = "DATE")]
    to: Option<NaiveDate>,
    /// Raise an alarm where a segment's median error moved by this share of the price.
    #[arg(long, value_name = "SHARE", default_value_t = ALARM, value_parser = parse_share)]
    alarm: f64,
    /// Days that registers lag by: a window that ended within them raises no alarm.
    #[arg(long, value_name = "DAYS", default_value_t = EVIDENCE_LAG_DAYS, value_parser = clap::value_parser!(u16).range(..=3_660))]
    evidence_lag: u16,
    /// Write an HTML report with a plot.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write all figures as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the latest complete window as metrics, for a collector of text files.
    #[arg(long, value_name = "FILE.prom")]
    metrics: Option<PathBuf>,
    #[command(flatten)]
    releases: ReleasesFolder,
    #[command(flatten)]
    compiled: CompiledFolder,
    #[command(flatten)]
    unsigned: UnsignedPackages,
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("expected a share between 0 and 1, such as 0.05".to_owned()),
    }
}

impl Monitor {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        check_sale_days(self.from, self.to)?;
        let html = ReportFile::open_optional(self.report.as_deref())?;
        let json = ReportFile::open_optional(self.json.as_deref())?;
        let prom = ReportFile::open_optional(self.metrics.as_deref())?;
        check_distinct(&[("--report", &html), ("--json", &json), ("--metrics", &prom)])?;
        let root = &self.releases.releases;
        let trust = self.unsigned.trust(root)?;
        let runtime = self.compiled.runtime(Allocation::OnDemand)?;
        let id = self.release.as_str();
        let release = open_release(root, id, &trust, &runtime, &mut BTreeMap::new())?;
        let backtest = match &release.manifest.backtest {
            None => None,
            Some(file) => {
                let package = open(&root.join(Kind::Valuation.as_str()).join(id), &trust)?;
                let stored: Report = serde_json::from_slice(&package.bytes(file.as_str())?)
                    .with_context(|| {
                        format!(
                            "{id} has a back-test that another version made; build the release anew"
                        )
                    })?;
                Some(stored)
            }
        };
        let later_id = self.later_snapshot.as_str();
        let package = open(&root.join(Kind::Property.as_str()).join(later_id), &trust)
            .with_context(|| format!("--later-snapshot {later_id}"))?;
        let body: PropertyBody = package.body()?;
        let later = Snapshot::open(&package.path(body.database.as_str())?)?;
        let options = MonitorOptions {
            from: self.from.map(Day::from),
            to: self.to.map(Day::from),
            alarm: self.alarm,
            evidence_lag_days: self.evidence_lag,
        };
        let mut progress = ProgressLine::new();
        let report = run(
            &release,
            backtest.as_ref(),
            (later_id, &later),
            &options,
            &mut |stage, done, total| progress.show(stage, done, total),
        )?;
        drop(progress);
        if let Some(output) = html {
            output.write(page(&report)?.as_bytes())?;
        }
        if let Some(output) = json {
            output.write_json(&report)?;
        }
        if let Some(output) = prom {
            output.write(metrics(&report)?.as_bytes())?;
        }
        print!("{}", summary(&report));
        Ok(match report.verdict() {
            Verdict::NoWindow | Verdict::TooFew(_) => ExitCode::from(NOTHING_JUDGED),
            Verdict::Alarm(_) => ExitCode::from(ALARMED),
            Verdict::NoAlarm(_) => ExitCode::SUCCESS,
        })
    }
}
