//! Libraries that stand between the program and its machine: a disk that fails, a clock that jumps,
//! and a list of calls in their order.

use super::program::repository;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the library of a disk that fails, and returns its path.
pub fn library(folder: &Path) -> PathBuf {
    compile(folder, "disk")
}

/// Compiles the library of a clock that jumps, and returns its path.
pub fn clock(folder: &Path) -> PathBuf {
    compile(folder, "clock")
}

/// Compiles the library that writes down calls, and returns its path.
pub fn call_log(folder: &Path) -> PathBuf {
    compile(folder, "calls")
}

/// Compiles a library of `tests/faults` with the machine's own compiler.
fn compile(folder: &Path, name: &str) -> PathBuf {
    let library = folder.join(name).with_extension("so");
    let status = Command::new("cc")
        .args([
            "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-pthread", "-o",
        ])
        .arg(&library)
        .arg(
            repository()
                .join("tests/faults")
                .join(name)
                .with_extension("c"),
        )
        .arg("-ldl")
        .status()
        .unwrap();
    assert!(status.success(), "cc could not compile {name}.c");
    library
}
