//! Reading all inputs.

use std::path::PathBuf;

use super::source::File;
use super::{PublishedRates, RatesError, RatesErrorKind, database, wide, workbook};

/// The files to build from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inputs {
    /// CSV files of the Bank's database, or its list of Bank Rate changes.
    pub database: Vec<PathBuf>,
    /// Yield-curve workbooks, archives of them, or curve tables.
    pub curves: Vec<PathBuf>,
    /// Whether the files are invented: they are then named as such in the manifest.
    pub synthetic: bool,
}

/// Reads every file. `progress` receives each file's name before the file is read.
///
/// # Errors
///
/// The first thing that cannot be read as what it should be, by file, sheet and cell. Two files
/// that state different values for one figure contradict each other, and nothing is chosen between
/// them.
pub fn read(inputs: &Inputs, mut progress: impl FnMut(&str)) -> Result<PublishedRates, RatesError> {
    let mut published = PublishedRates::default();
    for path in &inputs.database {
        for file in File::read(path, inputs.synthetic, &mut published.sources)? {
            progress(&file.name);
            database::read(&file, &mut published)?;
        }
    }
    for path in &inputs.curves {
        for file in File::read(path, inputs.synthetic, &mut published.sources)? {
            progress(&file.name);
            let lower = file.name.to_lowercase();
            if lower.ends_with(".csv") {
                wide::read(&file, &mut published)?;
            } else if lower.ends_with(".xlsx") || lower.ends_with(".xls") {
                workbook::read(&file, &mut published)?;
            } else {
                let fault = RatesErrorKind::Layout("is no workbook, archive or curve table");
                return Err(fault.at(file.location()));
            }
        }
    }
    Ok(published)
}
