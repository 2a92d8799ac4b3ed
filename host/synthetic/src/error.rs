//! Errors of writing a world.

use std::path::PathBuf;

/// The reason why a synthetic world could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SyntheticError {
    /// A parameter is outside of the generator's limits.
    #[error("{parameter} is {given}; it must be {allowed}")]
    Parameter {
        /// Name of the parameter.
        parameter: &'static str,
        /// The value given.
        given: String,
        /// The allowed values.
        allowed: String,
    },
    /// More postcode sectors are needed than one postcode area can hold.
    #[error("postcode area {area} is full: too many properties for {authorities} authorities")]
    AreaFull {
        /// The postcode area.
        area: String,
        /// Number of authorities of the world.
        authorities: u32,
    },
    /// A file could not be created or written.
    #[error("cannot write {path}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A CSV row could not be written.
    #[error("cannot write {path}")]
    Csv {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: csv::Error,
    },
    /// The postcode archive could not be written.
    #[error("cannot write {path}")]
    Archive {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: zip::result::ZipError,
    },
}
