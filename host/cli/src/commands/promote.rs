//! `domesday release promote`.

use super::operator::operator;
use super::target::AdminTarget;
use super::trust::trust;
use anyhow::bail;
use clap::ArgMatches;
use clap::parser::ValueSource;
use domesday_package::PackageId;
use domesday_server::admin::protocol::{
    Command, LedgerEntry, ReleaseFetch, ReleaseKindArg, Response,
};
use domesday_server::clock::{Clock, MachineClock, random};
use domesday_server::config::resolve;
use domesday_server::offline_promotion::promote_offline;
use domesday_server::promotion::{PromotionRequest, PromotionRules};
use domesday_state::{LONGEST_REASON, is_reason};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Arguments of `release promote`.
#[derive(Debug, clap::Args)]
pub struct Promote {
    /// Id of the package.
    id: PackageId,
    /// Kind of the release.
    #[arg(long, value_enum, default_value = "valuation")]
    kind: ReleaseKindArg,
    /// Reason, for the promotion ledger.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Person who promotes, for the promotion ledger (default: sudo's user, if any).
    #[arg(long, env = "DOMESDAY_OPERATOR", value_name = "NAME")]
    by: Option<String>,
    #[command(flatten)]
    settings: PromotionSettings,
    /// Promote it without a trusted signature and without a check report, if no server runs.
    #[arg(long)]
    allow_unsigned: bool,
    #[command(flatten)]
    target: AdminTarget,
}

/// The settings of `domesday serve` that a promotion needs where no server runs.
#[derive(Debug, clap::Args, Serialize, Deserialize)]
struct PromotionSettings {
    /// Folder of releases, if no server runs; a running server uses its own.
    #[arg(
        long,
        env = "DOMESDAY_RELEASES",
        default_value = "releases",
        value_name = "DIR"
    )]
    releases: PathBuf,
    /// Demand a second person's approval, if no server runs; a running server uses its own setting.
    #[arg(long, env = "DOMESDAY_PROMOTION_SECOND_KEY")]
    promotion_second_key: bool,
}

impl Promote {
    /// Promotes the release through the server, or else in the state.
    ///
    /// # Errors
    /// The release cannot be served, was not checked as it must be, or the state fails.
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<()> {
        let target = self.target.resolve(matches)?;
        if self.reason.as_deref().is_some_and(|text| !is_reason(text)) {
            bail!("--reason: write one line of at most {LONGEST_REASON} characters");
        }
        let by = stated_person(self.by.as_deref(), matches.value_source("by"));
        let who = operator(by)?;
        let command = Command::Promote {
            kind: self.kind,
            release: self.id.to_string(),
            who: who.clone(),
            reason: self.reason.clone(),
        };
        let watch = &mut |fetch: &ReleaseFetch| {
            let (release, mebibytes) = (&fetch.release, fetch.bytes >> 20);
            eprintln!("The server fetches {release}: {mebibytes} MiB so far");
        };
        let entry = match target.execute_watched(&command, watch)? {
            Some(Response::Promoted(entry)) => {
                let given = matches.value_source("releases") == Some(ValueSource::CommandLine);
                if given || self.allow_unsigned || self.settings.promotion_second_key {
                    eprintln!(
                        "A server runs here: it took the package from its own releases folder, by its own trust and its own setting of a second key."
                    );
                }
                entry
            }
            Some(_) => bail!("unexpected reply from the server: versions may differ"),
            None => {
                let config = self.target.config.as_deref();
                let settings = resolve(&self.settings, matches, config)?.settings;
                self.in_state(&target, &settings, &who)?
            }
        };
        println!("{} is current", self.id);
        eprintln!("Promotion ledger: {}", hex::encode(entry.hash));
        Ok(())
    }

    /// Promotes the release where no server runs.
    fn in_state(
        &self,
        target: &AdminTarget,
        settings: &PromotionSettings,
        who: &str,
    ) -> anyhow::Result<LedgerEntry> {
        let unsigned = self.allow_unsigned.then(|| self.id.to_string());
        let trust = trust(&settings.releases, unsigned.as_slice())?;
        let rules = PromotionRules {
            releases: &settings.releases,
            trust: &trust,
            second_key: settings.promotion_second_key,
        };
        let request = PromotionRequest {
            kind: self.kind.into(),
            release_id: self.id.as_str(),
            who,
            reason: self.reason.as_deref(),
        };
        let (data, now) = (target.data.as_path(), MachineClock.now());
        let open_state = || target.open_state();
        Ok(promote_offline(open_state, (data, random()?), rules, request, now)?.into())
    }
}

/// Returns the person that is stated. A file of settings may name the variable and leave it empty,
/// which states nobody.
fn stated_person(by: Option<&str>, source: Option<ValueSource>) -> Option<&str> {
    by.filter(|by| !by.is_empty() || source != Some(ValueSource::EnvVariable))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::{Arguments, execute};
    use clap::CommandFactory;
    use std::fs;
    use std::path::Path;

    #[test]
    fn an_empty_variable_states_nobody_and_an_empty_option_is_refused() {
        let variable = Some(ValueSource::EnvVariable);
        assert_eq!(stated_person(Some(""), variable), None);
        assert_eq!(stated_person(Some("Alice"), variable), Some("Alice"));
        let stated = stated_person(Some(""), Some(ValueSource::CommandLine));
        assert!(operator(stated).is_err());
    }

    #[test]
    fn without_a_server_the_releases_are_those_of_the_command_line_or_else_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let [data, named, flagged] =
            ["data", "named", "flagged"].map(|name| folder.path().join(name));
        // The error names the folder, since nobody can read its keys.
        for releases in [&named, &flagged] {
            fs::create_dir_all(releases.join("keys")).unwrap();
            fs::write(releases.join("keys/broken.pub"), "no key").unwrap();
        }
        let config = folder.path().join("domesday.toml");
        let (data, releases) = (data.display(), named.display());
        let settings = format!("data = \"{data}\"\nreleases = \"{releases}\"\n");
        fs::write(&config, settings).unwrap();
        let refused = |flags: &[&str]| {
            let words = ["domesday", "release", "promote", "trees-1", "--config"];
            let words = [&words[..], &[config.to_str().unwrap()], flags].concat();
            let matches = Arguments::command().try_get_matches_from(words).unwrap();
            execute(&matches).unwrap_err().to_string()
        };
        let unreadable = |releases: &Path| {
            let keys = releases.join("keys");
            format!("cannot read the trusted keys in {}", keys.display())
        };
        assert_eq!(refused(&[]), unreadable(&named));
        let flags = ["--releases", flagged.to_str().unwrap()];
        assert_eq!(refused(&flags), unreadable(&flagged));
    }
}
