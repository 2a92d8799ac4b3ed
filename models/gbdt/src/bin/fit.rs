//! Makes the parameters of a release of gradient-boosted trees.

use clap::{Parser, Subcommand};
use domesday_gbdt::assembly::{self, Document, DocumentError};
use domesday_gbdt::fit::expected_rows::{self, ExpectedRowsError};
use domesday_gbdt::fit::trees::{self, FOLDER, TreesError, find_model, with_trees};
use domesday_gbdt::fit::{FitError, calibrate_ranges, fit_reference, mapping};
use domesday_gbdt::mapping::Mapping;
use domesday_hedonic::fit::calibrate::CalibrationOptions;
use domesday_hedonic::fit::read_day;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Folder of the mapping, the training script and the trained model, unless the team names another.
const OWN: &str = env!("CARGO_MANIFEST_DIR");

fn folder() -> PathBuf {
    std::env::var_os(FOLDER).map_or_else(|| PathBuf::from(OWN), PathBuf::from)
}

/// Make the parameters of a release of gradient-boosted trees.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Fit the reference model on sales up to a day
    Train {
        /// Exported sales, one JSON object a line, in the order of day and id
        #[arg(long)]
        sales: PathBuf,
        /// Last day of sale to use, YYYY-MM-DD
        #[arg(long)]
        train_until: String,
        /// File to write the parameters to
        #[arg(long)]
        out: PathBuf,
    },
    /// Take the trees of model.txt or model.json, or train them on exported features
    Learn {
        /// Parameters with a fitted reference model
        #[arg(long)]
        parameters: PathBuf,
        /// Features that the component exported, as CSV
        #[arg(long)]
        features: PathBuf,
        /// File to write the parameters to
        #[arg(long)]
        out: PathBuf,
    },
    /// Calibrate ranges on valuations of later sales
    Calibrate {
        /// Parameters with trees
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
    #[error("cannot read or write {}: {source}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot fit the model with {}: {source}", path.display())]
    Fit {
        path: PathBuf,
        source: Box<FitError>,
    },
    #[error("cannot use {}: {source}", path.display())]
    Document {
        path: PathBuf,
        source: Box<DocumentError>,
    },
    #[error("--train-until: {0}")]
    Through(domesday_hedonic::fit::FitError),
    #[error(transparent)]
    Learn(#[from] TreesError),
    #[error(transparent)]
    Expected(#[from] ExpectedRowsError),
    #[error("cannot use {}: {source}", path.display())]
    Model {
        path: PathBuf,
        source: domesday_trees::ModelError,
    },
}

fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Failure + use<> {
    let path = path.to_owned();
    move |source| Failure::File { path, source }
}

fn fit(path: &Path) -> impl FnOnce(FitError) -> Failure + use<> {
    let path = path.to_owned();
    move |source| Failure::Fit {
        path,
        source: Box::new(source),
    }
}

fn open(path: &Path) -> Result<BufReader<File>, Failure> {
    File::open(path).map(BufReader::new).map_err(file(path))
}

fn parameters(path: &Path) -> Result<Document, Failure> {
    let text = fs::read_to_string(path).map_err(file(path))?;
    let read = assembly::read(&text).map_err(|source| Failure::Document {
        path: path.to_owned(),
        source: Box::new(source),
    })?;
    Ok(read.0)
}

fn read_mapping(folder: &Path) -> Result<Mapping, Failure> {
    let path = folder.join("mapping.toml");
    let text = fs::read_to_string(&path).map_err(file(&path))?;
    mapping(&text).map_err(fit(&path))
}

fn save(document: &Document, out: &Path) -> Result<(), Failure> {
    let text = assembly::write(document).map_err(|source| Failure::Document {
        path: out.to_owned(),
        source: Box::new(source),
    })?;
    fs::write(out, text).map_err(file(out))
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Train {
            sales,
            train_until,
            out,
        } => {
            let train_until = read_day(&train_until).map_err(Failure::Through)?;
            let mapping = read_mapping(&folder())?;
            // Before the fit, which takes minutes.
            find_model(&folder(), mapping.train)?;
            let begun = fit_reference(mapping, open(&sales)?, train_until).map_err(fit(&sales))?;
            save(&begun, &out)
        }
        Command::Learn {
            parameters: from,
            features,
            out,
        } => {
            let document = parameters(&from)?;
            let folder = folder();
            let Some(path) = find_model(&folder, read_mapping(&folder)?.train)? else {
                let text = out.with_extension("txt");
                let trained = trees::train(&folder, Path::new(OWN), &features, &text)?;
                return save(&with_trees(document, trained, Vec::new()), &out);
            };
            let model = trees::read(&path)?;
            let is_categorical = |column: &str| document.mapping.is_categorical(column);
            let read = domesday_trees::read_with(&model, &is_categorical).map_err(|source| {
                Failure::Model {
                    path: path.clone(),
                    source,
                }
            })?;
            let expected = expected_rows::read(&folder, &read.inputs, &document.mapping)?;
            save(&with_trees(document, model, expected), &out)
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
            let found = calibrate_ranges(document, open(&predictions)?, wanted)
                .map_err(fit(&predictions))?;
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
