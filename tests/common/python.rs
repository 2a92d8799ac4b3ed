//! Peers in Python. Each has a folder with a `requirements.txt` that pins its packages. They are
//! installed from PyPI into a separate environment under the target folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns the interpreter of the environment of `folder`, which holds a `requirements.txt`. The
/// environment is installed once below `target`, and again when the pinned versions change.
pub fn interpreter(folder: &Path, target: &Path) -> PathBuf {
    let pinned = folder.join("requirements.txt");
    let requirements = std::fs::read_to_string(&pinned).unwrap();
    // Two folders may have one name: sdk/python and clients/python.
    let [parent, name] = [folder.parent().unwrap(), folder].map(|part| part.file_name().unwrap());
    let name = format!("{}-{}", parent.display(), name.display());
    let environment = target.join("python").join(name);
    install_once(&environment, &requirements, || {
        let mut venv = Command::new("python3");
        run_to_success(venv.args(["-m", "venv", "--clear"]).arg(&environment));
        let mut pip = Command::new(environment.join("bin/pip"));
        run_to_success(
            pip.args(["install", "--quiet", "--disable-pip-version-check"])
                .arg("--requirement")
                .arg(&pinned),
        );
    });
    environment.join("bin/python")
}

/// Installs an environment, unless these pinned versions are installed there already.
pub fn install_once(environment: &Path, pinned: &str, install: impl FnOnce()) {
    let installed = environment.join("installed");
    // One test installs, and those beside it wait.
    std::fs::create_dir_all(environment.parent().unwrap()).unwrap();
    let lock = std::fs::File::create(environment.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    if std::fs::read_to_string(&installed).ok().as_deref() != Some(pinned) {
        install();
        std::fs::write(installed, pinned).unwrap();
    }
}

/// Runs a command that must succeed, and returns its output.
#[track_caller]
pub fn run_to_success(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| {
        panic!("{command:?} could not be run: {error}. This test needs Python 3 with venv and pip.")
    });
    assert!(
        output.status.success(),
        "{command:?} failed. Installing needs PyPI or npm once.\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
