//! Where a comparison goes.

use super::report_file::{ReportFile, check_distinct};
use anyhow::Context;
use domesday_evaluation::compare::comparison::Comparison;
use domesday_evaluation::compare::html::page;
use domesday_evaluation::compare::summary::summary;
use std::path::PathBuf;

/// The files that were asked for.
#[derive(Debug, clap::Args)]
pub struct ReportFileArgs {
    /// Write an HTML report with plots.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write all metrics as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The same, open.
pub struct OpenReportFiles {
    report: Option<ReportFile>,
    json: Option<ReportFile>,
}

impl ReportFileArgs {
    /// Opens the files, before any work is done for them. What stands in them stays until they are
    /// written.
    ///
    /// # Errors
    /// Where one cannot be written, or both are one.
    pub fn open(&self) -> anyhow::Result<OpenReportFiles> {
        let files = OpenReportFiles {
            report: ReportFile::open_optional(self.report.as_deref())?,
            json: ReportFile::open_optional(self.json.as_deref())?,
        };
        check_distinct(&[("--report", &files.report), ("--json", &files.json)])?;
        Ok(files)
    }
}

impl OpenReportFiles {
    /// Writes the files, and then prints the comparison.
    ///
    /// # Errors
    /// Where one cannot be written.
    pub fn write(self, comparison: &Comparison) -> anyhow::Result<()> {
        if let Some(json) = self.json {
            json.write_json(comparison)?;
        }
        if let Some(report) = self.report {
            report.write(page(comparison).context("the page")?.as_bytes())?;
        }
        print!("{}", summary(comparison));
        Ok(())
    }
}
