//! The trees: a model that the team brought, or one trained here on what the component showed of sales.

use crate::assembly::Document;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the Python that has what `requirements.txt` lists.
pub const PYTHON: &str = "DOMESDAY_PYTHON";
/// Names the folder of a team's mapping file and model; without it, they stand beside Cargo.toml.
pub const FOLDER: &str = "DOMESDAY_GBDT";
/// A trained model beside the mapping file, which is then used as it is: LightGBM's text, or XGBoost's JSON.
pub const BROUGHT: [&str; 2] = ["model.txt", "model.json"];
/// XGBoost's other formats, which are not read.
const BINARY: [&str; 3] = ["model.ubj", "model.bin", "model.model"];

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
    #[error("{} is binary; save the model with Booster.save_model(\"model.json\")", .0.display())]
    Binary(PathBuf),
    /// Two models.
    #[error("{} and {} are both there; leave the one that is to be used", .0.display(), .1.display())]
    Two(PathBuf, PathBuf),
    /// Python could not be started, or the script failed.
    #[error(
        "{0}; the training script needs Python 3.11 with models/gbdt/requirements.txt; name it in {PYTHON}, or put a trained model beside mapping.toml as model.txt (LightGBM) or model.json (XGBoost)"
    )]
    Script(String),
}

/// The text of the trees: the model that stands in `folder`, or one trained on `features` by the script that stands
/// there, or else in `own`.
///
/// # Errors
/// Where there is neither, there are two models, the model is of a format that is not read, or the script fails.
pub fn trees(folder: &Path, own: &Path, features: &Path, out: &Path) -> Result<String, LearnError> {
    let there = |names: &[&str]| -> Vec<PathBuf> {
        let files = names.iter().map(|name| folder.join(name));
        files.filter(|file| file.is_file()).collect()
    };
    match there(&BROUGHT).as_slice() {
        [] => {}
        [model] => return read(model),
        [one, other, ..] => return Err(LearnError::Two(one.clone(), other.clone())),
    }
    if let Some(binary) = there(&BINARY).into_iter().next() {
        return Err(LearnError::Binary(binary));
    }
    let script = folder.join("train.py");
    let script = if script.is_file() {
        script
    } else {
        own.join("train.py")
    };
    let python = std::env::var_os(PYTHON).unwrap_or_else(|| OsString::from("python3"));
    let output = Command::new(python)
        .arg(script)
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
    fn a_brought_model_is_taken_and_what_cannot_be_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let brought = || {
            trees(
                folder,
                folder,
                &folder.join("features.csv"),
                &folder.join("out.txt"),
            )
        };
        let refused = || brought().unwrap_err().to_string();
        std::fs::write(folder.join("model.ubj"), [0xFF]).unwrap();
        assert!(refused().contains("model.ubj is binary"), "{}", refused());
        std::fs::write(folder.join("model.json"), "{}").unwrap();
        assert_eq!(brought().unwrap(), "{}");
        std::fs::write(folder.join("model.txt"), "tree\n").unwrap();
        assert!(refused().contains("are both there"), "{}", refused());
        std::fs::remove_file(folder.join("model.json")).unwrap();
        assert_eq!(brought().unwrap(), "tree\n");
    }
}
