//! Files that hold a secret: whole or not there, and readable by their owner alone.

use domesday_package::replace_durably;
use std::path::Path;

/// Writes a file of mode 0600 in place of any file of that name. A link is replaced, not followed.
///
/// # Errors
/// The file cannot be written and made durable.
pub fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    replace_durably(path, 0o600, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn an_existing_path_is_replaced_by_an_owner_only_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (folder.path().join("key"), folder.path().join("elsewhere"));
        fs::write(&elsewhere, "untouched").unwrap();
        symlink(&elsewhere, &path).unwrap();
        write(&path, b"secret").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"secret");
        assert_eq!(fs::read(&elsewhere).unwrap(), b"untouched");
        let mode = fs::symlink_metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
