//! The directory of a package on disk: its contents, and opening without following links.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::error::PackageErrorKind;
use crate::path::is_reserved;
use crate::{FileEntry, FilePath, durable};

/// The rights of a file that others may read.
pub(crate) const READABLE_FILE: u32 = 0o644;
/// The rights of a directory that others may read.
pub(crate) const READABLE_DIRECTORY: u32 = 0o755;

/// Makes a file as `options` say, which others may read whatever the umask is.
pub(crate) fn make_readable(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.open(path)?;
    open_to_readers(&file, READABLE_FILE)?;
    Ok(file)
}

/// Gives a new file or directory all rights of `mode`, whatever the umask took of them. Packages
/// are public, and the service is another user than the operator who pulls them.
pub(crate) fn open_to_readers(made: &File, mode: u32) -> io::Result<()> {
    let rights = made.metadata()?.permissions().mode();
    if rights & mode != mode {
        made.set_permissions(Permissions::from_mode(rights | mode))?;
    }
    Ok(())
}

/// Makes creations and renames in `directory` durable.
pub(crate) fn sync_directory(directory: &Path) -> Result<(), PackageErrorKind> {
    durable::sync_directory(directory).map_err(PackageErrorKind::io(directory))
}

/// Opens a regular file with one name, relative to `root`. It refuses a link in the last place, and
/// does not block on a pipe.
pub(crate) fn open_plain(root: &Path, name: &str) -> Result<(File, Metadata), PackageErrorKind> {
    let path = root.join(name);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(&path, flags, Mode::empty()) {
        Ok(handle) => File::from(handle),
        Err(rustix::io::Errno::LOOP) => {
            return Err(PackageErrorKind::SymbolicLink {
                path: name.to_owned(),
            });
        }
        Err(error) => return Err(PackageErrorKind::io(&path)(error.into())),
    };
    let metadata = file.metadata().map_err(PackageErrorKind::io(&path))?;
    check_plain(name, &metadata)?;
    Ok((file, metadata))
}

fn check_plain(name: &str, metadata: &Metadata) -> Result<(), PackageErrorKind> {
    let path = || name.to_owned();
    if metadata.is_symlink() {
        return Err(PackageErrorKind::SymbolicLink { path: path() });
    }
    if !metadata.is_file() {
        return Err(PackageErrorKind::NotAFile { path: path() });
    }
    if metadata.nlink() > 1 {
        return Err(PackageErrorKind::HardLink {
            path: path(),
            names: metadata.nlink(),
        });
    }
    Ok(())
}

/// Reads the whole of a small file, or returns `None` where it is absent.
pub(crate) fn read_small(
    root: &Path,
    name: &'static str,
    largest: u64,
) -> Result<Option<Vec<u8>>, PackageErrorKind> {
    let (file, _) = match open_plain(root, name) {
        Ok(opened) => opened,
        Err(PackageErrorKind::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    let read = file
        .take(largest + 1)
        .read_to_end(&mut bytes)
        .map_err(PackageErrorKind::io(root.join(name)))? as u64;
    if read > largest {
        return Err(PackageErrorKind::TooLarge {
            file: name,
            bytes: read,
        });
    }
    Ok(Some(bytes))
}

/// Checks that the tree below `root` holds the listed files as plain files. The manifest, its
/// signature and the attachments may stand beside them. Nothing else may, not even an empty
/// directory.
pub(crate) fn check_tree(
    root: &Path,
    listed: &BTreeMap<FilePath, FileEntry>,
) -> Result<(), PackageErrorKind> {
    let mut found = BTreeSet::new();
    walk(root, "", listed, &mut found)?;
    match listed.keys().find(|file| !found.contains(file.as_str())) {
        Some(file) => Err(PackageErrorKind::Missing { file: file.clone() }),
        None => Ok(()),
    }
}

fn walk(
    root: &Path,
    below: &str,
    listed: &BTreeMap<FilePath, FileEntry>,
    found: &mut BTreeSet<String>,
) -> Result<(), PackageErrorKind> {
    let directory = root.join(below);
    let mut names = fs::read_dir(&directory)
        .and_then(|entries| {
            entries
                .map(|entry| entry.map(|entry| entry.file_name()))
                .collect::<io::Result<Vec<_>>>()
        })
        .map_err(PackageErrorKind::io(&directory))?;
    // In order, so that of several errors the same is always reported.
    names.sort();
    for name in names {
        let metadata = fs::symlink_metadata(directory.join(&name))
            .map_err(PackageErrorKind::io(directory.join(&name)))?;
        let name = name.to_string_lossy();
        let path = if below.is_empty() {
            name.into_owned()
        } else {
            format!("{below}/{name}")
        };
        if metadata.is_dir() {
            if !listed.keys().any(|file| file.is_below(&path)) {
                return Err(PackageErrorKind::Unlisted { path });
            }
            walk(root, &path, listed, found)?;
            continue;
        }
        check_plain(&path, &metadata)?;
        let known = is_reserved(&path) || listed.keys().any(|file| file.as_str() == path);
        if !known {
            return Err(PackageErrorKind::Unlisted { path });
        }
        found.insert(path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{MANIFEST, SIGNATURE};

    #[test]
    fn what_a_narrow_umask_made_is_opened_to_readers_and_keeps_wider_rights() {
        let folder = tempfile::tempdir().unwrap();
        for (made, opened) in [(0o600, 0o644), (0o664, 0o664)] {
            let path = folder.path().join(format!("{made:o}"));
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(made)).unwrap();
            let file = File::open(&path).unwrap();
            open_to_readers(&file, READABLE_FILE).unwrap();
            let rights = file.metadata().unwrap().permissions().mode();
            assert_eq!(rights & 0o777, opened);
        }
    }

    #[test]
    fn a_pipe_is_refused_without_waiting_for_its_writer() {
        let folder = tempfile::tempdir().unwrap();
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join("pipe"), mode).unwrap();
        assert!(matches!(
            open_plain(folder.path(), "pipe"),
            Err(PackageErrorKind::NotAFile { path }) if path == "pipe"
        ));
    }

    #[test]
    fn a_small_file_is_read_whole_refused_or_absent() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(MANIFEST);
        fs::write(&file, b"abc").unwrap();
        let read = |largest| read_small(folder.path(), MANIFEST, largest);
        assert_eq!(read(3).unwrap(), Some(b"abc".to_vec()));
        assert!(matches!(
            read(2),
            Err(PackageErrorKind::TooLarge { bytes: 3, .. })
        ));
        assert_eq!(read_small(folder.path(), SIGNATURE, 3).unwrap(), None);
        // Nothing can be read below a file, which is another error than an absent file.
        assert!(matches!(
            read_small(&file, SIGNATURE, 3),
            Err(PackageErrorKind::Io { .. })
        ));
    }
}
