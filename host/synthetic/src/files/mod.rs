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
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// One CSV file that is being written; counts its rows.
pub(crate) struct Sink {
    path: PathBuf,
    csv: csv::Writer<Output>,
    rows: u64,
}

/// The destination of a file's bytes.
enum Output {
    Plain(File),
    /// The one member of an archive.
    Zipped(Box<zip::ZipWriter<BufWriter<File>>>),
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Plain(file) => file.write(bytes),
            Output::Zipped(zip) => zip.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Plain(file) => file.flush(),
            Output::Zipped(zip) => zip.flush(),
        }
    }
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
        let file = create_file(&path)?;
        Sink::begin(path, Output::Plain(file), quotes, header)
    }

    /// Begins a file that is the member `name` of the archive `archive`, compressed.
    pub(crate) fn create_zipped(
        folder: &Path,
        archive: &str,
        name: &str,
        quotes: QuoteStyle,
        header: &[&str],
    ) -> Result<Sink, SyntheticError> {
        let path = folder.join(archive);
        let mut zip = zip::ZipWriter::new(BufWriter::new(create_file(&path)?));
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .compression_level(Some(1))
            .large_file(true)
            .last_modified_time(zip::DateTime::default());
        zip.start_file(name, options)
            .map_err(|source| SyntheticError::Archive {
                path: path.clone(),
                source,
            })?;
        Sink::begin(path, Output::Zipped(Box::new(zip)), quotes, header)
    }

    fn begin(
        path: PathBuf,
        output: Output,
        quotes: QuoteStyle,
        header: &[&str],
    ) -> Result<Sink, SyntheticError> {
        let csv = csv::WriterBuilder::new()
            .flexible(true)
            .quote_style(quotes)
            .buffer_capacity(1 << 18)
            .from_writer(output);
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
    pub(crate) fn finish(self, manifest: &mut Manifest) -> Result<(), SyntheticError> {
        let Sink { path, csv, rows } = self;
        let unwritten = |source| SyntheticError::Write {
            path: path.clone(),
            source,
        };
        let output = csv
            .into_inner()
            .map_err(|error| unwritten(error.into_error()))?;
        if let Output::Zipped(zip) = output {
            let archive = zip.finish().map_err(|source| SyntheticError::Archive {
                path: path.clone(),
                source,
            })?;
            archive
                .into_inner()
                .map_err(|error| unwritten(error.into_error()))?;
        }
        enter(manifest, &path, rows)
    }
}

fn create_file(path: &Path) -> Result<File, SyntheticError> {
    File::create(path).map_err(|source| SyntheticError::Write {
        path: path.to_owned(),
        source,
    })
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
