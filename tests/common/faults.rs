//! A disk that fails: a library that stands between the program and one of its files.

use super::program::repository;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the library with the machine's own compiler, and returns its path.
pub fn library(folder: &Path) -> PathBuf {
    let library = folder.join("disk.so");
    let status = Command::new("cc")
        .args([
            "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-pthread", "-o",
        ])
        .arg(&library)
        .arg(repository().join("tests/faults/disk.c"))
        .arg("-ldl")
        .status()
        .unwrap();
    assert!(status.success(), "cc could not compile the failing disk");
    library
}
