//! Files and members of archives, read whole, with their digests.

use std::io::{Cursor, Read};
use std::path::Path;

use domesday_package::Sha256Digest;

use super::{RatesError, RatesErrorKind, SourceLocation};
use crate::package::SourceFile;

/// One file in memory.
pub(super) struct File {
    /// Its name; a member of an archive is `archive.zip!member`.
    pub(super) name: String,
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
}

/// The largest member of an archive that is read, bytes.
const LARGEST_MEMBER: u64 = 256 << 20;

impl File {
    /// Reads a file; of an archive its workbooks, in the order of their names. `sources` receives
    /// the digest of the file itself.
    pub(super) fn read(
        path: &Path,
        synthetic: bool,
        sources: &mut Vec<SourceFile>,
    ) -> Result<Vec<File>, RatesError> {
        let bytes = std::fs::read(path).map_err(|error| RatesError::Io {
            path: path.to_owned(),
            error,
        })?;
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        sources.push(source(&name, &bytes, synthetic));
        if path.extension().is_some_and(|extension| extension == "zip") {
            let location = SourceLocation {
                file: name.clone(),
                sheet: None,
                cell: None,
            };
            return members(&name, bytes).map_err(|fault| fault.at(location));
        }
        Ok(vec![File { name, bytes }])
    }

    /// Returns the file itself as a location.
    pub(super) fn location(&self) -> SourceLocation {
        SourceLocation {
            file: self.name.clone(),
            sheet: None,
            cell: None,
        }
    }
}

/// Returns the workbooks of an archive.
fn members(archive: &str, bytes: Vec<u8>) -> Result<Vec<File>, RatesErrorKind> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes))?;
    let mut names = zip
        .file_names()
        .map(|name| name.map(std::borrow::Cow::into_owned))
        .collect::<Result<Vec<String>, _>>()?;
    names.sort();
    let mut files = Vec::new();
    for name in names {
        let lower = name.to_lowercase();
        if !(lower.ends_with(".xlsx") || lower.ends_with(".xls")) {
            continue;
        }
        let member = zip.by_name(&name)?;
        let mut content = Vec::new();
        let read = member
            .take(LARGEST_MEMBER + 1)
            .read_to_end(&mut content)
            .map_err(zip::result::ZipError::from)? as u64;
        if read > LARGEST_MEMBER {
            return Err(RatesErrorKind::Layout(
                "holds a member of more than 256 MiB",
            ));
        }
        let short = name.rsplit('/').next().unwrap_or(&name);
        files.push(File {
            name: format!("{archive}!{short}"),
            bytes: content,
        });
    }
    if files.is_empty() {
        return Err(RatesErrorKind::Layout("holds no workbook"));
    }
    Ok(files)
}

/// Returns the manifest's entry of a file of the Bank.
fn source(name: &str, bytes: &[u8], synthetic: bool) -> SourceFile {
    let (publisher, licence) = if synthetic {
        ("domesday", "invented; no publisher's data")
    } else if name.ends_with(".csv") {
        ("Bank of England", "Open Government Licence v3.0")
    } else {
        ("Bank of England", "Bank of England terms of use")
    };
    SourceFile {
        name: name.to_owned(),
        sha256: Sha256Digest::of(bytes),
        publisher: publisher.to_owned(),
        licence: licence.to_owned(),
    }
}
