//! The copy of the repository that a page is typed in: what git tracks, and nothing else.
//!
//! Files are copied, so that a page writes into its copy alone. They keep their times, so that
//! cargo takes a build of the repository's own crates for a build of the copied ones.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The entries of the root that are not copied. A page has the releases in another way.
const NOT_COPIED: [&str; 4] = ["target", ".git", "releases", "domesday-data"];

/// Copies a fresh checkout of the repository into a folder, without the releases. What a person
/// left in the repository belongs to no page.
///
/// # Errors
/// A file cannot be read or written.
pub(crate) fn copy(repository: &Path, folder: &Path) -> io::Result<()> {
    for path in files(repository)? {
        if path.iter().next().is_some_and(is_left_out) {
            continue;
        }
        copy_file(&repository.join(&path), &folder.join(&path))?;
    }
    Ok(())
}

fn is_left_out(name: &OsStr) -> bool {
    NOT_COPIED.iter().any(|excluded| *excluded == name)
}

/// Returns the tracked files below the repository's root. Sources without their git, or in an
/// ignored folder of another repository, count as tracked.
fn files(repository: &Path) -> io::Result<Vec<PathBuf>> {
    let tracked = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(repository)
        .output()
        .map(|output| output.stdout)
        .unwrap_or_default();
    let names = tracked.split(|byte| *byte == 0);
    let mut files: Vec<PathBuf> = names
        .filter(|name| !name.is_empty())
        .map(|name| PathBuf::from(OsStr::from_bytes(name)))
        .collect();
    if files.is_empty() {
        all_files(repository, Path::new(""), &mut files)?;
    }
    Ok(files)
}

/// Adds every file below a folder of the repository.
fn all_files(repository: &Path, below: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(repository.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true if is_left_out(&entry.file_name()) => {}
            true => all_files(repository, &path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}

/// Copies a file with its permissions and its time, or a link as a link.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let metadata = match from.symlink_metadata() {
        Ok(metadata) => metadata,
        // A file that git tracks may have been deleted since.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    if metadata.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    fs::copy(from, to)?;
    let copied = fs::File::options().write(true).open(to)?;
    copied.set_modified(metadata.modified()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Returns the paths of all files of a copy of the repository.
    fn copied(repository: &Path) -> BTreeSet<String> {
        let folder = tempfile::tempdir().unwrap();
        copy(repository, folder.path()).unwrap();
        let mut files = Vec::new();
        all_files(folder.path(), Path::new(""), &mut files).unwrap();
        files
            .iter()
            .map(|path| path.display().to_string())
            .collect()
    }

    #[test]
    fn a_page_meets_what_git_tracks_and_nothing_else() {
        let repository = tempfile::tempdir().unwrap();
        let root = repository.path();
        for name in ["docs/page.md", "releases/file", "domesday-data/file"] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let tracked = BTreeSet::from(["docs/page.md".to_owned()]);
        assert_eq!(copied(root), tracked);

        for arguments in [&["init", "--quiet"][..], &["add", "docs"]] {
            let mut git = Command::new("git");
            git.args(arguments).current_dir(root);
            assert!(git.status().unwrap().success(), "{git:?}");
        }
        // Beside a tracked file as at the root.
        fs::write(root.join("docs/left-over.md"), "").unwrap();
        fs::write(root.join("left-over"), "").unwrap();
        assert_eq!(copied(root), tracked);
    }

    #[test]
    fn a_copy_keeps_the_time_of_a_file_that_cargo_compares() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = from.path().join("lib.rs");
        fs::write(&file, "").unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        let opened = fs::File::options().write(true).open(&file).unwrap();
        opened.set_modified(time).unwrap();
        copy(from.path(), to.path()).unwrap();
        let copied = to.path().join("lib.rs").metadata().unwrap();
        assert_eq!(copied.modified().unwrap(), time);
    }
}
