//! Files and members of archives, read whole, with their digests.

use std::io::{Cursor, Read};
use std::path::Path;

use domesday_package::Sha256Digest;
use domesday_registers::BytesRead;
use domesday_registers::zip_source::{self, Member};

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
    /// Returns the file itself as a location.
    pub(super) fn location(&self) -> SourceLocation {
        location(&self.name)
    }
}

/// An input on disk: one file, or an archive of workbooks.
pub(super) struct Input {
    name: String,
    bytes: Vec<u8>,
    form: InputForm,
}

/// The publisher and the licence of a file.
type Terms = (&'static str, &'static str);

const DATABASE: Terms = ("Bank of England", "Open Government Licence v3.0");
const WORKBOOKS: Terms = ("Bank of England", "Bank of England terms of use");
const INVENTED: Terms = ("domesday", "invented; no publisher's data");
const UNSTATED: Terms = ("publisher not stated", "licence not stated");

/// The form of an input, by its content.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InputForm {
    /// A workbook of either format.
    Workbook,
    /// A zip archive that is no workbook.
    Archive,
    /// Any other file.
    Text,
}

impl Input {
    /// Reads an input. The members of an archive stay packed.
    pub(super) fn read(path: &Path) -> Result<Input, RatesError> {
        let bytes = std::fs::read(path).map_err(|error| RatesError::Io {
            path: path.to_owned(),
            error,
        })?;
        let name = path.file_name();
        let name = name.map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let is_workbook = zip_source::is_workbook(Cursor::new(&bytes))
            .map_err(|problem| RatesErrorKind::from(problem).at(location(&name)))?;
        let form = match is_workbook {
            true => InputForm::Workbook,
            false if zip_source::is_zip(&bytes) => InputForm::Archive,
            false => InputForm::Text,
        };
        Ok(Input { name, bytes, form })
    }

    /// Returns its form.
    pub(super) fn form(&self) -> InputForm {
        self.form
    }

    /// Returns the file as it is on disk.
    pub(super) fn into_file(self) -> File {
        File {
            name: self.name,
            bytes: self.bytes,
        }
    }

    /// Returns the file on disk as a location.
    pub(super) fn location(&self) -> SourceLocation {
        location(&self.name)
    }

    /// Returns the manifest's entry of an export of the Bank's database.
    pub(super) fn database_source(&self, synthetic: bool) -> SourceFile {
        self.source(if synthetic { INVENTED } else { DATABASE })
    }

    /// Returns the manifest's entry of a file of curves. The Bank publishes workbooks; a table does
    /// not say whose it is.
    pub(super) fn curve_source(&self, synthetic: bool) -> SourceFile {
        self.source(match self.form {
            _ if synthetic => INVENTED,
            InputForm::Text => UNSTATED,
            InputForm::Workbook | InputForm::Archive => WORKBOOKS,
        })
    }

    /// Returns the manifest's entry of the file on disk under these terms.
    fn source(&self, (publisher, licence): Terms) -> SourceFile {
        SourceFile {
            name: self.name.clone(),
            sha256: Sha256Digest::of(&self.bytes),
            publisher: publisher.to_owned(),
            licence: licence.to_owned(),
        }
    }

    /// Calls `each` with an archive's workbooks, one at a time in the order of their names.
    pub(super) fn for_each_workbook(
        &self,
        mut each: impl FnMut(File) -> Result<(), RatesError>,
    ) -> Result<(), RatesError> {
        let error = |kind: RatesErrorKind| kind.at(location(&self.name));
        let workbooks = zip_source::members_of(Cursor::new(&self.bytes), |name| {
            let lower = name.to_lowercase();
            lower.ends_with(".xlsx") || lower.ends_with(".xls")
        })
        .map_err(|problem| error(problem.into()))?;
        if workbooks.is_empty() {
            return Err(error(RatesErrorKind::Layout("holds no workbook")));
        }
        for member in workbooks {
            let bytes = self.member(&member).map_err(error)?;
            let short = member.name().rsplit('/').next().unwrap_or(member.name());
            let name = format!("{}!{short}", self.name);
            each(File { name, bytes })?;
        }
        Ok(())
    }

    /// Returns a member unpacked.
    fn member(&self, member: &Member) -> Result<Vec<u8>, RatesErrorKind> {
        if member.size() > LARGEST_MEMBER {
            return Err(RatesErrorKind::Layout(
                "holds a member of more than 256 MiB",
            ));
        }
        let source = Cursor::new(&self.bytes);
        let mut reader = zip_source::read_from(source, member, &BytesRead::default())?;
        let mut bytes = Vec::new();
        reader
            .read_to_end(&mut bytes)
            .map_err(|error| RatesErrorKind::Member {
                member: member.name().to_owned(),
                error,
            })?;
        Ok(bytes)
    }
}

/// Returns a file as a location.
fn location(file: &str) -> SourceLocation {
    SourceLocation {
        file: file.to_owned(),
        sheet: None,
        cell: None,
    }
}
