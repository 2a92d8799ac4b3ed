//! `domesday bench`: what a running host can do.

use super::report_file::ReportFile;
use anyhow::{Context, bail, ensure};
use domesday_bench::bench::{BenchOptions, MOST_ROWS, bench};
use domesday_bench::html::page;
use domesday_server::demo::REQUEST;
use serde_json::Value;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Arguments of `bench`.
#[derive(Debug, clap::Args)]
pub struct Bench {
    /// Address of the host.
    #[arg(default_value = "http://127.0.0.1:8080", value_name = "URL")]
    url: String,
    /// File of the key. Each value costs a unit of its tenant.
    #[arg(long, default_value = "domesday-data/demo.key", value_name = "FILE")]
    key_file: PathBuf,
    /// Requests for a single value as JSON, one a line (default: a home of the demo).
    #[arg(long, value_name = "FILE")]
    homes: Option<PathBuf>,
    /// Page of the host's metrics, such as http://127.0.0.1:9464/metrics, for its processor time.
    #[arg(long, value_name = "URL")]
    metrics: Option<String>,
    /// Seconds of each load.
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3_600))]
    seconds: u32,
    /// Connections at once, one load each. Separated by commas.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8, 64], value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=4_096))]
    connections: Vec<u32>,
    /// Homes in a batch (0: no batch).
    #[arg(long, default_value_t = MOST_ROWS, value_name = "N")]
    batch_rows: usize,
    /// Write a page with a plot.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write all figures as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Bench {
    /// Measures the host and prints the figures.
    ///
    /// # Errors
    /// The host does not value the first home, or a file cannot be read or written.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        ensure!(
            self.batch_rows <= MOST_ROWS,
            "--batch-rows {}: a batch has at most {MOST_ROWS} homes",
            self.batch_rows
        );
        let html = ReportFile::open_optional(self.report.as_deref())?;
        let json = ReportFile::open_optional(self.json.as_deref())?;
        let options = self.options()?;
        let runtime = tokio::runtime::Runtime::new().context("cannot start the load generator")?;
        let report = runtime.block_on(bench(&options, &|line| eprintln!("{line}")))?;
        if let Some(file) = json {
            file.write_json(&report)?;
        }
        if let Some(file) = html {
            file.write(page(&report)?.as_bytes())?;
        }
        print!("{}", report.text());
        Ok(match report.has_troubles() {
            true => ExitCode::FAILURE,
            false => ExitCode::SUCCESS,
        })
    }

    fn options(&self) -> anyhow::Result<BenchOptions> {
        let key = std::fs::read_to_string(&self.key_file).with_context(|| {
            format!(
                "cannot read the key in {}; name another file with --key-file",
                self.key_file.display()
            )
        })?;
        let connections = self.connections.iter();
        Ok(BenchOptions {
            url: self.url.clone(),
            key: key.trim().to_owned(),
            metrics_url: self.metrics.clone(),
            homes: self.homes()?,
            duration: Duration::from_secs(self.seconds.into()),
            connections: connections.map(|&it| it as usize).collect(),
            batch_rows: self.batch_rows,
        })
    }

    fn homes(&self) -> anyhow::Result<Vec<Value>> {
        let Some(path) = &self.homes else {
            return Ok(vec![serde_json::from_str(REQUEST)?]);
        };
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the homes in {}", path.display()))?;
        let lines = text
            .lines()
            .zip(1..)
            .filter(|(line, _)| !line.trim().is_empty());
        let homes: Vec<Value> = lines
            .map(|(line, number)| {
                serde_json::from_str(line)
                    .with_context(|| format!("{}:{number} is not JSON", path.display()))
            })
            .collect::<anyhow::Result<_>>()?;
        if homes.is_empty() {
            bail!(
                "{} has no request; write one JSON body a line",
                path.display()
            );
        }
        Ok(homes)
    }
}
