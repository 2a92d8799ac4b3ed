//! New directories whose names outlast a crash.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use crate::durable::{parent_directory, sync_directory};
use crate::files::{READABLE_DIRECTORY, open_to_readers};

/// Makes a directory with those above it, closed to others, and makes each new name durable.
///
/// # Errors
/// The operating system's error, if one of them cannot be made or its parent cannot be synced.
pub fn make_directory(directory: &Path) -> io::Result<()> {
    make_with_mode(directory, 0o700)
}

/// Makes a directory with those above it, which others may read whatever the umask is, and makes
/// each new name durable.
///
/// # Errors
/// The operating system's error, if one of them cannot be made or its parent cannot be synced.
pub fn make_readable_directory(directory: &Path) -> io::Result<()> {
    make_with_mode(directory, READABLE_DIRECTORY)
}

fn make_with_mode(directory: &Path, mode: u32) -> io::Result<()> {
    if directory.as_os_str().is_empty() || directory.is_dir() {
        return Ok(());
    }
    let parent = parent_directory(directory);
    make_with_mode(parent, mode)?;
    let created = DirBuilder::new().mode(mode).create(directory);
    if created.is_ok() && mode == READABLE_DIRECTORY {
        open_to_readers(&File::open(directory)?, mode)?;
    }
    // Another process may have made it meanwhile.
    if !directory.is_dir() {
        created?;
    }
    sync_directory(parent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_directory_is_made_with_those_above_it_and_closed_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("above/journal");
        make_directory(&directory).unwrap();
        make_directory(&directory).unwrap();
        make_directory(Path::new("")).unwrap();
        for made in [folder.path().join("above"), directory] {
            let mode = fs::metadata(&made).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{}", made.display());
        }
    }

    #[test]
    fn a_readable_directory_is_open_to_readers() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("releases/property");
        make_readable_directory(&directory).unwrap();
        let mode = fs::metadata(&directory).unwrap().permissions().mode();
        assert_eq!(mode & 0o755, 0o755);
    }

    #[test]
    fn a_file_where_the_directory_is_to_be_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("journal");
        fs::write(&file, "").unwrap();
        let error = make_directory(&file).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    }
}
