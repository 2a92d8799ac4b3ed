//! The configuration of a round, a TOML file.

use crate::error::{RefreshError, io_error};
use crate::file_kind::FileKind;
use crate::part::Part;
use domesday_package::PackageId;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{self, Path, PathBuf};
use std::time::Duration;

/// The settings of a round. Paths are relative to the file's folder.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefreshConfig {
    /// The folder of files that arrived. Folders within it are searched too.
    pub inbox: PathBuf,
    /// A location in an object store whose files are copied to the inbox before each round.
    pub fetch_from: Option<String>,
    /// The folder of releases.
    pub releases: PathBuf,
    /// The folder of reports, logs and the record.
    pub reports: PathBuf,
    /// The private key that signs the packages of a round.
    pub sign_with: PathBuf,
    /// Names of files and folders in the inbox that are for people alone.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// Seconds for which a file must not have changed. A younger one may still be arriving.
    #[serde(default = "default_settle_seconds")]
    pub settle_seconds: u64,
    /// Hours after which a step is ended.
    #[serde(default = "default_step_hours")]
    pub step_hours: u64,
    /// True if the files are invented.
    #[serde(default)]
    pub synthetic: bool,
    /// The service that promotions go to.
    #[serde(default)]
    pub service: ServiceConfig,
    /// A folder of releases, a registry or an object store. A release is published there before its
    /// promotion, so that hosts fetch it.
    pub publish_to: Option<String>,
    /// Days within which a new file of a kind is expected.
    #[serde(default)]
    pub expected_within_days: BTreeMap<FileKind, u16>,
    /// The property snapshot.
    pub snapshot: Option<SnapshotConfig>,
    /// The valuation release.
    pub valuation: Option<ValuationConfig>,
    /// The release of market statistics.
    pub markets: Option<SeriesConfig>,
    /// The release of rates.
    pub rates: Option<SeriesConfig>,
}

/// The service that promotions go to. What is left out is as the commands have it without options:
/// by `DOMESDAY_DATA`, `DOMESDAY_CONFIG` and `DOMESDAY_STATE`, or else their defaults.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceConfig {
    /// The folder of its state.
    pub data: Option<PathBuf>,
    /// Its settings file.
    pub config: Option<PathBuf>,
}

/// The snapshot that a round builds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotConfig {
    /// The beginning of its ids.
    pub prefix: String,
    /// Further arguments of `property build`.
    #[serde(default)]
    pub arguments: Vec<String>,
}

/// The valuation release that a round builds on each new snapshot.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValuationConfig {
    /// The beginning of its ids.
    pub prefix: String,
    /// The folder of the model.
    pub model: PathBuf,
    /// The policy for a release that passed its check.
    #[serde(default)]
    pub policy: Policy,
    /// The largest median change of estimates, as a share, that is promoted without a person.
    #[serde(default = "default_largest_change")]
    pub largest_change: f64,
    /// Further arguments of `release build`.
    #[serde(default)]
    pub arguments: Vec<String>,
}

/// A release of series that a round builds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeriesConfig {
    /// The beginning of its ids.
    pub prefix: String,
    /// The policy for a release that was built.
    #[serde(default)]
    pub policy: Policy,
    /// Further arguments of `series build`.
    #[serde(default)]
    pub arguments: Vec<String>,
}

impl SeriesConfig {
    fn settings(&self) -> PartSettings<'_> {
        PartSettings {
            prefix: &self.prefix,
            arguments: &self.arguments,
            policy: Some(self.policy),
        }
    }
}

/// The settings that parts share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartSettings<'a> {
    /// The beginning of ids.
    pub(crate) prefix: &'a str,
    /// Further arguments of the build.
    pub(crate) arguments: &'a [String],
    /// The policy, for a part that can be promoted.
    pub(crate) policy: Option<Policy>,
}

/// The treatment of a release that was built and found sound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// The report names the command that promotes it.
    #[default]
    Propose,
    /// The round promotes it.
    Promote,
}

fn default_settle_seconds() -> u64 {
    60
}

fn default_step_hours() -> u64 {
    12
}

fn default_largest_change() -> f64 {
    0.05
}

impl RefreshConfig {
    /// Reads a configuration.
    ///
    /// # Errors
    /// [`RefreshError::Io`] or [`RefreshError::Config`].
    pub fn read(path: &Path) -> Result<RefreshConfig, RefreshError> {
        let text = fs::read_to_string(path).map_err(io_error(path))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        RefreshConfig::parse(&text, folder).map_err(|message| RefreshError::Config {
            path: path.to_owned(),
            message,
        })
    }

    /// Parses a configuration whose paths are relative to a folder.
    fn parse(text: &str, folder: &Path) -> Result<RefreshConfig, String> {
        let mut config: RefreshConfig =
            toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        let paths = [
            &mut config.inbox,
            &mut config.releases,
            &mut config.reports,
            &mut config.sign_with,
        ];
        let service = &mut config.service;
        let of_service = [&mut service.data, &mut service.config];
        for path in paths.into_iter().chain(of_service.into_iter().flatten()) {
            *path = folder.join(&*path);
        }
        if let Some(valuation) = &mut config.valuation {
            valuation.model = folder.join(&valuation.model);
            if config.snapshot.is_none() {
                return Err("[valuation] needs [snapshot], which it is built on".to_owned());
            }
            if !(0.0..=1.0).contains(&valuation.largest_change) {
                return Err(format!(
                    "valuation.largest_change is {}; state a share from 0 to 1, such as 0.05",
                    valuation.largest_change
                ));
            }
        }
        if config.parts().next().is_none() {
            return Err("it names nothing to build; add [snapshot], [markets] or [rates]".into());
        }
        for (name, path) in [("reports", &config.reports), ("releases", &config.releases)] {
            if absolute(path).starts_with(absolute(&config.inbox)) {
                return Err(format!(
                    "{name} lies in the inbox; name a folder outside it"
                ));
            }
        }
        if config.step_hours == 0 {
            return Err("step_hours is 0; a step needs at least 1".to_owned());
        }
        for settings in config.parts() {
            if settings.prefix.parse::<PackageId>().is_err() {
                return Err(format!(
                    "prefix {:?}: ids have lower-case letters, digits, dots, hyphens and underscores",
                    settings.prefix
                ));
            }
        }
        if config
            .fetch_from
            .as_ref()
            .is_some_and(|location| location.contains('@'))
        {
            return Err("fetch_from has an @; set user and password in the environment".to_owned());
        }
        if let Some(location) = &mut config.publish_to {
            if location.contains('@') {
                // It is not repeated, since it may hold a password.
                return Err("publish_to has an @; log in as `docker login` does, and leave the password out".to_owned());
            }
            if !location.contains("://") {
                *location = folder.join(&*location).to_string_lossy().into_owned();
            }
        }
        Ok(config)
    }

    /// Returns the settings of a part, if the configuration has it.
    pub(crate) fn part(&self, part: Part) -> Option<PartSettings<'_>> {
        match part {
            Part::Rates => self.rates.as_ref().map(SeriesConfig::settings),
            Part::Markets => self.markets.as_ref().map(SeriesConfig::settings),
            Part::Snapshot => self.snapshot.as_ref().map(|it| PartSettings {
                prefix: &it.prefix,
                arguments: &it.arguments,
                policy: None,
            }),
            Part::Valuation => self.valuation.as_ref().map(|it| PartSettings {
                prefix: &it.prefix,
                arguments: &it.arguments,
                policy: Some(it.policy),
            }),
        }
    }

    fn parts(&self) -> impl Iterator<Item = PartSettings<'_>> {
        Part::ALL.into_iter().filter_map(|part| self.part(part))
    }

    /// Returns the longest time of a step.
    pub fn step_time(&self) -> Duration {
        Duration::from_secs(self.step_hours.saturating_mul(3_600))
    }
}

/// Returns an absolute path without `.` in it, where the system knows one.
fn absolute(path: &Path) -> PathBuf {
    path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const WHOLE: &str = r#"
        inbox = "inbox"
        releases = "releases"
        reports = "reports"
        sign_with = "my.key"
        service = { data = "data" }
        expected_within_days = { price-paid = 40 }
        [snapshot]
        prefix = "registers"
        [valuation]
        prefix = "hedonic"
        model = "models/hedonic"
        policy = "promote"
        [markets]
        prefix = "markets"
        arguments = ["--whole-country"]
        [rates]
        prefix = "rates"
        policy = "promote"
    "#;

    /// Returns a configuration of every part.
    pub(crate) fn whole() -> RefreshConfig {
        RefreshConfig::parse(WHOLE, Path::new("/etc/domesday")).unwrap()
    }

    #[test]
    fn paths_are_relative_to_the_file_and_what_is_left_out_has_defaults() {
        let config = whole();
        assert_eq!(config.inbox, Path::new("/etc/domesday/inbox"));
        let data = config.service.data.unwrap();
        assert_eq!(data, Path::new("/etc/domesday/data"));
        let valuation = config.valuation.unwrap();
        assert_eq!(valuation.model, Path::new("/etc/domesday/models/hedonic"));
        assert_eq!(valuation.largest_change, 0.05);
        assert_eq!(config.markets.unwrap().policy, Policy::Propose);
        assert_eq!((config.settle_seconds, config.step_hours), (60, 12));
        assert_eq!(config.expected_within_days[&FileKind::PricePaid], 40);
    }

    #[test]
    fn the_example_is_a_configuration() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../examples/refresh/refresh.toml"
        );
        let config = RefreshConfig::read(Path::new(path)).unwrap();
        assert_eq!(config.valuation.unwrap().policy, Policy::Propose);
    }

    #[test]
    fn a_configuration_that_cannot_be_meant_is_refused_with_its_reason() {
        let refused = |text: &str| RefreshConfig::parse(text, Path::new(".")).unwrap_err();
        assert!(refused("inbocks = 1").contains("inbocks"));
        let base = "inbox = 'i'\nreleases = 'r'\nreports = 'p'\nsign_with = 'k'\n";
        assert!(refused(base).contains("names nothing to build"));
        let alone = format!("{base}[valuation]\nprefix = 'h'\nmodel = 'm'\n");
        assert!(refused(&alone).contains("needs [snapshot]"));
        let far = format!("{alone}largest_change = 5\n[snapshot]\nprefix = 's'\n");
        assert!(refused(&far).contains("largest_change is 5"));
        let within = "inbox = 'i'\nreleases = 'r'\nreports = 'i/p'\nsign_with = 'k'\n[rates]\nprefix = 'x'\n";
        assert!(refused(within).contains("outside it"));
        let part = "[rates]\nprefix = 'x'\n";
        assert!(refused(&format!("{base}step_hours = 0\n{part}")).contains("step_hours"));
        let prefix = refused(&format!("{base}[rates]\nprefix = '../X'\n"));
        assert!(prefix.contains("lower-case"), "{prefix}");
        let secret = refused(&format!("{base}publish_to = 'oci://u:pw@r/x'\n{part}"));
        assert!(
            secret.contains("publish_to") && !secret.contains("pw"),
            "{secret}"
        );
        let kinds = format!("{base}expected_within_days = {{ prices = 3 }}\n[rates]\nprefix = 'x'");
        assert!(refused(&kinds).contains("unknown variant `prices`"));
    }
}
