//! The sources of settings and their precedence.

use super::Settings;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use figment::providers::{Format, Serialized, Toml};
use figment::{Figment, Metadata, Profile, Provider};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Resolved settings and their sources.
pub struct Resolved<T> {
    /// The settings.
    pub settings: T,
    /// Each setting that has a value, with its source.
    pub sources: Vec<(String, Value, String)>,
}

/// The reason why settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("the configuration {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
    /// The file is not TOML, or has an unknown setting or one of the wrong type.
    #[error("the configuration {path}: {key}: {problem}")]
    Refused {
        /// The file.
        path: PathBuf,
        /// The setting, or the whole file.
        key: String,
        /// What is wrong, with the setting's name.
        problem: Box<figment::Error>,
    },
    /// The settings do not fit together.
    #[error("{0}")]
    Inconsistent(Box<figment::Error>),
}

/// A source of settings under the name that people know it by.
struct Named(&'static str, Map<String, Value>);

impl Provider for Named {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.0)
    }

    fn data(&self) -> figment::Result<figment::value::Map<Profile, figment::value::Dict>> {
        Serialized::defaults(&self.1).data()
    }
}

/// Lays what a command was `given` (by flag, environment or default) over the file at `config`.
/// `matches` is the command's, and tells which is which; the fields of `T` are some of
/// [`Settings`].
///
/// # Errors
/// Where the file cannot be read, is not TOML, or has a key that is no setting or of another type.
pub fn resolve<T: Serialize + DeserializeOwned>(
    given: &T,
    matches: &ArgMatches,
    config: Option<&Path>,
) -> Result<Resolved<T>, SettingsError> {
    let (mut flags, mut environment, mut defaults) = (Map::new(), Map::new(), Map::new());
    let inconsistent = |error: figment::Error| SettingsError::Inconsistent(Box::new(error));
    let given = serde_json::to_value(given)
        .map_err(|error| inconsistent(figment::Error::from(error.to_string())))?;
    for (name, value) in given.as_object().cloned().unwrap_or_default() {
        match matches.value_source(&name) {
            Some(ValueSource::CommandLine) => flags.insert(name, value),
            Some(ValueSource::EnvVariable) => environment.insert(name, value),
            _ => defaults.insert(name, value),
        };
    }
    let mut figment = Figment::from(Named("default", defaults));
    if let Some(path) = config {
        // The profiles of figment are no part of ours: `[default]` is an unknown key as any other.
        figment = figment.merge(Named("file", read(path)?));
    }
    let figment = figment
        .merge(Named("environment", environment))
        .merge(Named("flag", flags));
    let settings = figment.extract().map_err(|problem| match config {
        Some(path) => refused(path, problem),
        None => inconsistent(problem),
    })?;
    let sources = sources(&figment, config);
    Ok(Resolved { settings, sources })
}

/// The file's settings, each known and of its type.
fn read(path: &Path) -> Result<Map<String, Value>, SettingsError> {
    let refused = |problem| refused(path, problem);
    let text = std::fs::read_to_string(path).map_err(|source| SettingsError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let file: Map<String, Value> = Figment::from(Toml::string(&text))
        .extract()
        .map_err(refused)?;
    Figment::from(Named("default", built_in()))
        .merge(Named("file", file.clone()))
        .extract::<Settings>()
        .map_err(refused)?;
    Ok(file)
}

fn refused(path: &Path, mut problem: figment::Error) -> SettingsError {
    let key = match problem.path.is_empty() {
        true => "the file".to_owned(),
        false => problem.path.join("."),
    };
    // File and key stand in front already, and a profile is nothing that anybody wrote.
    problem.metadata = None;
    problem.profile = None;
    SettingsError::Refused {
        path: path.to_owned(),
        key,
        problem: Box::new(problem),
    }
}

/// Returns the default settings.
pub(super) fn built_in() -> Map<String, Value> {
    let settings = Settings::augment_args(Command::new("settings"))
        .mut_args(|argument| argument.env(None::<&'static str>))
        .try_get_matches_from(["settings"])
        .and_then(|matches| Settings::from_arg_matches(&matches));
    // Every setting has a default or may be absent; a test reads them.
    let value = settings.map(|settings| serde_json::to_value(settings).unwrap_or_default());
    value
        .ok()
        .and_then(|value| value.as_object().cloned())
        .unwrap_or_default()
}

fn sources(figment: &Figment, config: Option<&Path>) -> Vec<(String, Value, String)> {
    let all: Map<String, Value> = figment.extract().unwrap_or_default();
    all.into_iter()
        .map(|(name, value)| {
            let source = figment.find_metadata(&name).map(|found| &*found.name);
            let source = match (source, config) {
                (Some("file"), Some(path)) => path.display().to_string(),
                (Some("environment"), _) => format!("DOMESDAY_{}", name.to_uppercase()),
                (Some("flag"), _) => format!("--{}", name.replace('_', "-")),
                _ => "default".to_owned(),
            };
            (name, value, source)
        })
        .collect()
}
