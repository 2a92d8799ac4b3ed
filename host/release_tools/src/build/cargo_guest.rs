//! A model's crate, built into a component, and its `fit` program.

use super::crate_error::CrateError;
use domesday_engine::component::encode;
use domesday_package::{Model, Sha256Digest, TrainingWindow};
use domesday_registers::Progress;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
/// The profile of a workspace whose `release` is for something else than components.
const OWN_PROFILE: &str = "guest";
/// The file that a build of a component locks, in the target folder.
const LOCK: &str = "component.lock";
/// Names the file of fitted parameters to a model's build script.
const PARAMETERS_VARIABLE: &str = "DOMESDAY_PARAMETERS";

/// A model's crate.
pub struct Guest {
    manifest: PathBuf,
    name: String,
    version: String,
    /// The folder of the workspace that it belongs to, which may be its own.
    workspace: PathBuf,
    target_directory: PathBuf,
    /// The profile of cargo's that the component is built with.
    profile: &'static str,
    fitted: bool,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    target_directory: PathBuf,
    workspace_root: PathBuf,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

impl Guest {
    /// Reads cargo's metadata of the crate.
    ///
    /// # Errors
    /// [`CrateError::NotAPackage`] for a folder without a crate, [`CrateError::NoLibrary`] for a
    /// crate without a `cdylib`. Another [`CrateError`] if cargo cannot read it.
    pub fn of(model: &Path) -> Result<Guest, CrateError> {
        let manifest = model.join("Cargo.toml");
        let manifest = manifest
            .canonicalize()
            .map_err(|source| CrateError::NotFound {
                path: manifest,
                source,
            })?;
        let output = cargo(&manifest)
            .args([
                "metadata",
                "--no-deps",
                "--format-version",
                "1",
                "--manifest-path",
            ])
            .arg(&manifest)
            .output()
            .map_err(CrateError::NoCargo)?;
        if !output.status.success() {
            return Err(CrateError::NotRead {
                path: manifest,
                output: message(&output.stderr),
            });
        }
        let metadata: Metadata =
            serde_json::from_slice(&output.stdout).map_err(CrateError::Metadata)?;
        let package = metadata
            .packages
            .into_iter()
            .find(|package| package.manifest_path == manifest)
            .ok_or_else(|| CrateError::NotAPackage(manifest.clone()))?;
        let has = |kind: &str, name: Option<&str>| {
            package.targets.iter().any(|target| {
                target.kind.iter().any(|k| k == kind) && name.is_none_or(|name| target.name == name)
            })
        };
        if !has("cdylib", None) {
            return Err(CrateError::NoLibrary(manifest));
        }
        Ok(Guest {
            fitted: has("bin", Some("fit")),
            manifest,
            profile: profile(&metadata.workspace_root)?,
            name: package.name,
            version: package.version,
            workspace: metadata.workspace_root,
            // Beside cargo's own folders, so that a build under way elsewhere is not waited for.
            target_directory: metadata.target_directory.join("releases"),
        })
    }

    /// Reports whether the crate has a binary `fit`.
    pub fn is_fitted(&self) -> bool {
        self.fitted
    }

    /// Returns the model's entry in a manifest.
    pub fn manifest_entry(
        &self,
        parameters_sha256: Option<Sha256Digest>,
        training_window: Option<TrainingWindow>,
    ) -> Model {
        Model {
            name: self.name.clone(),
            version: self.version.clone(),
            parameters_sha256,
            training_window,
        }
    }

    /// Builds the component with these parameters in it. `progress` hears of another build that
    /// this one waits for.
    ///
    /// # Errors
    /// [`CrateError::Failed`] if the crate does not compile for the sandbox, [`CrateError::File`]
    /// if a file or the lock of the builds cannot be used.
    pub fn component(
        &self,
        parameters: Option<&Path>,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<u8>, CrateError> {
        self.component_in((&self.target_directory, &[]), parameters, progress)
    }

    /// Builds the same component with the names of its functions, which is larger.
    ///
    /// # Errors
    /// As [`Guest::component`].
    pub fn named_component(
        &self,
        parameters: Option<&Path>,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<u8>, CrateError> {
        // A flag, since another profile would give the compiler other symbols, and so other code. A
        // separate folder, so that neither build makes the other begin anew.
        let folder = self.target_directory.join("named");
        self.component_in((&folder, &["-Cstrip=none"]), parameters, progress)
    }

    fn component_in(
        &self,
        (target_directory, flags): (&Path, &[&str]),
        parameters: Option<&Path>,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<u8>, CrateError> {
        let module = target_directory
            .join(TARGET)
            .join(self.profile)
            .join(format!("{}.wasm", self.name.replace('-', "_")));
        // Two builds of one crate write the same file, and neither may read the other's.
        let _building = self.lock(progress)?;
        let mut command = cargo(&self.manifest);
        command
            .args([
                "build",
                "--quiet",
                "--profile",
                self.profile,
                "--lib",
                "--target",
                TARGET,
                "--manifest-path",
            ])
            .arg(&self.manifest)
            .arg("--target-dir")
            .arg(target_directory)
            .env_remove("RUSTFLAGS")
            // Incremental compilation divides the crate differently, so it is other code.
            .env("CARGO_INCREMENTAL", "0")
            // The sandbox resets a limited part of linear memory by copying. The stack and the data
            // above it fit into that part. With the default stack of a megabyte they would not.
            .env(
                "CARGO_ENCODED_RUSTFLAGS",
                std::iter::once("-Clink-arg=-zstack-size=131072".to_owned())
                    .chain(remap_flags(&self.workspace, target_directory))
                    .chain(flags.iter().map(|flag| (*flag).to_owned()))
                    .collect::<Vec<_>>()
                    .join("\u{1f}"),
            );
        match parameters {
            Some(path) => {
                let parameters = path.canonicalize().map_err(CrateError::file(path))?;
                command.env(PARAMETERS_VARIABLE, parameters)
            }
            None => command.env_remove(PARAMETERS_VARIABLE),
        };
        run(
            &mut command,
            "the model could not be built; `rustup target add wasm32-unknown-unknown` may be missing",
        )?;
        let module = std::fs::read(&module).map_err(CrateError::file(&module))?;
        Ok(encode(&module)?)
    }

    /// Waits until no other process builds a component in this folder, as cargo itself waits.
    fn lock(&self, progress: &mut Progress<'_>) -> Result<File, CrateError> {
        let path = self.target_directory.join(LOCK);
        let mut take = || {
            std::fs::create_dir_all(&self.target_directory)?;
            let file = File::create(&path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    progress("waiting for another build", 0, 1);
                    file.lock()?;
                    progress("building the model", 0, 1);
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
            Ok(file)
        };
        take().map_err(CrateError::file(&path))
    }

    /// Runs the crate's `fit` program: words, paths, words, and the path that it writes.
    ///
    /// # Errors
    /// The program fails. The error holds its output.
    pub fn fit(
        &self,
        verb: &[&str],
        paths: &[&Path],
        options: &[&str],
        out: &Path,
    ) -> Result<(), CrateError> {
        let mut command = cargo(&self.manifest);
        command
            .args([
                "run",
                "--quiet",
                "--profile",
                self.profile,
                "--bin",
                "fit",
                "--manifest-path",
            ])
            .arg(&self.manifest)
            .arg("--target-dir")
            .arg(&self.target_directory)
            .env_remove(PARAMETERS_VARIABLE)
            .arg("--")
            .args(verb)
            .args(paths)
            .args(options)
            .arg(out);
        run(&mut command, "the model's fit program failed")
    }
}

/// Returns the profile that a workspace builds its components with: its own profile `guest`, or
/// `release` where it has none.
fn profile(workspace: &Path) -> Result<&'static str, CrateError> {
    #[derive(Deserialize)]
    struct Manifest {
        #[serde(default)]
        profile: BTreeMap<String, toml::Value>,
    }
    let path = workspace.join("Cargo.toml");
    let text = std::fs::read_to_string(&path).map_err(CrateError::file(&path))?;
    let manifest: Manifest = toml::from_str(&text).map_err(|source| CrateError::Manifest {
        path,
        source: Box::new(source),
    })?;
    Ok(if manifest.profile.contains_key(OWN_PROFILE) {
        OWN_PROFILE
    } else {
        "release"
    })
}

/// Paths of the building machine would otherwise stand in every panic message of a component, and
/// make its bytes differ from machine to machine. So would the folder that it is built in, where
/// the build script's output lies; of prefixes that match the last counts.
fn remap_flags(workspace: &Path, target: &Path) -> impl Iterator<Item = String> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    [
        (home, "/cargo"),
        (Some(workspace.to_owned()), "/source"),
        (Some(target.to_owned()), "/target"),
    ]
    .into_iter()
    .filter_map(|(from, to)| Some(format!("--remap-path-prefix={}={to}", from?.display())))
}

/// Returns a call of Cargo in the crate's own folder, where its `rust-toolchain.toml` applies.
fn cargo(manifest: &Path) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    if let Some(folder) = manifest.parent() {
        command.current_dir(folder);
    }
    command
}

fn run(command: &mut Command, failure: &'static str) -> Result<(), CrateError> {
    let output = command.output().map_err(CrateError::NotStarted)?;
    match output.status.success() {
        true => Ok(()),
        false => Err(CrateError::Failed {
            failure,
            output: message(&output.stderr),
        }),
    }
}

fn message(stderr: &[u8]) -> String {
    String::from_utf8_lossy(stderr).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn guest(folder: &Path) -> Guest {
        Guest {
            manifest: folder.join("Cargo.toml"),
            name: "model".to_owned(),
            version: "1.0.0".to_owned(),
            workspace: folder.to_owned(),
            target_directory: folder.join("target"),
            profile: "release",
            fitted: false,
        }
    }

    #[test]
    fn a_build_says_that_it_waits_for_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let guest = guest(folder.path());
        let other = guest
            .lock(&mut |stage, _, _| panic!("nothing to wait for: {stage}"))
            .unwrap();
        let (heard, stages) = mpsc::channel();
        std::thread::scope(|scope| {
            let waiting = scope
                .spawn(|| guest.lock(&mut |stage, _, _| heard.send(stage.to_owned()).unwrap()));
            assert_eq!(stages.recv().unwrap(), "waiting for another build");
            drop(other);
            waiting.join().unwrap().unwrap();
        });
        assert_eq!(stages.recv().unwrap(), "building the model");
    }

    #[test]
    fn absent_parameters_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("parameters.json");
        let built = guest(folder.path()).component(Some(&path), &mut |_, _, _| ());
        let error = built.unwrap_err().to_string();
        assert!(error.contains("parameters.json"), "{error}");
    }
}
