//! The publishers' file formats, one module each.

pub(crate) mod addresses;
pub(crate) mod areas;
pub(crate) mod certificates;
pub(crate) mod code_point;
pub(crate) mod price_index;
pub(crate) mod price_paid;
pub(crate) mod readme;
pub(crate) mod rents;
pub(crate) mod truth;

use crate::manifest::FileSize;
use crate::{Manifest, SyntheticError};
use csv::QuoteStyle;
use std::fs::File;
use std::path::{Path, PathBuf};

/// One CSV file that is being written; counts its rows.
pub(crate) struct Sink {
    path: PathBuf,
    csv: csv::Writer<File>,
    rows: u64,
}

impl Sink {
    /// Begins a file; `header` is written unless it is empty.
    pub(crate) fn create(
        folder: &Path,
        name: &str,
        quotes: QuoteStyle,
        header: &[&str],
    ) -> Result<Sink, SyntheticError> {
        let path = folder.join(name);
        let file = File::create(&path).map_err(|source| SyntheticError::Write {
            path: path.clone(),
            source,
        })?;
        let csv = csv::WriterBuilder::new()
            .flexible(true)
            .quote_style(quotes)
            .buffer_capacity(1 << 18)
            .from_writer(file);
        let mut sink = Sink { path, csv, rows: 0 };
        if !header.is_empty() {
            sink.row(header)?;
            sink.rows = 0;
        }
        Ok(sink)
    }

    /// Writes one row of any number of cells.
    pub(crate) fn row<T: AsRef<[u8]>>(
        &mut self,
        cells: impl IntoIterator<Item = T>,
    ) -> Result<(), SyntheticError> {
        self.rows += 1;
        self.csv
            .write_record(cells)
            .map_err(|source| SyntheticError::Csv {
                path: self.path.clone(),
                source,
            })
    }

    /// Ends the file and enters it in the manifest.
    pub(crate) fn finish(mut self, manifest: &mut Manifest) -> Result<(), SyntheticError> {
        self.csv.flush().map_err(|source| SyntheticError::Write {
            path: self.path.clone(),
            source,
        })?;
        enter(manifest, &self.path, self.rows)
    }
}

/// Enters a finished file in the manifest.
pub(crate) fn enter(manifest: &mut Manifest, path: &Path, rows: u64) -> Result<(), SyntheticError> {
    let bytes = std::fs::metadata(path)
        .map_err(|source| SyntheticError::Write {
            path: path.to_owned(),
            source,
        })?
        .len();
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    manifest.files.insert(name, FileSize { rows, bytes });
    Ok(())
}
