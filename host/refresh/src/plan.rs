//! Decides what there is to build, from the files, the configuration and the record. Nothing here
//! reads or writes.

use crate::absent_file::AbsentFile;
use crate::config::RefreshConfig;
use crate::file_kind::FileKind;
use crate::inbox::{ArrivedFile, Inbox};
use crate::part::Part;
use crate::record::{BuiltRecord, Outcome, RefreshRecord};
use crate::step::Step;
use chrono::NaiveDate;
use domesday_package::Sha256Digest;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The decision of a round about a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Its package rests on the same files.
    Unchanged {
        /// The package.
        id: String,
        /// Its fate.
        outcome: Outcome,
    },
    /// Files are missing.
    Missing {
        /// Their kinds.
        kinds: Vec<FileKind>,
    },
    /// Files are arriving, without which its package would be short.
    Waiting {
        /// The files, each as a text for a person.
        files: Vec<String>,
    },
    /// Files cannot be taken, without which its package would be short.
    Absent {
        /// The files, each as a text for a person.
        files: Vec<String>,
    },
    /// Its packages or its model cannot be read.
    Unreadable {
        /// The reason.
        problem: String,
    },
    /// A package is to be built.
    Build(Box<BuildPlan>),
}

/// A package to build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildPlan {
    /// Its id.
    pub id: String,
    /// The files that no earlier round of the part has checked.
    pub new_files: Vec<PathBuf>,
    /// The command that builds it.
    pub build: Step,
    /// A quicker command, which may refuse the files.
    pub update: Option<Step>,
    /// The digests for the record.
    pub rests_on: RestsOn,
    /// Kinds that it could have taken, and that are not there.
    pub absent: Vec<FileKind>,
}

/// The digests of all that a package rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestsOn {
    /// Over everything.
    pub inputs: String,
    /// The price paid files.
    pub price_paid: BTreeSet<String>,
    /// Over everything else.
    pub others: String,
    /// The kinds of files.
    pub kinds: BTreeSet<FileKind>,
}

impl RestsOn {
    /// Returns the record of a package that is not judged yet. `before` is the package before.
    pub fn record(self, id: String, before: Option<String>) -> BuiltRecord {
        BuiltRecord {
            id,
            inputs: self.inputs,
            price_paid: self.price_paid,
            others: self.others,
            kinds: self.kinds,
            outcome: Outcome::Unjudged,
            judged_by: None,
            before,
        }
    }
}

/// The facts that a plan rests on beside the files.
pub struct PlanContext<'a> {
    /// The configuration.
    pub config: &'a RefreshConfig,
    /// The earlier rounds.
    pub record: &'a RefreshRecord,
    /// The day of the round, which ids end with.
    pub day: NaiveDate,
    /// The ids of the part's packages that exist.
    pub packages: &'a BTreeSet<String>,
}

impl PlanContext<'_> {
    /// Decides about a part that is built from files, which every part but the valuation release
    /// is. A part that is not configured has no decision.
    pub fn decide_files(&self, part: Part, inbox: &Inbox) -> Option<Decision> {
        let settings = self.config.part(part)?;
        let taken = take(part, &inbox.files);
        if let Some(short) = decide_absent(part, inbox, &taken) {
            return Some(short);
        }
        let is_absent = |kind: &FileKind| !taken.iter().any(|file| file.kind == *kind);
        let missing: Vec<FileKind> = part
            .required_kinds()
            .iter()
            .copied()
            .filter(is_absent)
            .collect();
        if !missing.is_empty() {
            return Some(Decision::Missing { kinds: missing });
        }
        let rests_on = rests_on(&taken, settings.arguments);
        let before = self.record.built.get(&part);
        if before.is_none()
            && let Some(short) = decide_unsettled(inbox)
        {
            return Some(short);
        }
        // A folder that is not mounted must not empty a release.
        let taken_before = before.iter().flat_map(|before| &before.kinds);
        let lost: Vec<FileKind> = taken_before.copied().filter(is_absent).collect();
        if !lost.is_empty() {
            return Some(Decision::Missing { kinds: lost });
        }
        if let Some(unchanged) = self.find_unchanged(part, &rests_on.inputs) {
            return Some(unchanged);
        }
        let id = self.free_id(part, settings.prefix);
        let update = before
            .filter(|_| part == Part::Snapshot)
            .and_then(|before| self.update(&id, before, &rests_on, &taken));
        let checked = |file: &&&ArrivedFile| {
            before.is_some_and(|before| before.price_paid.contains(&file.sha256))
        };
        let new_files = taken.iter().filter(|file| !checked(file));
        Some(Decision::Build(Box::new(BuildPlan {
            new_files: new_files.map(|file| file.path.clone()).collect(),
            build: self.build(part, &id, &taken, settings.arguments),
            update,
            id,
            rests_on,
            absent: part
                .optional_kinds()
                .iter()
                .copied()
                .filter(is_absent)
                .collect(),
        })))
    }

    /// Decides about the valuation release on a snapshot. `model` is a digest of the model's
    /// folder.
    pub fn decide_valuation(&self, snapshot: &str, model: &str) -> Option<Decision> {
        let valuation = self.config.valuation.as_ref()?;
        let others = digest(
            [snapshot, model]
                .into_iter()
                .chain(valuation.arguments.iter().map(String::as_str)),
        );
        if let Some(unchanged) = self.find_unchanged(Part::Valuation, &others) {
            return Some(unchanged);
        }
        let id = self.free_id(Part::Valuation, &valuation.prefix);
        let build = Step::new("build", &["release", "build", "--release-id", &id])
            .option("--model", &valuation.model)
            .option("--snapshot", snapshot)
            // The next step checks it, against the release before.
            .with(["--without-check"])
            .with(&valuation.arguments);
        Some(Decision::Build(Box::new(BuildPlan {
            build: self.sign(build),
            id,
            new_files: Vec::new(),
            update: None,
            rests_on: RestsOn {
                inputs: others.clone(),
                price_paid: BTreeSet::new(),
                others,
                kinds: BTreeSet::new(),
            },
            absent: Vec::new(),
        })))
    }

    /// Returns the decision where the last package rests on the same, and is still there.
    fn find_unchanged(&self, part: Part, inputs: &str) -> Option<Decision> {
        let before = self.record.built.get(&part)?;
        let same = before.inputs == inputs && self.packages.contains(&before.id);
        same.then(|| Decision::Unchanged {
            id: before.id.clone(),
            outcome: before.outcome,
        })
    }

    /// Returns the first id of the day that no package of the part has, or had by the record. One
    /// that was removed may be published, or promoted, with its own bytes.
    fn free_id(&self, part: Part, prefix: &str) -> String {
        let first = format!("{prefix}-{}", self.day);
        let later = (2..).map(|number| format!("{first}-{number}"));
        let built = self.record.built.get(&part);
        let is_recorded = |id: &String| {
            built.is_some_and(|built| built.id == *id || built.before.as_ref() == Some(id))
        };
        std::iter::once(first.clone())
            .chain(later)
            .find(|id| !self.packages.contains(id) && !is_recorded(id))
            .unwrap_or(first)
    }

    fn build(&self, part: Part, id: &str, taken: &[&ArrivedFile], arguments: &[String]) -> Step {
        let step = match part {
            Part::Rates => Step::new("build", &["series", "build", "rates", "--release-id", id]),
            Part::Markets => {
                Step::new("build", &["series", "build", "markets", "--release-id", id])
            }
            Part::Snapshot | Part::Valuation => {
                Step::new("build", &["property", "build", "--snapshot-id", id])
            }
        };
        let step = taken.iter().fold(step, |step, file| {
            step.option(&file.kind.to_string(), &file.path)
        });
        let step = match self.config.synthetic {
            true => step.with(["--synthetic"]),
            false => step,
        };
        self.sign(step.with(arguments))
    }

    /// Returns the command that adds price paid files to the last snapshot, where nothing else
    /// changed.
    fn update(
        &self,
        id: &str,
        before: &BuiltRecord,
        rests_on: &RestsOn,
        taken: &[&ArrivedFile],
    ) -> Option<Step> {
        let more = rests_on.price_paid.is_superset(&before.price_paid)
            && rests_on.price_paid.len() > before.price_paid.len();
        if !more || rests_on.others != before.others || !self.packages.contains(&before.id) {
            return None;
        }
        let arguments = [
            "property",
            "update",
            "--snapshot-id",
            id,
            "--from",
            &before.id,
        ];
        let step = Step::new("update", &arguments);
        let new = taken.iter().filter(|file| {
            file.kind == FileKind::PricePaid && !before.price_paid.contains(&file.sha256)
        });
        let step = new.fold(step, |step, file| step.option("--price-paid", &file.path));
        Some(self.sign(step))
    }

    fn sign(&self, step: Step) -> Step {
        step.option("--sign-with", &self.config.sign_with)
            .option("--releases", &self.config.releases)
    }
}

/// Returns the files that a part takes, in the order of its kinds.
fn take(part: Part, files: &[ArrivedFile]) -> Vec<&ArrivedFile> {
    let mut taken = Vec::new();
    for kind in part.kinds() {
        let of_kind = files.iter().filter(|file| file.kind == kind);
        if kind.is_single() {
            taken.extend(of_kind.max_by_key(|file| (file.modified, &file.path)));
        } else {
            taken.extend(of_kind);
        }
    }
    taken
}

/// Returns the decision about a part where files of an earlier round cannot be taken now.
fn decide_absent(part: Part, inbox: &Inbox, taken: &[&ArrivedFile]) -> Option<Decision> {
    // Of a kind that a build takes once, a later file is there.
    let is_outdated = |absent: &AbsentFile| {
        let mut of_kind = taken.iter().filter(|file| file.kind == absent.kind);
        absent.kind.is_single() && of_kind.any(|file| file.modified > absent.modified)
    };
    let of_part = |absent: &AbsentFile| part.kinds().any(|kind| kind == absent.kind);
    let (mut arriving, mut absent) = (Vec::new(), Vec::new());
    for file in &inbox.absent {
        if of_part(file) && !is_outdated(file) {
            let files = match file.is_arriving() {
                true => &mut arriving,
                false => &mut absent,
            };
            files.push(file.text());
        }
    }
    if !absent.is_empty() {
        return Some(Decision::Absent { files: absent });
    }
    (!arriving.is_empty()).then_some(Decision::Waiting { files: arriving })
}

/// Returns the decision about a part without a package while files of the inbox still change or
/// cannot be read. Nothing tells yet that the part can do without them.
fn decide_unsettled(inbox: &Inbox) -> Option<Decision> {
    if !inbox.unreadable.is_empty() {
        let files = inbox.unreadable.clone();
        return Some(Decision::Absent { files });
    }
    let changing = inbox.changing.iter();
    let files: Vec<String> = changing
        .map(|path| format!("{} is still arriving", path.display()))
        .collect();
    (!files.is_empty()).then_some(Decision::Waiting { files })
}

fn rests_on(taken: &[&ArrivedFile], arguments: &[String]) -> RestsOn {
    let is_price_paid = |file: &&&ArrivedFile| file.kind == FileKind::PricePaid;
    let price_paid: BTreeSet<String> = taken
        .iter()
        .filter(is_price_paid)
        .map(|file| file.sha256.clone())
        .collect();
    let mut others: Vec<String> = taken
        .iter()
        .filter(|file| !is_price_paid(file))
        .map(|file| format!("{} {}", file.kind, file.sha256))
        .collect();
    // The folders in which files lie change nothing.
    others.sort();
    let others = digest(others.iter().chain(arguments).map(String::as_str));
    RestsOn {
        inputs: digest(
            std::iter::once(others.as_str()).chain(price_paid.iter().map(String::as_str)),
        ),
        price_paid,
        others,
        kinds: taken.iter().map(|file| file.kind).collect(),
    }
}

/// Returns SHA-256 over texts, each with its length.
pub(crate) fn digest<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let mut bytes = Vec::new();
    for text in texts {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    Sha256Digest::of(&bytes).to_string()
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
