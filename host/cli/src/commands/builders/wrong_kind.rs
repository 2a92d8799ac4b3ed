//! Errors of files that were given with the flag of another kind.

use anyhow::anyhow;
use domesday_property::build::BuildError;
use domesday_registers::ReadError;
use domesday_release_tools::snapshot_package::SnapshotPackageError;
use domesday_series::build::markets::MarketsError;
use domesday_series::build::rates::RatesError;
use domesday_series::build::recognition::{Builder, InputKind, InputState, recognise_input};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Files with the kind of the flag that they were given with.
pub type GivenFiles<'a> = (InputKind, &'a [PathBuf]);

/// Adds the true kind of a file, and the flag for it, to the error of a build that refused the
/// file's form or columns.
pub fn name_true_kind(
    error: anyhow::Error,
    builder: Builder,
    given: &[GivenFiles<'_>],
) -> anyhow::Error {
    let inputs = refused_inputs(&error, given);
    let Some((first, path)) = inputs.first().copied() else {
        return error;
    };
    let Some(found) = recognise_input(path) else {
        return error;
    };
    // One file may be given with several flags, its own among them.
    let mut kinds = inputs.iter().map(|(kind, _)| *kind);
    let kind = kinds.find(|kind| *kind != found.kind).unwrap_or(first);
    let (noun, advice) = (found.kind.noun(), found.kind.advice(Some(builder)));
    match found.state {
        InputState::Packed(member) => {
            anyhow!("{error}. It holds {member}, which is {noun}: unpack it, then {advice}")
        }
        _ if found.kind == kind => error,
        // Its form needs no repair, so the error's would be wrong.
        InputState::Readable => anyhow!(
            "{} was given as {}. It is {noun}: {advice}",
            path.display(),
            kind.noun()
        ),
        InputState::Repairable => anyhow!("{error}. It is {noun}: {advice}"),
    }
}

/// Returns the file whose form or columns an error refuses, with each kind that it was given as.
fn refused_inputs<'a>(
    error: &anyhow::Error,
    given: &[GivenFiles<'a>],
) -> Vec<(InputKind, &'a Path)> {
    let find = |is_it: &dyn Fn(&Path) -> bool| {
        let all = given
            .iter()
            .flat_map(|(kind, paths)| paths.iter().map(|path| (*kind, path.as_path())));
        all.filter(|(_, path)| is_it(path)).collect()
    };
    // The file of a register may be a member of the given archive.
    let find_register = |error: &ReadError| match refused_file(error) {
        Some(file) => find(&|path| file.starts_with(path)),
        None => Vec::new(),
    };
    let of_package = || match error.downcast_ref() {
        Some(SnapshotPackageError::Build(error)) => Some(error),
        _ => None,
    };
    if let Some(BuildError::Read(error)) = error.downcast_ref().or_else(of_package) {
        return find_register(error);
    }
    match error.downcast_ref() {
        Some(MarketsError::Read(error)) => return find_register(error),
        Some(MarketsError::Rents { path: file, .. }) => return find(&|path| path == file),
        _ => {}
    }
    match error.downcast_ref() {
        Some(RatesError::File { location, kind }) if kind.is_of_another_kind() => {
            let name = location.file.split('!').next();
            find(&|path| path.file_name().and_then(OsStr::to_str) == name)
        }
        _ => Vec::new(),
    }
}

/// Returns the file of an error about its form or columns.
fn refused_file(error: &ReadError) -> Option<&Path> {
    match error {
        ReadError::MissingColumn { file, .. }
        | ReadError::WrongRegister { file, .. }
        | ReadError::BadFirstLine { file, .. }
        | ReadError::NoMember { file, .. }
        | ReadError::Form { file, .. } => Some(file),
        _ => None,
    }
}
