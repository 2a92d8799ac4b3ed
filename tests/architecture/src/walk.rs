//! The files below a folder.

use std::path::{Path, PathBuf};

/// Returns the files below `folder` in order, without those below a folder of a name in `skipped`.
///
/// # Errors
/// A folder cannot be read.
pub fn files(folder: &Path, skipped: &[&str]) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                files.push(entry.path());
            } else if !skipped.contains(&&*entry.file_name().to_string_lossy()) {
                folders.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Reports whether the name of a file ends in a dot and one of `endings`.
pub fn has_ending(file: &Path, endings: &[&str]) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| endings.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_all_folders_but_the_skipped_are_in_order() {
        let root = tempfile::tempdir().unwrap();
        for name in ["b/c.rs", "a.toml", "b/d/e.rs", "b/target/f.rs"] {
            let file = root.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let files = files(root.path(), &["target"]).unwrap();
        let expected = ["a.toml", "b/c.rs", "b/d/e.rs"].map(|name| root.path().join(name));
        assert_eq!(files, expected);
        assert!(has_ending(&files[0], &["rs", "toml"]) && !has_ending(&files[0], &["rs"]));
    }
}
