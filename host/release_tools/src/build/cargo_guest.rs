//! A model's crate, built into a component, and its `fit` program.

use domesday_engine::component::{EncodeError, encode};
use domesday_package::{Model, Sha256Digest, TrainingWindow};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
/// The profile of a workspace whose `release` is for something else than components.
const OWN_PROFILE: &str = "guest";
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

/// The reason why a crate cannot be built or fitted.
#[derive(Debug, thiserror::Error)]
pub enum CrateError {
    /// There is no crate.
    #[error("cannot open the model's crate {path}; set --model to its folder")]
    NotFound {
        /// Its manifest.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// There is no cargo.
    #[error("cannot start cargo, which builds models; install Rust")]
    NoCargo(#[source] io::Error),
    /// Cargo was there before, and is not any more.
    #[error("cannot start cargo; check the Rust installation and build again")]
    NotStarted(#[source] io::Error),
    /// Cargo refuses the manifest.
    #[error("cargo cannot read {path}: {output}")]
    NotRead {
        /// The manifest.
        path: PathBuf,
        /// Cargo's message.
        output: String,
    },
    /// Cargo's description of the crate has another form.
    #[error("cannot read cargo's metadata of the model")]
    Metadata(#[source] serde_json::Error),
    /// The manifest is that of a workspace alone.
    #[error("{0} is not a package; set --model to the folder of one crate")]
    NotAPackage(PathBuf),
    /// The crate makes no library for a component.
    #[error("{0} needs [lib] crate-type = [\"cdylib\", \"rlib\"], to become a component")]
    NoLibrary(PathBuf),
    /// Cargo or the fit program failed.
    #[error("{failure}:\n{output}")]
    Failed {
        /// The step.
        failure: &'static str,
        /// The program's message.
        output: String,
    },
    /// A file cannot be read or written.
    #[error("cannot read or write {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The workspace's manifest is not TOML.
    #[error("cannot read {path}")]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The reason.
        source: Box<toml::de::Error>,
    },
    /// The parameters are not there.
    #[error(transparent)]
    Parameters(#[from] io::Error),
    /// The library cannot become a component.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

impl CrateError {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> CrateError {
        move |source| CrateError::File {
            path: path.to_owned(),
            source,
        }
    }
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

    /// Builds the component with these parameters in it.
    ///
    /// # Errors
    /// [`CrateError::Failed`] if the crate does not compile for the sandbox.
    pub fn component(&self, parameters: Option<&Path>) -> Result<Vec<u8>, CrateError> {
        self.component_in(&self.target_directory, &[], parameters)
    }

    /// Builds the same component with the names of its functions, which is larger.
    ///
    /// # Errors
    /// As [`Guest::component`].
    pub fn named_component(&self, parameters: Option<&Path>) -> Result<Vec<u8>, CrateError> {
        // A flag, since another profile would give the compiler other symbols, and so other code. A
        // separate folder, so that neither build makes the other begin anew.
        let folder = self.target_directory.join("named");
        self.component_in(&folder, &["-Cstrip=none"], parameters)
    }

    fn component_in(
        &self,
        target_directory: &Path,
        flags: &[&str],
        parameters: Option<&Path>,
    ) -> Result<Vec<u8>, CrateError> {
        let module = target_directory
            .join(TARGET)
            .join(self.profile)
            .join(format!("{}.wasm", self.name.replace('-', "_")));
        // Two builds of one crate write the same file, and neither may read the other's.
        let _building = self.lock()?;
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
            Some(path) => command.env(PARAMETERS_VARIABLE, path.canonicalize()?),
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
    fn lock(&self) -> Result<File, CrateError> {
        let path = self.target_directory.join("component.lock");
        let locked = || {
            std::fs::create_dir_all(&self.target_directory)?;
            let file = File::create(&path)?;
            file.lock()?;
            Ok::<_, std::io::Error>(file)
        };
        locked().map_err(CrateError::file(&path))
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
