//! The surroundings of a round, and what it decides and says with them alone.

use crate::absence::add_absent;
use crate::config::{Policy, RefreshConfig};
use crate::error::{RefreshError, io_error};
use crate::file_kind::FileKind;
use crate::inbox::{self, Inbox, Search, file_digest};
use crate::part::Part;
use crate::plan::{Decision, PlanContext, digest};
use crate::record::{Outcome, RefreshRecord};
use crate::report::{FORMAT, OverdueKind, PartReport, PartState, RoundReport};
use crate::step::{Program, Step};
use chrono::{DateTime, SecondsFormat, Utc};
use domesday_package::{KEYS, SigningKey, TrustList};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// The surroundings of a round, from its caller.
pub struct RoundContext<'a> {
    /// The configuration.
    pub config: &'a RefreshConfig,
    /// The data folder that a step takes where the configuration names none.
    pub default_data: &'a Path,
    /// True if the environment names a settings file or a database. The state may be there then.
    pub names_elsewhere: bool,
    /// The time of the round.
    pub now: DateTime<Utc>,
    /// The program whose commands are the steps.
    pub program: &'a dyn Program,
    /// Finds the kind of a file.
    pub recognise: &'a dyn Fn(&Path) -> Option<FileKind>,
    /// The parts to build, or all.
    pub only: &'a [Part],
    /// Shows a person what begins.
    pub announce: &'a dyn Fn(&str),
}

impl RoundContext<'_> {
    /// Refuses parts that the configuration does not have.
    pub(crate) fn check_parts(&self) -> Result<(), RefreshError> {
        for part in self.only {
            if self.config.part(*part).is_none() {
                return Err(RefreshError::NoPart { part: *part });
            }
        }
        Ok(())
    }

    /// Refuses a key that nothing would trust.
    pub(crate) fn check_key(&self) -> Result<(), RefreshError> {
        let config = self.config;
        let key = SigningKey::read(&config.sign_with)?.public();
        match TrustList::of_releases(&config.releases)?.trusts(&key) {
            true => Ok(()),
            false => Err(RefreshError::Untrusted {
                key: key.to_string(),
                keys: config.releases.join(KEYS),
            }),
        }
    }

    pub(crate) fn includes(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    pub(crate) fn search(&self, record: &RefreshRecord) -> Result<Inbox, RefreshError> {
        let search = Search {
            folder: &self.config.inbox,
            ignore: &self.config.ignore,
            settle_seconds: self.config.settle_seconds,
            now: self.now.into(),
        };
        let mut inbox = inbox::search(&search, &record.files, self.recognise)?;
        add_absent(&search, &mut inbox, &record.files);
        Ok(inbox)
    }

    /// Decides about a part. `snapshot` is the one that a valuation release is built on. What
    /// cannot be read fails this part alone.
    pub(crate) fn decide(
        &self,
        part: Part,
        inbox: &Inbox,
        record: &RefreshRecord,
        snapshot: Option<&str>,
    ) -> Option<Decision> {
        self.read_and_decide(part, inbox, record, snapshot)
            .unwrap_or_else(|error| {
                let problem = error.to_string();
                Some(Decision::Unreadable { problem })
            })
    }

    fn read_and_decide(
        &self,
        part: Part,
        inbox: &Inbox,
        record: &RefreshRecord,
        snapshot: Option<&str>,
    ) -> Result<Option<Decision>, RefreshError> {
        let packages = self.package_ids(part)?;
        let plan = PlanContext {
            config: self.config,
            record,
            day: self.now.date_naive(),
            packages: &packages,
        };
        if part != Part::Valuation {
            return Ok(plan.decide_files(part, inbox));
        }
        let (Some(valuation), Some(snapshot)) = (&self.config.valuation, snapshot) else {
            return Ok(None);
        };
        let model = folder_digest(&valuation.model)?;
        Ok(plan.decide_valuation(snapshot, &model))
    }

    /// Returns the names in the folder of a part's packages.
    pub(crate) fn package_ids(&self, part: Part) -> Result<BTreeSet<String>, RefreshError> {
        let folder = self.config.releases.join(part.packages_dir());
        let mut ids = BTreeSet::new();
        if !folder.exists() {
            return Ok(ids);
        }
        for entry in fs::read_dir(&folder).map_err(io_error(&folder))? {
            let entry = entry.map_err(io_error(&folder))?;
            ids.insert(entry.file_name().to_string_lossy().into_owned());
        }
        Ok(ids)
    }

    pub(crate) fn package_dir(&self, part: Part, id: &str) -> PathBuf {
        self.config.releases.join(part.packages_dir()).join(id)
    }

    pub(crate) fn report(&self, inbox: &Inbox, dry_run: bool) -> RoundReport {
        RoundReport {
            format: FORMAT,
            started: self.now.to_rfc3339_opts(SecondsFormat::Secs, true),
            dry_run,
            parts: Vec::new(),
            overdue: self.overdue(inbox),
            unknown: inbox.unknown.clone(),
            unreadable: inbox.unreadable.clone(),
            arriving: inbox.arriving.clone(),
        }
    }

    fn overdue(&self, inbox: &Inbox) -> Vec<OverdueKind> {
        let now = u64::try_from(self.now.timestamp()).unwrap_or(0);
        let expected = self.config.expected_within_days.iter();
        let overdue = expected.filter_map(|(kind, expected_days)| {
            let of_kind = inbox.files.iter().filter(|file| file.kind == *kind);
            let latest = of_kind.map(|file| file.modified).max();
            let days = latest.map(|latest| now.saturating_sub(latest) / 86_400);
            days.is_none_or(|days| days > u64::from(*expected_days))
                .then_some(OverdueKind {
                    kind: *kind,
                    days,
                    expected_days: *expected_days,
                })
        });
        overdue.collect()
    }

    /// Reports what a decision means for a part, as far as nothing is done about it.
    pub(crate) fn report_decision(&self, part: Part, decision: Decision) -> PartReport {
        match decision {
            Decision::Missing { kinds } => PartReport {
                notes: vec![format!(
                    "put a file for {} into {}",
                    list_kinds(&kinds),
                    self.config.inbox.display()
                )],
                ..PartReport::new(part, PartState::Missing)
            },
            Decision::Waiting { files } => PartReport {
                notes: files,
                ..PartReport::new(part, PartState::Waiting)
            },
            Decision::Absent { files } => PartReport {
                notes: files,
                ..PartReport::new(part, PartState::Missing)
            },
            Decision::Unreadable { problem } => PartReport {
                notes: vec![problem],
                ..PartReport::new(part, PartState::Failed)
            },
            Decision::Unchanged { id, outcome } => {
                let (state, next) = match outcome {
                    Outcome::Refused => (PartState::Refused, Some(self.check(&id))),
                    Outcome::Held => (PartState::Held, Some(self.promotion(part, &id))),
                    Outcome::Proposed => (PartState::Unchanged, Some(self.promotion(part, &id))),
                    Outcome::Unjudged => (PartState::Planned, None),
                    Outcome::Built | Outcome::Promoted => (PartState::Unchanged, None),
                };
                PartReport {
                    next: next.map(|step| step.command_line()),
                    id: Some(id),
                    ..PartReport::new(part, state)
                }
            }
            Decision::Build(plan) => {
                let step = plan.update.as_ref().unwrap_or(&plan.build);
                PartReport {
                    next: Some(step.command_line()),
                    notes: note_absent(&plan.absent),
                    id: Some(plan.id),
                    ..PartReport::new(part, PartState::Planned)
                }
            }
        }
    }

    pub(crate) fn policy(&self, part: Part) -> Option<Policy> {
        self.config.part(part)?.policy
    }

    /// Returns the command that checks a valuation release.
    pub(crate) fn check(&self, id: &str) -> Step {
        Step::new("check", &["release", "check", id])
            .option("--sign-with", &self.config.sign_with)
            .option("--releases", &self.config.releases)
    }

    /// Returns the command that promotes a release.
    pub(crate) fn promotion(&self, part: Part, id: &str) -> Step {
        let step = Step::new(
            "promote",
            &["release", "promote", id, "--kind", part.name()],
        )
        .option("--reason", "built by domesday refresh")
        .option("--releases", &self.config.releases);
        self.of_service(step)
    }

    /// Reports whether the service has no state yet, so that nothing was promoted.
    pub(crate) fn has_no_state(&self) -> bool {
        let service = &self.config.service;
        let data = service.data.as_deref().unwrap_or(self.default_data);
        let is_elsewhere = service.config.is_some() || self.names_elsewhere;
        !is_elsewhere && !data.exists()
    }

    /// Adds the options that name the service.
    pub(crate) fn of_service(&self, mut step: Step) -> Step {
        if let Some(data) = &self.config.service.data {
            step = step.option("--data", data);
        }
        if let Some(config) = &self.config.service.config {
            step = step.option("--config", config);
        }
        step
    }
}

/// Returns a note of the kinds that have no file.
pub(crate) fn note_absent(kinds: &[FileKind]) -> Vec<String> {
    match kinds.is_empty() {
        true => Vec::new(),
        false => vec![format!("no file for {}", list_kinds(kinds))],
    }
}

fn list_kinds(kinds: &[FileKind]) -> String {
    let names: Vec<String> = kinds.iter().map(FileKind::to_string).collect();
    names.join(", ")
}

/// Returns SHA-256 over a model's files. Files that a build leaves there do not count.
fn folder_digest(folder: &Path) -> Result<String, RefreshError> {
    let is_source =
        |name: &str| !name.starts_with('.') && name != "target" && name != "__pycache__";
    let mut texts = Vec::new();
    let walk = WalkDir::new(folder)
        .follow_links(true)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| {
            entry.depth() == 0 || is_source(&entry.file_name().to_string_lossy())
        });
    for entry in walk {
        let entry = entry.map_err(|error| RefreshError::Io {
            path: error.path().unwrap_or(folder).to_owned(),
            source: error.into(),
        })?;
        if entry.file_type().is_file() {
            let path = entry.path();
            let within = path.strip_prefix(folder).unwrap_or(path);
            texts.push(within.to_string_lossy().into_owned());
            texts.push(file_digest(path).map_err(io_error(path))?);
        }
    }
    Ok(digest(texts.iter().map(String::as_str)))
}
