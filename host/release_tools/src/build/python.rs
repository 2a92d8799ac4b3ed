//! A model in Python, built into a component by componentize-py.
//!
//! The build runs the interpreter, the model's module and its imports once. Every row begins with
//! the memory of that run. As with a crate from `domesday release new`, the interface and the SDK
//! are those that this program was built with.

use domesday_package::Model;
use serde::Deserialize;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program that is run.
const PROGRAM: &str = "componentize-py";
/// Names another one, such as that of a virtual environment.
const PROGRAM_VARIABLE: &str = "DOMESDAY_COMPONENTIZE_PY";
/// The argument of `pip install`: the version that this program was tested with.
const PINNED: &str = include_str!("../../../../sdk/python/requirements.txt");
const INTERFACE: &str = include_str!("../../../../wit/valuation.wit");
const SDK: &str = include_str!("../../../../sdk/python/domesday.py");
/// The module between the interface and the model's.
const ENTRY: &str = "domesday_release";

/// The settings of a model in Python in `release.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Python {
    /// The module beside `release.toml` that holds the function `value`.
    module: String,
    /// The model's name, as a manifest states it.
    name: String,
    /// Its version.
    version: String,
}

/// The reason why a module cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum PythonError {
    /// The name is not one of a module, or of one of this program's own.
    #[error("{0:?} in release.toml is not a valid name of a Python module")]
    Name(String),
    /// The module is missing.
    #[error("the model's module {0} does not exist; correct its name in release.toml")]
    NotFound(PathBuf),
    /// The builder is not installed.
    #[error(
        "{} could not be started; install it with `pip install {}`, or set {PROGRAM_VARIABLE} to its path",
        program.display(),
        PINNED.trim()
    )]
    NoBuilder {
        /// The program.
        program: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The builder refuses the module.
    #[error("{PROGRAM} could not make a component of {module}:\n{output}")]
    Refused {
        /// The module.
        module: String,
        /// The builder's message.
        output: String,
    },
    /// The builder wrote nothing.
    #[error(
        "{PROGRAM} succeeded but wrote no component; check that {PROGRAM_VARIABLE} names the right program"
    )]
    NoComponent(#[source] io::Error),
    /// A file or folder cannot be read or written.
    #[error("cannot read or write {path}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// No folder for working files.
    #[error("cannot create a folder for working files; set TMPDIR to another folder")]
    WorkFolder(#[source] io::Error),
}

impl PythonError {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> PythonError {
        move |source| PythonError::File {
            path: path.to_owned(),
            source,
        }
    }
}

impl Python {
    /// Returns the model's entry in a manifest. The build fits nothing to sales.
    pub fn manifest_entry(&self) -> Model {
        Model {
            name: self.name.clone(),
            version: self.version.clone(),
            parameters_sha256: None,
            training_window: None,
        }
    }

    /// Builds the component of the model in `folder`.
    ///
    /// # Errors
    /// [`PythonError::NoBuilder`] if componentize-py is not installed, [`PythonError::Refused`] if
    /// it refuses the module. [`PythonError::NotFound`] if there is no module.
    pub fn component(&self, folder: &Path) -> Result<Vec<u8>, PythonError> {
        let source = folder.join(format!("{}.py", self.module.replace('.', "/")));
        let plain = self
            .module
            .split('.')
            .all(|part| is_identifier(part) && part != ENTRY && part != "domesday");
        if !plain {
            return Err(PythonError::Name(self.module.clone()));
        }
        if !source.is_file() {
            return Err(PythonError::NotFound(source));
        }
        let work_dir = tempfile::tempdir().map_err(PythonError::WorkFolder)?;
        let put = |name: &str, text: &str| {
            let path = work_dir.path().join(name);
            std::fs::write(&path, text).map_err(PythonError::file(&path))
        };
        put("valuation.wit", INTERFACE)?;
        put("domesday.py", SDK)?;
        put(
            &format!("{ENTRY}.py"),
            &format!(
                "from {} import value as _value\n\n\nclass WitWorld:\n    def value(self, subject):\n        return _value(subject)\n",
                self.module
            ),
        )?;
        // The interpreter that is run while building leaves compiled modules beside those that it
        // imports.
        let model = work_dir.path().join("model");
        copy(folder, &model).map_err(PythonError::file(folder))?;
        let component = work_dir.path().join("component.wasm");
        self.run(&model, work_dir.path(), &component)?;
        std::fs::read(&component).map_err(PythonError::NoComponent)
    }

    fn run(&self, folder: &Path, work_dir: &Path, component: &Path) -> Result<(), PythonError> {
        let program = std::env::var_os(PROGRAM_VARIABLE).unwrap_or_else(|| OsString::from(PROGRAM));
        let output = Command::new(&program)
            .args(["--quiet", "--wit-path"])
            .arg(work_dir.join("valuation.wit"))
            .args(["--world", "release", "componentize", "--python-path"])
            .arg(work_dir)
            .arg("--python-path")
            .arg(folder)
            .arg("--output")
            .arg(component)
            .arg(ENTRY)
            // Its errors are about the model, and its own stack trace says nothing of that.
            .env_remove("RUST_BACKTRACE")
            .output()
            .map_err(|source| PythonError::NoBuilder {
                program: PathBuf::from(&program),
                source,
            })?;
        if !output.status.success() {
            return Err(PythonError::Refused {
                module: self.module.clone(),
                output: format!(
                    "{}{}",
                    String::from_utf8_lossy(&output.stdout).trim(),
                    String::from_utf8_lossy(&output.stderr).trim()
                ),
            });
        }
        Ok(())
    }
}

/// Copies a model's folder without hidden files, compiled modules and virtual environments.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let path = entry.path();
        if name.as_encoded_bytes().starts_with(b".") || name == "__pycache__" {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() && !path.join("pyvenv.cfg").exists() {
            copy(&path, &to.join(name))?;
        } else if kind.is_file() {
            std::fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

fn is_identifier(part: &str) -> bool {
    let mut letters = part.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
