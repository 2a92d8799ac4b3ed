//! Errors of files that have another format or cannot be read.

use std::io;
use std::path::PathBuf;

/// Why a file as a whole cannot be read as the register that it was given as.
///
/// A damaged row is a [`RejectedRow`](crate::RejectedRow) and reading goes on; these end it.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ReadError {
    /// The operating system refused to open the file.
    #[error("{} cannot be opened: {source}", file.display())]
    Open { file: PathBuf, source: io::Error },

    /// The medium failed, or a zipped file turned out damaged, while it was read.
    #[error("{}: line {line}: {source}", file.display())]
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
}
