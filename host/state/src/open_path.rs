//! The check that a path still leads to the file or folder that is open.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// An open file or folder, and the path by which it was opened.
///
/// It stays open, so that its inode cannot become another file's meanwhile.
#[derive(Debug)]
pub struct OpenPath {
    path: PathBuf,
    identity: Identity,
    _open: File,
}

/// Device and inode: which file or folder it is, whatever its name.
type Identity = (u64, u64);

fn identity(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

/// A path no longer leads to the file or folder that is open: it was moved, deleted or replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} no longer leads to what this server has open: {found}. Put it back, or stop the server and \
     start it on the folder that holds its state",
    path.display()
)]
pub struct PathMoved {
    /// The path.
    pub path: PathBuf,
    /// The present target of the path.
    pub found: PathTarget,
}

/// The target of a path that no longer leads to the open file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathTarget {
    /// Nothing.
    Nothing,
    /// Another file or folder.
    Another,
    /// The system does not say: its error.
    Unknown(String),
}

impl fmt::Display for PathTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathTarget::Nothing => f.write_str("nothing is there"),
            PathTarget::Another => f.write_str("another file or folder is there"),
            PathTarget::Unknown(error) => f.write_str(error),
        }
    }
}

impl OpenPath {
    /// Opens the file or folder at `path`.
    ///
    /// # Errors
    /// The file system's error.
    pub fn open(path: &Path) -> io::Result<OpenPath> {
        let open = File::open(path)?;
        Ok(OpenPath {
            path: path.to_owned(),
            identity: identity(&open.metadata()?),
            _open: open,
        })
    }

    /// Checks that the path still leads to it. Reads the disk, so it blocks.
    ///
    /// # Errors
    /// [`PathMoved`], with the present target of the path.
    pub fn check(&self) -> Result<(), PathMoved> {
        match fs::metadata(&self.path) {
            Ok(named) if identity(&named) == self.identity => Ok(()),
            Ok(_) => Err(self.move_error(PathTarget::Another)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(self.move_error(PathTarget::Nothing))
            }
            Err(error) => Err(self.move_error(PathTarget::Unknown(error.to_string()))),
        }
    }

    /// Checks that `file` is this one.
    pub(crate) fn is(&self, file: &File) -> Result<(), PathMoved> {
        match file.metadata() {
            Ok(open) if identity(&open) == self.identity => Ok(()),
            Ok(_) => Err(self.move_error(PathTarget::Another)),
            Err(error) => Err(self.move_error(PathTarget::Unknown(error.to_string()))),
        }
    }

    fn move_error(&self, found: PathTarget) -> PathMoved {
        PathMoved {
            path: self.path.clone(),
            found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_target(open_path: &OpenPath) -> Option<PathTarget> {
        open_path.check().err().map(|moved| moved.found)
    }

    #[test]
    fn a_redirected_path_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (folder.path().join("data"), folder.path().join("elsewhere"));
        type Make = fn(&Path) -> io::Result<()>;
        let made: [Make; 2] = [|path| fs::create_dir(path), |path| fs::write(path, "")];
        for make in made {
            make(&path).unwrap();
            let open_path = OpenPath::open(&path).unwrap();
            assert_eq!(path_target(&open_path), None);
            fs::rename(&path, &elsewhere).unwrap();
            assert_eq!(path_target(&open_path), Some(PathTarget::Nothing));
            make(&path).unwrap();
            assert_eq!(path_target(&open_path), Some(PathTarget::Another));
            let _ = fs::remove_dir(&path).or_else(|_| fs::remove_file(&path));
            // Another name of the same file will do.
            std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
            assert_eq!(path_target(&open_path), None);
            fs::remove_file(&path).unwrap();
            fs::rename(&elsewhere, &path).unwrap();
            assert_eq!(path_target(&open_path), None);
            let _ = fs::remove_dir(&path).or_else(|_| fs::remove_file(&path));
            // Its inode is not given to the next one while the place is held.
            make(&path).unwrap();
            assert_eq!(path_target(&open_path), Some(PathTarget::Another));
            let _ = fs::remove_dir(&path).or_else(|_| fs::remove_file(&path));
        }
    }

    #[test]
    fn a_path_that_cannot_be_followed_is_unknown() {
        let folder = tempfile::tempdir().unwrap();
        let (data, file) = (folder.path().join("data"), folder.path().join("data/file"));
        fs::create_dir(&data).unwrap();
        fs::write(&file, "").unwrap();
        let open_path = OpenPath::open(&file).unwrap();
        fs::rename(&data, folder.path().join("away")).unwrap();
        // A file stands where its folder was.
        fs::write(&data, "").unwrap();
        let target = path_target(&open_path);
        assert!(matches!(target, Some(PathTarget::Unknown(_))), "{target:?}");
    }

    #[test]
    fn another_file_is_not_the_open_one() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["one", "other"].map(|name| folder.path().join(name));
        for path in &paths {
            fs::write(path, "").unwrap();
        }
        let open_path = OpenPath::open(&paths[0]).unwrap();
        let targets = paths.map(|path| {
            let checked = open_path.is(&File::open(path).unwrap());
            checked.err().map(|moved| moved.found)
        });
        assert_eq!(targets, [None, Some(PathTarget::Another)]);
    }
}
