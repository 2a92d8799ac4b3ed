//! Where a comparison goes.

use super::report_file::{Output, all_others};
use anyhow::Context;
use domesday_evaluation::compare::comparison::Comparison;
use domesday_evaluation::compare::html::page;
use domesday_evaluation::compare::summary::summary;
use std::path::PathBuf;

/// The files that were asked for.
#[derive(Debug, clap::Args)]
pub struct Outputs {
    /// Write an HTML report with plots.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write all metrics as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The same, open.
pub struct OpenReportFiles {
    report: Option<Output>,
    json: Option<Output>,
}

impl Outputs {
    /// Opens the files, before any work is done for them. What stands in them stays until they are
    /// written.
    ///
    /// # Errors
    /// Where one cannot be written, or both are one.
    pub fn open(&self) -> anyhow::Result<OpenReportFiles> {
        let opened = OpenReportFiles {
            report: Output::wanted(self.report.as_deref())?,
            json: Output::wanted(self.json.as_deref())?,
        };
        all_others(&[("--report", &opened.report), ("--json", &opened.json)])?;
        Ok(opened)
    }
}

impl OpenReportFiles {
    /// Writes the files, and then prints the comparison.
    ///
    /// # Errors
    /// Where one cannot be written.
    pub fn write(self, found: &Comparison) -> anyhow::Result<()> {
        if let Some(json) = self.json {
            json.write_json(found)?;
        }
        if let Some(report) = self.report {
            report.write(page(found).context("the page")?.as_bytes())?;
        }
        print!("{}", summary(found));
        Ok(())
    }
}
