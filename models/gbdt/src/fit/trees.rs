//! The trees: a team's trained model, or one trained here on the component's features.

use crate::assembly::Document;
use crate::expected::ExpectedRow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Environment variable with the Python that has the packages of `requirements.txt`.
pub const PYTHON: &str = "DOMESDAY_PYTHON";
/// Environment variable with the folder of a team's mapping file and model. By default they stand
/// beside Cargo.toml.
pub const FOLDER: &str = "DOMESDAY_GBDT";
/// Trained models beside the mapping file, used as they are: LightGBM's text or XGBoost's JSON.
pub const TRAINED_MODELS: [&str; 2] = ["model.txt", "model.json"];
/// XGBoost's binary formats, which are not supported.
const BINARY_MODELS: [&str; 3] = ["model.ubj", "model.bin", "model.model"];
/// Endings of models that no release can hold, whatever the file's name.
const FOREIGN_ENDINGS: [&str; 10] = [
    "onnx",
    "cbm",
    "pkl",
    "pickle",
    "joblib",
    "ubj",
    "pmml",
    "h5",
    "pt",
    "safetensors",
];

/// The reason why no trees could be read or trained.
#[derive(Debug, thiserror::Error)]
pub enum TreesError {
    /// A file could not be read or written.
    #[error("cannot read or write {}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The model has an unsupported format.
    #[error("{} is binary; save the model with Booster.save_model(\"model.json\")", .0.display())]
    Binary(PathBuf),
    /// The file looks like a model, and no release can hold it.
    #[error(
        "{} is a model that no release can hold; save LightGBM's as model.txt or XGBoost's as model.json, or move the file away",
        .0.display()
    )]
    Foreign(PathBuf),
    /// There are two models.
    #[error("found both {} and {}; remove the one not to use", .0.display(), .1.display())]
    Two(PathBuf, PathBuf),
    /// The mapping asks for training, and a trained model is there.
    #[error("mapping.toml has train = true, and {} is there; remove one of the two", .0.display())]
    TrainedAlready(PathBuf),
    /// There is no model, and the mapping does not ask for training.
    #[error(
        "{} has no trained model; put model.txt (LightGBM) or model.json (XGBoost) there, or set train = true in mapping.toml so that the build trains one",
        .0.display()
    )]
    NoModel(PathBuf),
    /// Python did not start, or the script failed.
    #[error(
        "{0}. Set {PYTHON} to a Python 3.11 with the packages of models/gbdt/requirements.txt, or put a trained model beside mapping.toml: model.txt (LightGBM) or model.json (XGBoost)"
    )]
    Script(String),
}

/// Returns the trained model of a folder, or none where the mapping says that the build trains one.
///
/// # Errors
/// [`TreesError`] if there are two models or one that no release can hold, or if the mapping and
/// the folder disagree.
pub fn find_model(folder: &Path, train: bool) -> Result<Option<PathBuf>, TreesError> {
    let unreadable = |source| TreesError::File {
        path: folder.to_owned(),
        source,
    };
    let mut models = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        match name.as_str() {
            name if TRAINED_MODELS.contains(&name) => models.push(path),
            name if BINARY_MODELS.contains(&name) => return Err(TreesError::Binary(path)),
            name if name.starts_with("model.") || FOREIGN_ENDINGS.contains(&ending) => {
                return Err(TreesError::Foreign(path));
            }
            _ => {}
        }
    }
    models.sort();
    match (models.as_slice(), train) {
        ([], true) => Ok(None),
        ([], false) => Err(TreesError::NoModel(folder.to_owned())),
        ([model], false) => Ok(Some(model.clone())),
        ([model], true) => Err(TreesError::TrainedAlready(model.clone())),
        ([one, other, ..], _) => Err(TreesError::Two(one.clone(), other.clone())),
    }
}

/// Trains trees on `features`, and returns their text. The training script is the one in `folder`,
/// or else the one in `own`.
///
/// # Errors
/// [`TreesError`] if Python does not start or the script fails.
pub fn train(folder: &Path, own: &Path, features: &Path, out: &Path) -> Result<String, TreesError> {
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
        .map_err(|error| TreesError::Script(format!("cannot start Python: {error}")))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let last = stderr.trim().lines().last().unwrap_or("no output");
        return Err(TreesError::Script(format!("train.py failed: {last}")));
    }
    read(out)
}

/// Returns the document with these trees and the predictions that they must give.
pub fn with_trees(document: Document, trees: String, expected: Vec<ExpectedRow>) -> Document {
    Document {
        about: "Trees over the reference model; mapping says what they are given.".to_owned(),
        trees,
        expected,
        ..document
    }
}

/// Reads a model's text.
///
/// # Errors
/// [`TreesError::File`] if the file cannot be read.
pub fn read(path: &Path) -> Result<String, TreesError> {
    std::fs::read_to_string(path).map_err(|source| TreesError::File {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_no_release_can_hold_is_never_replaced_by_another() {
        for name in [
            "model.onnx",
            "model.cbm",
            "valuer.pkl",
            "MODEL.PMML",
            "model.old",
            "model.ubj",
        ] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(name), [0xFF]).unwrap();
            for train in [false, true] {
                let refused = find_model(folder.path(), train).unwrap_err().to_string();
                assert!(refused.contains(name), "{train}: {refused}");
            }
        }
    }

    #[test]
    fn the_mapping_and_the_folder_agree_on_the_model() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let refused = |train| find_model(folder, train).unwrap_err().to_string();
        assert!(
            refused(false).contains("has no trained model"),
            "{}",
            refused(false)
        );
        assert_eq!(find_model(folder, true).unwrap(), None);
        std::fs::write(folder.join("model.json"), "{}").unwrap();
        assert_eq!(
            find_model(folder, false).unwrap(),
            Some(folder.join("model.json"))
        );
        assert!(refused(true).contains("train = true"), "{}", refused(true));
        std::fs::write(folder.join("model.txt"), "tree\n").unwrap();
        assert!(refused(false).contains("found both"), "{}", refused(false));
    }
}
