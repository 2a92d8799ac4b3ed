//! Reading all inputs.

use std::path::PathBuf;

use domesday_registers::Progress;

use super::source::{Input, InputForm};
use super::{PublishedRates, RatesError, RatesErrorKind, database, wide, workbook};

/// The files to build from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inputs {
    /// CSV files of the Bank's database, or its list of Bank Rate changes.
    pub database: Vec<PathBuf>,
    /// Yield-curve workbooks, archives of them, or curve tables.
    pub curves: Vec<PathBuf>,
    /// True if the files are invented. The manifest then says so.
    pub synthetic: bool,
}

/// Reads every file. `progress` receives each file's name, the inputs read and the inputs in all.
///
/// # Errors
///
/// The first cell that cannot be read, by file and sheet. Two files that state different values for
/// one figure contradict each other, which is an error.
pub fn read(inputs: &Inputs, progress: &mut Progress<'_>) -> Result<PublishedRates, RatesError> {
    let mut published = PublishedRates::default();
    let total = (inputs.database.len() + inputs.curves.len()) as u64;
    let mut paths_read = 0;
    for path in &inputs.database {
        let input = Input::read(path)?;
        let source = input.database_source(inputs.synthetic);
        published.sources.push(source);
        let file = input.into_file();
        progress(&file.name, paths_read, total);
        database::read(&file, &mut published)?;
        paths_read += 1;
    }
    for path in &inputs.curves {
        let input = Input::read(path)?;
        let source = input.curve_source(inputs.synthetic);
        published.sources.push(source);
        let (location, mut values) = (input.location(), 0);
        match input.form() {
            InputForm::Archive => input.for_each_workbook(|file| {
                progress(&file.name, paths_read, total);
                values += workbook::read(&file, &mut published)?;
                Ok(())
            })?,
            form => {
                let file = input.into_file();
                progress(&file.name, paths_read, total);
                values = match form {
                    InputForm::Workbook => workbook::read(&file, &mut published)?,
                    _ => wide::read(&file, &mut published)?,
                };
            }
        }
        if values == 0 {
            let empty = "holds no rate of a curve. Download it again, or leave it out";
            return Err(RatesErrorKind::NoValue(empty).at(location));
        }
        paths_read += 1;
    }
    Ok(published)
}
