//! The trees: a model that the team brought, or one trained here on what the component showed of sales.

use crate::assembly::Document;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the Python that has what `requirements.txt` lists.
pub const PYTHON: &str = "DOMESDAY_PYTHON";
/// A trained model beside Cargo.toml, which is then used as it is.
pub const BROUGHT: &str = "model.txt";

/// Why there are no trees.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A model of a format that is not read.
    #[error("{} is there, but models of XGBoost are not read yet; a model of LightGBM is put there as {BROUGHT}", .0.display())]
    XgBoost(PathBuf),
    /// Python could not be started, or the script failed.
    #[error(
        "{0}; the training script needs Python 3.11 with models/gbdt/requirements.txt; name it in {PYTHON}, or put a trained model beside Cargo.toml as {BROUGHT}"
    )]
    Script(String),
}

/// The text of the trees for `document`: the model that stands in `folder`, or one trained on `features`.
///
/// # Errors
/// Where there is neither, the model is of another maker, or the script fails.
pub fn trees(folder: &Path, features: &Path, out: &Path) -> Result<String, LearnError> {
    let brought = folder.join(BROUGHT);
    if brought.is_file() {
        return read(&brought);
    }
    let other = folder.join("model.json");
    if other.is_file() {
        return Err(LearnError::XgBoost(other));
    }
    let python = std::env::var_os(PYTHON).unwrap_or_else(|| OsString::from("python3"));
    let output = Command::new(python)
        .arg(folder.join("train.py"))
        .arg("--mapping")
        .arg(folder.join("mapping.toml"))
        .arg("--features")
        .arg(features)
        .arg("--out")
        .arg(out)
        .output()
        .map_err(|error| LearnError::Script(format!("Python could not be started: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.trim().lines().last().unwrap_or("it said nothing");
        return Err(LearnError::Script(format!("train.py failed: {last}")));
    }
    read(out)
}

/// The document with these trees.
pub fn with_trees(document: Document, trees: String) -> Document {
    Document {
        about: "Trees over the reference model; mapping says what they are given.".to_owned(),
        trees,
        ..document
    }
}

fn read(path: &Path) -> Result<String, LearnError> {
    std::fs::read_to_string(path).map_err(|source| LearnError::File {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brought_model_is_taken_and_one_of_another_maker_refused() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let features = folder.join("features.csv");
        std::fs::write(folder.join("model.json"), "{}").unwrap();
        let refused = trees(folder, &features, &folder.join("out.txt")).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("models of XGBoost are not read"),
            "{refused}"
        );
        std::fs::write(folder.join(BROUGHT), "tree\n").unwrap();
        let taken = trees(folder, &features, &folder.join("out.txt")).unwrap();
        assert_eq!(taken, "tree\n");
    }
}
