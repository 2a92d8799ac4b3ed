//! The kind of any input file, found by the readers of the builds.

mod input_kind;

pub use self::input_kind::{Builder, InputKind};

use super::markets::{MarketsError, count_rents};
use super::rates::{Inputs, PublishedRates, RatesError, RatesErrorKind, read};
use domesday_registers::{BytesRead, Diagnosis, RecognitionError, recognise, zip_source};
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

/// The largest file that is tried as one of rates or rents, which are read whole.
const LARGEST_WHOLE_FILE: u64 = 256 << 20;
/// Most repairs that one file needs: its encoding, then its delimiter, then its first line.
const MOST_REPAIRS: usize = 3;
/// Most members of an archive that are looked at.
const MOST_MEMBERS: usize = 3;

/// A file whose kind is known.
pub struct RecognisedInput {
    /// The kind.
    pub kind: InputKind,
    /// The state of the file.
    pub state: InputState,
}

/// The state of a file whose kind is known.
pub enum InputState {
    /// A reader takes its form.
    Readable,
    /// It is of the kind after a repair.
    Repairable,
    /// This member of an archive is of the kind.
    Packed(String),
}

/// The content of a file of rates or rents.
pub struct WholeFile {
    /// `None` for an archive or a workbook that is damaged or too large in sum.
    pub kind: Option<InputKind>,
    /// Its counts, or the reason why a build stops at it.
    pub content: Result<Vec<String>, String>,
}

/// Finds the kind of a file, after a repair or in an archive if need be.
pub fn recognise_input(path: &Path) -> Option<RecognisedInput> {
    let found = |kind, state| Some(RecognisedInput { kind, state });
    let error = match recognise(path) {
        Ok(register) => return found(InputKind::Register(register), InputState::Readable),
        Err(error) => error,
    };
    if let Some(register) = error.register() {
        return found(InputKind::Register(register), InputState::Repairable);
    }
    if let Some(file) = whole_file(path) {
        return found(file.kind?, InputState::Readable);
    }
    match &error {
        RecognitionError::Form { diagnosis, .. } => {
            found(kind_after_repair(path, diagnosis)?, InputState::Repairable)
        }
        RecognitionError::Archive { .. } => {
            let (member, kind) = kinds_of_members(path).into_iter().next()?;
            found(kind, InputState::Packed(member))
        }
        _ => None,
    }
}

/// Reads a file as one of rates or of rents. Returns `None` for any other file.
pub fn whole_file(path: &Path) -> Option<WholeFile> {
    check_size(path)?;
    rates(path).or_else(|| rents(path))
}

/// Returns the kind of rates or rents that a file of another form would be after its repair.
pub fn kind_after_repair(path: &Path, diagnosis: &Diagnosis) -> Option<InputKind> {
    check_size(path)?;
    // A file that cannot be read or copied was refused for that before.
    let mut content = std::fs::read(path).ok()?;
    let folder = tempfile::tempdir().ok()?;
    let copy = folder.path().join("repaired.csv");
    let mut next = diagnosis.clone();
    for _ in 0..MOST_REPAIRS {
        content = next.apply_repair(&content)?;
        std::fs::write(&copy, &content).ok()?;
        if let Some(file) = whole_file(&copy) {
            return file.kind;
        }
        next = Diagnosis::of(&content)?;
    }
    None
}

/// Returns the kind of each of the first members of an archive that has one.
pub fn kinds_of_members(path: &Path) -> Vec<(String, InputKind)> {
    let Ok(archive) = File::open(path).map(BufReader::new) else {
        return Vec::new();
    };
    let Ok(members) = zip_source::members_of(archive, |_| true) else {
        return Vec::new();
    };
    let kind = |member: &zip_source::Member| {
        let folder = tempfile::tempdir().ok()?;
        let name = member.name().rsplit(['/', '\\']).next()?;
        let copy = folder.path().join(name);
        let archive = BufReader::new(File::open(path).ok()?);
        let reader = zip_source::read_from(archive, member, &BytesRead::default()).ok()?;
        std::io::copy(
            &mut reader.take(LARGEST_WHOLE_FILE),
            &mut File::create(&copy).ok()?,
        )
        .ok()?;
        let kind = match recognise(&copy) {
            Ok(register) => InputKind::Register(register),
            Err(error) => match error.register() {
                Some(register) => InputKind::Register(register),
                None => whole_file(&copy)?.kind?,
            },
        };
        Some((member.name().to_owned(), kind))
    };
    let sized = members.iter().filter(|it| it.size() <= LARGEST_WHOLE_FILE);
    sized.take(MOST_MEMBERS).filter_map(kind).collect()
}

/// Returns the error of a workbook that cannot be opened as one.
pub fn workbook_damage(path: &Path) -> Option<String> {
    check_size(path)?;
    let inputs = Inputs {
        curves: vec![path.to_owned()],
        ..Inputs::default()
    };
    match read(&inputs, &mut |_, _, _| {}) {
        Err(RatesError::File {
            kind: RatesErrorKind::Workbook(error),
            ..
        }) => Some(format!(
            "{}: the workbook cannot be read ({error}). Download it again",
            path.display()
        )),
        _ => None,
    }
}

/// Returns nothing where a file is too large to be read whole, or cannot be read.
fn check_size(path: &Path) -> Option<()> {
    let length = std::fs::metadata(path).ok()?.len();
    (length <= LARGEST_WHOLE_FILE).then_some(())
}

/// Reads a file as one of the Bank of England's. Returns `None` for any other file.
fn rates(path: &Path) -> Option<WholeFile> {
    let database = Inputs {
        database: vec![path.to_owned()],
        ..Inputs::default()
    };
    let curves = Inputs {
        curves: vec![path.to_owned()],
        ..Inputs::default()
    };
    for (kind, inputs) in [(InputKind::Database, database), (InputKind::Curves, curves)] {
        let content = match read(&inputs, &mut |_, _, _| {}) {
            Ok(published) => Ok(lines_of_rates(&published)),
            Err(RatesError::Io { .. }) => continue,
            Err(RatesError::File { kind, .. }) if kind.is_of_another_kind() => continue,
            Err(error) => Err(error),
        };
        let is_archive = content.as_ref().is_err_and(is_unreadable_archive);
        return Some(WholeFile {
            kind: (!is_archive).then_some(kind),
            content: content.map_err(|error| error.to_string()),
        });
    }
    None
}

/// Reports whether a file is a zip archive or a workbook that is damaged or too large in sum.
fn is_unreadable_archive(error: &RatesError) -> bool {
    let RatesError::File { kind, .. } = error else {
        return false;
    };
    matches!(kind, RatesErrorKind::Zip(_) | RatesErrorKind::Member { .. })
}

/// Reads a file of rents. Returns `None` for any other file.
fn rents(path: &Path) -> Option<WholeFile> {
    let content = match count_rents(path) {
        Ok((rents, unavailable)) => Ok(vec![format!(
            "{rents} rents read, {unavailable} marked as not available"
        )]),
        Err(MarketsError::Rents { .. } | MarketsError::Io { .. }) => return None,
        Err(error) => Err(error.to_string()),
    };
    Some(WholeFile {
        kind: Some(InputKind::Rents),
        content,
    })
}

fn lines_of_rates(published: &PublishedRates) -> Vec<String> {
    let series = published.series.values().map(|values| values.len());
    let curves = published.curves.values().flat_map(|curve| curve.values());
    let nodes = curves.map(|nodes| nodes.len());
    let values = series.sum::<usize>() + nodes.sum::<usize>();
    let rows = published.rows_with_values;
    let mut lines = vec![format!(
        "{rows} rows with values, {values} values kept by a build"
    )];
    let warnings = published.warnings.iter();
    lines.extend(warnings.map(ToString::to_string));
    lines
}
