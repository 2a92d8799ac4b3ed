//! Errors of files that have another format or cannot be read.

use crate::diagnosis::Diagnosis;
use crate::unused_rows::{MaxRejected, UnusedRows};
use std::io;
use std::path::PathBuf;

/// The reason why a file as a whole cannot be read as the stated register.
///
/// A damaged row is a [`RejectedRow`](crate::RejectedRow) and reading goes on; these end it.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ReadError {
    /// The operating system refused to open the file.
    #[error("{} cannot be opened: {source}", file.display())]
    Open { file: PathBuf, source: io::Error },

    /// The medium failed, or a zipped file turned out damaged, while it was read.
    #[error("cannot read {} at line {line}: {source}; download it again", file.display())]
    Io {
        file: PathBuf,
        line: u64,
        source: io::Error,
    },

    /// Nothing to read.
    #[error("{} is empty; download it again", file.display())]
    Empty { file: PathBuf },

    /// The archive's directory cannot be read.
    #[error("{} is not a readable zip file ({reason}); download it again", file.display())]
    BadZip { file: PathBuf, reason: String },

    /// The archive holds no table of the register.
    #[error("{} holds no table of the {register}; give the zip file as the publisher ships it", file.display())]
    NoMember {
        file: PathBuf,
        register: &'static str,
    },

    /// A table's first line lacks a column that the register has.
    #[error("{}: line {line}: no column {}; is this the {register}?", file.display(), columns.join(", "))]
    MissingColumn {
        file: PathBuf,
        line: u64,
        columns: Vec<String>,
        register: &'static str,
    },

    /// The first line is not this register's.
    #[error("{}: line {line} is not {expected}; is this the {register}?", file.display())]
    WrongRegister {
        file: PathBuf,
        line: u64,
        expected: &'static str,
        register: &'static str,
    },

    /// The first line is damaged, so the columns are unknown.
    #[error("{}: line {line}: {reason}; the columns cannot be known, download the file again", file.display())]
    BadFirstLine {
        file: PathBuf,
        line: u64,
        reason: crate::RejectReason,
    },

    /// The file's form is another one, which shows how to repair it.
    #[error("{}: {}; it was given as the {register}", file.display(), form(diagnosis, *in_archive))]
    Form {
        file: PathBuf,
        diagnosis: Diagnosis,
        /// True if the file is a member of an archive.
        in_archive: bool,
        register: &'static str,
    },

    /// Column names, and nothing below them.
    #[error("{}: no row follows the column names of the {register}; download it again", file.display())]
    NoRows {
        file: PathBuf,
        register: &'static str,
    },

    /// More rows are rejected than a build takes.
    #[error(
        "{}: {rejected} of {rows} rows are rejected, and the limit is {limit} per cent (--max-rejected): {unused}",
        file.display()
    )]
    TooManyRejected {
        file: PathBuf,
        rejected: u64,
        rows: u64,
        limit: MaxRejected,
        unused: Box<UnusedRows>,
    },

    /// Not one row is of use.
    #[error("{}: none of its {rows} rows is of use to the build as the {register}: {unused}", file.display())]
    NothingKept {
        file: PathBuf,
        register: &'static str,
        rows: u64,
        unused: Box<UnusedRows>,
    },
}

fn form(diagnosis: &Diagnosis, in_archive: bool) -> String {
    match in_archive {
        true => diagnosis.in_archive(),
        false => diagnosis.to_string(),
    }
}
