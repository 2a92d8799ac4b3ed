//! The sources of settings and their precedence.

use super::Settings;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Resolved settings and their sources.
pub struct SourcedSettings<T> {
    /// The settings.
    pub settings: T,
    /// Each setting that has a value, with its source.
    pub sources: Vec<(String, Value, String)>,
}

/// The reason why settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("cannot read the configuration {path}: {source}; check --config")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The file system's error.
        source: std::io::Error,
    },
    /// The file is not TOML.
    #[error("the configuration {path} is not TOML at line {line}, column {column}: {problem}")]
    NotToml {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// The parser's message, without the line's text.
        problem: String,
    },
    /// The file names a setting that there is none of, or gives one another type.
    #[error("invalid {key} in the configuration {path}: {problem}")]
    Refused {
        /// The file.
        path: PathBuf,
        /// The setting, or the whole file.
        key: String,
        /// The reason.
        problem: serde_json::Error,
    },
    /// The settings do not fit together.
    #[error("{0}")]
    Inconsistent(serde_json::Error),
}

/// Merges the `arguments` of a command with the file at `config`. Flags and environment variables
/// override the file, which overrides the defaults. `matches` tells these apart. The fields of `T`
/// are some of [`Settings`].
///
/// # Errors
/// [`SettingsError`] if the file cannot be read or is not TOML, or a key is unknown or of another
/// type.
pub fn resolve<T: Serialize + DeserializeOwned>(
    arguments: &T,
    matches: &ArgMatches,
    config: Option<&Path>,
) -> Result<SourcedSettings<T>, SettingsError> {
    // In the order of their names, as they are shown.
    let mut found: BTreeMap<String, (Value, String)> = BTreeMap::new();
    if let Some(path) = config {
        let file = read(path)?.into_iter();
        found.extend(file.map(|(name, value)| (name, (value, path.display().to_string()))));
    }
    let arguments = serde_json::to_value(arguments).map_err(SettingsError::Inconsistent)?;
    for (name, value) in arguments.as_object().cloned().unwrap_or_default() {
        let source = match matches.value_source(&name) {
            Some(ValueSource::CommandLine) => format!("--{}", name.replace('_', "-")),
            Some(ValueSource::EnvVariable) => format!("DOMESDAY_{}", name.to_uppercase()),
            _ if found.contains_key(&name) => continue,
            _ => "default".to_owned(),
        };
        found.insert(name, (value, source));
    }
    let values = found
        .iter()
        .map(|(name, (value, _))| (name.clone(), value.clone()));
    let settings = serde_json::from_value(Value::Object(values.collect()))
        .map_err(SettingsError::Inconsistent)?;
    let sources = found
        .into_iter()
        .map(|(name, (value, source))| (name, value, source));
    Ok(SourcedSettings {
        settings,
        sources: sources.collect(),
    })
}

/// Reads the settings of a file. It checks that each key is known and each value is of its type.
fn read(path: &Path) -> Result<Map<String, Value>, SettingsError> {
    let text = std::fs::read_to_string(path).map_err(|source| SettingsError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let file: Map<String, Value> =
        toml::from_str(&text).map_err(|error| syntax_error(path, &text, &error))?;
    let defaults = built_in();
    for (key, value) in &file {
        // One at a time, so that the error is of this key.
        let mut settings = defaults.clone();
        settings.insert(key.clone(), value.clone());
        serde_json::from_value::<Settings>(Value::Object(settings)).map_err(|problem| {
            SettingsError::Refused {
                path: path.to_owned(),
                key: key.clone(),
                problem,
            }
        })?;
    }
    Ok(file)
}

/// Returns the error of a file that is not TOML. The parser's own text repeats the line, which may
/// hold the password of a database.
fn syntax_error(path: &Path, text: &str, error: &toml::de::Error) -> SettingsError {
    let start = error.span().map_or(0, |span| span.start);
    let before = text.get(..start).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    SettingsError::NotToml {
        path: path.to_owned(),
        line: before.matches('\n').count() + 1,
        column: line.chars().count() + 1,
        problem: error.message().replace('\n', ", "),
    }
}

impl Settings {
    /// Returns the default settings, whatever the environment says.
    ///
    /// # Errors
    /// None that the defaults can cause.
    pub fn built_in() -> Result<Settings, SettingsError> {
        serde_json::from_value(Value::Object(built_in())).map_err(SettingsError::Inconsistent)
    }
}

/// Returns the default settings.
pub(super) fn built_in() -> Map<String, Value> {
    let settings = Settings::augment_args(Command::new("settings"))
        .mut_args(|argument| argument.env(None::<&'static str>))
        .try_get_matches_from(["settings"])
        .and_then(|matches| Settings::from_arg_matches(&matches));
    // Every setting has a default or may be absent. A test reads them.
    let value = settings.map(|settings| serde_json::to_value(settings).unwrap_or_default());
    value
        .ok()
        .and_then(|value| value.as_object().cloned())
        .unwrap_or_default()
}
