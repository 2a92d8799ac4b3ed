//! A file that a build would lack.

use crate::file_kind::FileKind;
use std::path::PathBuf;

/// A file of an earlier search that no build can take now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsentFile {
    /// Its path.
    pub path: PathBuf,
    /// Its kind by the earlier search.
    pub kind: FileKind,
    /// Time of its last change by the earlier search, in seconds since 1970.
    pub modified: u64,
    /// The reason.
    pub absence: Absence,
}

/// The reason why no build can take a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// It may still be arriving.
    Arriving,
    /// It cannot be read, or its folder cannot.
    Unreadable,
    /// It is of no known kind any more.
    Unknown,
    /// It is gone and its folder is empty, as where that is not mounted.
    Unmounted,
    /// It is gone, and a file that may replace it is still arriving.
    GoneWhileArriving,
    /// It is gone, and a file that may replace it cannot be read.
    GoneWhileUnreadable,
}

impl AbsentFile {
    /// Reports whether a later round can take it without a person.
    pub(crate) fn is_arriving(&self) -> bool {
        matches!(self.absence, Absence::Arriving | Absence::GoneWhileArriving)
    }

    /// Returns the reason for a person.
    pub(crate) fn text(&self) -> String {
        let path = self.path.display();
        match self.absence {
            Absence::Arriving => format!("{path} is still arriving"),
            Absence::Unreadable => format!("{path} cannot be read"),
            Absence::Unknown => {
                format!("{path} is of no known kind any more; repair it or remove it")
            }
            Absence::Unmounted => {
                format!("{path} is gone and its folder is empty; mount the folder or remove it")
            }
            Absence::GoneWhileArriving => {
                format!("{path} is gone, and a file that may replace it is still arriving")
            }
            Absence::GoneWhileUnreadable => {
                format!("{path} is gone, and a file that may replace it cannot be read")
            }
        }
    }
}
