//! Fits and calibrates the parameters of the reference release.

use clap::{Parser, Subcommand};
use domesday_hedonic::document::{self, Document};
use domesday_hedonic::fit::calibrate::{CalibrationOptions, calibrate};
use domesday_hedonic::fit::train::train;
use domesday_hedonic::fit::{FitError, read_day};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Parameters of a build without a file.
const DEFAULTS: &str = include_str!("../../parameters.json");

/// Fit and calibrate the parameters of the reference release.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Fit the effects on sales up to a day
    Train {
        /// Exported sales, one JSON object a line, in the order of day and id
        #[arg(long)]
        sales: PathBuf,
        /// Last day of sale to use, YYYY-MM-DD
        #[arg(long)]
        train_until: String,
        /// Parameters to start from (default: the model's own)
        #[arg(long)]
        base: Option<PathBuf>,
        /// File to write the parameters to
        #[arg(long)]
        out: PathBuf,
    },
    /// Calibrate ranges on valuations of later sales
    Calibrate {
        /// Fitted parameters
        #[arg(long)]
        parameters: PathBuf,
        /// Exported valuations, one JSON object a line
        #[arg(long)]
        predictions: PathBuf,
        /// Share of prices within their ranges
        #[arg(long, default_value_t = 0.8)]
        coverage: f64,
        /// Least sales of a calibration, and of a factor of a group
        #[arg(long, default_value_t = 100)]
        least_sales: u32,
        /// Least comparables of a valuation with a range
        #[arg(long, default_value_t = 5)]
        least_comparables: u32,
        /// Count each sale alike, instead of following how the ranges held from day to day
        #[arg(long)]
        fixed: bool,
        /// Lower ends of the confidence bands, to let the ranges of each follow its own sales
        #[arg(long, value_delimiter = ',', conflicts_with = "fixed")]
        bands: Vec<f64>,
        /// File to write the parameters to
        #[arg(long)]
        out: PathBuf,
    },
}

/// A failure and its file.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("cannot open or write {}: {source}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot fit the model with {}: {source}", path.display())]
    Fit { path: PathBuf, source: FitError },
    #[error("--train-until: {0}")]
    Through(FitError),
}

fn open(path: &Path) -> Result<BufReader<File>, Failure> {
    let failed = |source| Failure::File {
        path: path.to_owned(),
        source,
    };
    File::open(path).map(BufReader::new).map_err(failed)
}

fn parameters(path: &Path) -> Result<Document, Failure> {
    let failed = |source| Failure::File {
        path: path.to_owned(),
        source,
    };
    let text = fs::read_to_string(path).map_err(failed)?;
    document::read(&text).map_err(|e| about(path, e.into()))
}

fn about(path: &Path, source: FitError) -> Failure {
    Failure::Fit {
        path: path.to_owned(),
        source,
    }
}

fn save(document: &Document, out: &Path) -> Result<(), Failure> {
    let text = document::write(document).map_err(|e| about(out, e.into()))?;
    fs::write(out, text).map_err(|source| Failure::File {
        path: out.to_owned(),
        source,
    })
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Train {
            sales,
            train_until,
            base,
            out,
        } => {
            let train_until = read_day(&train_until).map_err(Failure::Through)?;
            let base = match base {
                Some(base) => parameters(&base)?,
                None => {
                    document::read(DEFAULTS).map_err(|e| about(Path::new("defaults"), e.into()))?
                }
            };
            let fitted = train(base, open(&sales)?, train_until).map_err(|e| about(&sales, e))?;
            save(&fitted, &out)
        }
        Command::Calibrate {
            parameters: from,
            predictions,
            coverage,
            least_sales,
            least_comparables,
            fixed,
            bands,
            out,
        } => {
            let wanted = CalibrationOptions {
                coverage,
                least_sales,
                least_comparables,
                adaptive: !fixed,
                bands: &bands,
            };
            let document = parameters(&from)?;
            let found = calibrate(document, open(&predictions)?, wanted)
                .map_err(|e| about(&predictions, e))?;
            save(&found, &out)
        }
    }
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("fit: {failure}");
            ExitCode::FAILURE
        }
    }
}
