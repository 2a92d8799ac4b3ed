//! Files and names that outlast a crash.
//!
//! A rename is durable only once its directory is: until then the old name may come back.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::NamedTempFile;

/// Returns the directory that holds a path. That of a bare name is the current one.
pub fn parent_directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes creations, renames and removals in a directory durable.
///
/// # Errors
/// The operating system's error, if the directory cannot be opened or synced.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Writes a file with these rights in place of any file of that name, and makes it durable. It is
/// there whole, or as it was before. A link is replaced, not followed.
///
/// # Errors
/// The operating system's error, if the file cannot be written, renamed or made durable.
pub fn replace_durably(path: &Path, mode: u32, bytes: &[u8]) -> io::Result<()> {
    persist_durably(write_beside(path, mode, bytes)?, path)
}

/// Writes a file that its owner alone may read, as [`replace_durably`] does.
///
/// # Errors
/// As [`replace_durably`].
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_durably(path, 0o600, bytes)
}

/// Writes a new file with these rights, and makes it durable. It is there whole or not at all, and
/// no file of that name is replaced.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if the path is taken, or the operating system's error.
pub fn create_durably(path: &Path, mode: u32, bytes: &[u8]) -> io::Result<()> {
    let file = write_beside(path, mode, bytes)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    sync_directory(parent_directory(path))
}

/// Writes a temporary file in the directory of a path. The rights hold from its first byte.
fn write_beside(path: &Path, mode: u32, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new()
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(parent_directory(path))?;
    file.write_all(bytes)?;
    Ok(file)
}

/// Renames a written file into place, in place of any file of that name, and makes it durable. Both
/// names are in one directory.
///
/// # Errors
/// The operating system's error, if the file cannot be renamed or made durable.
pub fn persist_durably(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_directory(parent_directory(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_bare_name_lies_in_the_current_directory() {
        for (path, directory) in [("a/b", "a"), ("/a", "/"), ("a", "."), ("/", ".")] {
            assert_eq!(
                parent_directory(Path::new(path)),
                Path::new(directory),
                "{path}"
            );
        }
    }

    #[test]
    fn a_directory_that_is_not_there_cannot_be_made_durable() {
        let folder = tempfile::tempdir().unwrap();
        assert!(sync_directory(&folder.path().join("absent")).is_err());
    }

    #[test]
    fn a_link_is_replaced_by_a_file_with_its_own_rights() {
        let folder = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (folder.path().join("key"), folder.path().join("elsewhere"));
        fs::write(&elsewhere, "untouched").unwrap();
        symlink(&elsewhere, &path).unwrap();
        for (mode, text) in [(0o600, "secret"), (0o400, "another")] {
            replace_durably(&path, mode, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            let found = fs::symlink_metadata(&path).unwrap().permissions().mode();
            assert_eq!(found & 0o777, mode);
        }
        assert_eq!(fs::read(&elsewhere).unwrap(), b"untouched");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_private_file_takes_the_place_of_a_readable_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        replace_durably(&path, 0o644, b"open").unwrap();
        replace_private(&path, b"secret").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"secret");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_new_file_has_its_rights_and_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        create_durably(&path, 0o600, b"first").unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let refused = create_durably(&path, 0o600, b"second").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"first");
        // A link that leads nowhere is a name that is taken, too.
        let link = folder.path().join("link");
        symlink(folder.path().join("absent"), &link).unwrap();
        assert!(create_durably(&link, 0o600, b"third").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_file_that_cannot_take_its_place_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        assert!(replace_durably(&taken, 0o600, b"text").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
