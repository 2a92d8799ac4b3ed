//! Packages of npm, each set in a folder with a `package.json` and its lock file.
//!
//! Node.js itself is installed from PyPI, in the version that tests/peers/node pins: Debian's is
//! too old for some of the packages.

use super::program::repository;
use super::python::{install_once, interpreter, run_to_success};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the program of Node.js that the folder `peer` of tests/peers pins.
pub fn node_of(peer: &str, target: &Path) -> PathBuf {
    interpreter(&repository().join("tests/peers").join(peer), target).with_file_name("node")
}

/// An installed set of packages.
pub struct Packages {
    /// The folder that holds `node_modules`.
    pub folder: PathBuf,
    node: PathBuf,
}

impl Packages {
    /// Installs the packages of `folder` once below `target`, and again when the lock file changes.
    /// The package's name tells its folder from those of others.
    pub fn install(folder: &Path, target: &Path) -> Packages {
        let node = node_of("node", target);
        let files = ["package.json", "package-lock.json"];
        let pinned = files.map(|file| std::fs::read_to_string(folder.join(file)).unwrap());
        let manifest: Value = serde_json::from_str(&pinned[0]).unwrap();
        let packages = Packages {
            folder: target.join("npm").join(manifest["name"].as_str().unwrap()),
            node,
        };
        install_once(&packages.folder, &pinned.concat(), || {
            std::fs::create_dir_all(&packages.folder).unwrap();
            for (file, text) in files.iter().zip(&pinned) {
                std::fs::write(packages.folder.join(file), text).unwrap();
            }
            let mut npm = packages.program(&packages.node.with_file_name("npm"));
            npm.args(["ci", "--silent", "--no-audit", "--no-fund"]);
            run_to_success(npm.current_dir(&packages.folder));
        });
        packages
    }

    /// Returns a command of one of the packages.
    pub fn tool(&self, name: &str) -> Command {
        self.program(&self.folder.join("node_modules/.bin").join(name))
    }

    /// Returns a command of Node.js.
    pub fn node(&self) -> Command {
        self.program(&self.node)
    }

    /// Returns a command that finds this Node.js before the machine's.
    fn program(&self, program: &Path) -> Command {
        let mut path = OsString::from(self.node.parent().unwrap());
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = Command::new(program);
        command.env("PATH", path);
        command
    }
}
