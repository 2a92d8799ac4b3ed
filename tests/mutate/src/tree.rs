//! A copy of the tree that patches are applied to, with its own target folder.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// The folder of the copy, its target and the verdicts.
const FOLDER: &str = "target/mutations";

/// The folders of tests that hold the path of the program, which is another in the copy.
const RUNS_THE_PROGRAM: [&str; 2] = ["host/cli/", "tests/"];

/// The extensions of libraries that the compiler replaces as a whole.
const LIBRARIES: [&str; 2] = ["rlib", "rmeta"];

/// Arguments of one command.
const FILES_AT_ONCE: usize = 500;

/// A copy of the tree.
pub struct Tree {
    repository: PathBuf,
    folder: PathBuf,
    /// The copy.
    pub root: PathBuf,
    /// Its target folder.
    pub target: PathBuf,
}

impl Tree {
    /// Copies the tree, or brings an earlier copy up to date.
    ///
    /// # Errors
    /// Git cannot list the files, or one cannot be copied.
    pub fn copy(repository: &Path) -> Result<Tree> {
        let folder = repository.join(FOLDER);
        let tree = Tree {
            repository: repository.to_owned(),
            root: folder.join("tree"),
            target: folder.join("target"),
            folder,
        };
        let is_first = !tree.root.exists();
        tree.restore()?;
        if is_first {
            tree.keep_ages()?;
        }
        tree.seed()?;
        Ok(tree)
    }

    /// Makes the files as old as the originals, so that they agree with what [`Tree::seed`] copies
    /// and are not compiled anew. Tests are: they hold the path of the program.
    fn keep_ages(&self) -> Result<()> {
        for file in self.files()? {
            if RUNS_THE_PROGRAM
                .iter()
                .any(|folder| file.starts_with(folder))
            {
                continue;
            }
            let modified = std::fs::metadata(self.repository.join(&file))?.modified()?;
            set_age(&self.root.join(file), modified)?;
        }
        Ok(())
    }

    /// Makes the copy the same as the tree again. A file that is the same is left alone, so that
    /// cargo does not build it anew.
    ///
    /// # Errors
    /// Git cannot list the files, or one cannot be copied.
    pub fn restore(&self) -> Result<()> {
        let files = self.files()?;
        for file in &files {
            let (from, to) = (self.repository.join(file), self.root.join(file));
            let bytes = std::fs::read(&from).with_context(|| format!("cannot read {file}"))?;
            if std::fs::read(&to).is_ok_and(|copy| copy == bytes) {
                continue;
            }
            if let Some(parent) = to.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(&to, bytes)?;
            std::fs::set_permissions(&to, std::fs::metadata(&from)?.permissions())?;
        }
        remove_others(&self.root, &self.root, &files)
    }

    /// Returns the files of the tree that git tracks or would add.
    fn files(&self) -> Result<BTreeSet<String>> {
        let output = Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(&self.repository)
            .output()
            .context("git ls-files")?;
        ensure!(output.status.success(), "git ls-files failed");
        let text = String::from_utf8(output.stdout)?;
        let files = text.split('\0').filter(|file| !file.is_empty());
        // A file that was removed from the tree may still be in the index.
        let files = files.filter(|file| self.repository.join(file).is_file());
        Ok(files.map(str::to_owned).collect())
    }

    /// Copies the compiled dependencies of the tree's own target folder, to save their compilation.
    fn seed(&self) -> Result<()> {
        let own = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
        let from = self.repository.join(own).join("debug");
        let to = self.target.join("debug");
        if to.exists() || !from.exists() {
            return Ok(());
        }
        std::fs::create_dir_all(&to)?;
        for part in ["build", ".fingerprint"] {
            cp("--reflink=auto", &[from.join(part)], &to)?;
        }
        // Programs have no extension. They are most of the bytes, and are linked anew.
        let entries = std::fs::read_dir(from.join("deps"))?;
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        let files: Vec<PathBuf> = paths
            .filter(|path| {
                path.as_ref()
                    .map_or(true, |path| path.extension().is_some())
            })
            .collect::<Result<_, _>>()?;
        std::fs::create_dir(to.join("deps"))?;
        // The compiler never writes into a library: it puts a new file in its place. So both
        // folders can hold the same file, and the copy takes no space on the disk.
        let (libraries, others): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| {
            let extension = path.extension().and_then(|extension| extension.to_str());
            extension.is_some_and(|extension| LIBRARIES.contains(&extension))
        });
        for some in libraries.chunks(FILES_AT_ONCE) {
            // Another file system holds no second name of a file.
            cp("--link", some, &to.join("deps"))
                .or_else(|_| cp("--reflink=auto", some, &to.join("deps")))?;
        }
        for some in others.chunks(FILES_AT_ONCE) {
            cp("--reflink=auto", some, &to.join("deps"))?;
        }
        Ok(())
    }

    /// Applies a patch of `tests/mutations`.
    ///
    /// # Errors
    /// The patch does not apply.
    pub fn apply(&self, patch: &str) -> Result<()> {
        self.git_apply(patch, &[])
    }

    /// Does work while a patch is applied to its files. They have their ages again afterwards, so
    /// that cargo builds nothing anew for it.
    ///
    /// # Errors
    /// The patch does not apply, or a file of it cannot be read.
    pub fn with_patch<T>(
        &self,
        patch: &str,
        files: &[String],
        work: impl FnOnce() -> T,
    ) -> Result<T> {
        let age = |file: &String| Ok(std::fs::metadata(self.root.join(file))?.modified()?);
        let ages: Vec<SystemTime> = files.iter().map(age).collect::<Result<_>>()?;
        self.apply(patch)?;
        let done = work();
        self.git_apply(patch, &["--reverse"])?;
        for (file, age) in files.iter().zip(ages) {
            set_age(&self.root.join(file), age)?;
        }
        Ok(done)
    }

    fn git_apply(&self, patch: &str, arguments: &[&str]) -> Result<()> {
        let file = self.patch_file(patch);
        let applied = Command::new("git")
            .arg("apply")
            .args(arguments)
            .arg(&file)
            .current_dir(&self.root)
            // The copy stands within the repository, and git would patch that one.
            .env("GIT_CEILING_DIRECTORIES", &self.folder)
            .status()?;
        ensure!(applied.success(), "{} does not apply", file.display());
        Ok(())
    }

    fn patch_file(&self, patch: &str) -> PathBuf {
        self.original(&format!("tests/mutations/{patch}.patch"))
    }

    /// Returns the path of a file in the repository.
    pub fn original(&self, file: &str) -> PathBuf {
        self.repository.join(file)
    }

    /// Returns the files that a patch changes.
    ///
    /// # Errors
    /// The patch cannot be read.
    pub fn files_of(&self, patch: &str) -> Result<Vec<String>> {
        let text = std::fs::read_to_string(self.patch_file(patch))?;
        let files = text.lines().filter_map(|line| line.strip_prefix("--- a/"));
        Ok(files.map(str::to_owned).collect())
    }

    /// Returns the file of verdicts about `what`: they hold for one state of the tree.
    ///
    /// # Errors
    /// Git cannot be run.
    pub fn results_file(&self, what: &str) -> Result<PathBuf> {
        let git = |arguments: &[&str]| -> Result<String> {
            let output = Command::new("git")
                .args(arguments)
                .current_dir(&self.repository)
                .output()?;
            Ok(String::from_utf8(output.stdout)?.trim().to_owned())
        };
        let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
        Ok(self.folder.join(format!("{what}-{commit}.tsv")))
    }
}

fn set_age(path: &Path, age: SystemTime) -> Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    Ok(file.set_modified(age)?)
}

/// Copies or links files and folders into a folder, with their ages.
fn cp(how: &str, paths: &[PathBuf], folder: &Path) -> Result<()> {
    let copied = Command::new("cp")
        .args(["-a", how])
        .args(paths)
        .arg(folder)
        .status()?;
    ensure!(copied.success(), "cannot copy to {}", folder.display());
    Ok(())
}

/// Removes the files under `folder` that are not wanted.
fn remove_others(root: &Path, folder: &Path, files: &BTreeSet<String>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(root, &path, files)?;
            continue;
        }
        let name = path.strip_prefix(root)?.to_str().unwrap_or_default();
        if !files.contains(name) {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}
