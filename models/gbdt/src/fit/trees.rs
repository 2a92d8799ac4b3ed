//! The trees: a team's trained model, or one trained here on the component's features.

use crate::assembly::Document;
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
    /// There are two models.
    #[error("found both {} and {}; remove the one not to use", .0.display(), .1.display())]
    Two(PathBuf, PathBuf),
    /// Python did not start, or the script failed.
    #[error(
        "{0}. Set {PYTHON} to a Python 3.11 with the packages of models/gbdt/requirements.txt, or put a trained model beside mapping.toml: model.txt (LightGBM) or model.json (XGBoost)"
    )]
    Script(String),
}

/// Returns the text of the trees: the model in `folder`, or one trained on `features`. The training
/// script is the one in `folder`, or else the one in `own`.
///
/// # Errors
/// [`TreesError`] if there are two models, the model's format is not supported, or the script
/// fails.
pub fn read_or_train(
    folder: &Path,
    own: &Path,
    features: &Path,
    out: &Path,
) -> Result<String, TreesError> {
    let there = |names: &[&str]| -> Vec<PathBuf> {
        let files = names.iter().map(|name| folder.join(name));
        files.filter(|file| file.is_file()).collect()
    };
    match there(&TRAINED_MODELS).as_slice() {
        [] => {}
        [model] => return read(model),
        [one, other, ..] => return Err(TreesError::Two(one.clone(), other.clone())),
    }
    if let Some(binary) = there(&BINARY_MODELS).into_iter().next() {
        return Err(TreesError::Binary(binary));
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
        .map_err(|error| TreesError::Script(format!("cannot start Python: {error}")))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let last = stderr.trim().lines().last().unwrap_or("no output");
        return Err(TreesError::Script(format!("train.py failed: {last}")));
    }
    read(out)
}

/// Returns the document with these trees.
pub fn with_trees(document: Document, trees: String) -> Document {
    Document {
        about: "Trees over the reference model; mapping says what they are given.".to_owned(),
        trees,
        ..document
    }
}

fn read(path: &Path) -> Result<String, TreesError> {
    std::fs::read_to_string(path).map_err(|source| TreesError::File {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trained_model_is_read_and_an_ambiguous_or_binary_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let attempt = || {
            read_or_train(
                folder,
                folder,
                &folder.join("features.csv"),
                &folder.join("out.txt"),
            )
        };
        let refused = || attempt().unwrap_err().to_string();
        std::fs::write(folder.join("model.ubj"), [0xFF]).unwrap();
        assert!(refused().contains("model.ubj is binary"), "{}", refused());
        std::fs::write(folder.join("model.json"), "{}").unwrap();
        assert_eq!(attempt().unwrap(), "{}");
        std::fs::write(folder.join("model.txt"), "tree\n").unwrap();
        assert!(refused().contains("found both"), "{}", refused());
        std::fs::remove_file(folder.join("model.json")).unwrap();
        assert_eq!(attempt().unwrap(), "tree\n");
    }
}
