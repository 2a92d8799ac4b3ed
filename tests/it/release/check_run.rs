//! The plain release, changed copies of it, and runs of `domesday release check`.

use crate::common::demo::SNAPSHOT;
use crate::common::packages::Releases;
use crate::common::program::{ProcessOutput, repository, run};
use domesday_package::{Draft, FilePath, Source, Trust, ValuationBody, open, write};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

pub const PLAIN: &str = "plain-1";
/// Less work than by default, where the default is not what is tested.
pub const QUICK: [&str; 4] = ["--homes", "60", "--adversarial-rows", "400"];
/// The made-up country's sales, far more than a group needs to be judged.
pub const LONG: [&str; 4] = ["--from", "2015-01-01", "--to", "2026-09-30"];

/// Returns the plain release, built once a run.
pub fn plain() -> &'static Releases {
    static BUILT: OnceLock<Releases> = OnceLock::new();
    BUILT.get_or_init(|| {
        Releases::shared("plain", |built| {
            built.add_snapshot();
            let model = repository().join("tests/guests/plain");
            run([
                "release",
                "build",
                "--release-id",
                PLAIN,
                "--model",
                &model.display().to_string(),
                "--snapshot",
                SNAPSHOT,
                "--created",
                "2026-10-01T00:00:00Z",
                "--releases",
                &built.path().display().to_string(),
            ])
            .ok();
        })
    })
}

pub type Files = BTreeMap<String, Vec<u8>>;

/// Writes a changed package under the same id into a separate folder.
pub fn changed(
    from: &Path,
    id: &str,
    change: impl FnOnce(&mut ValuationBody, &mut Files),
) -> Releases {
    let copy = Releases::without_release();
    write_copy(from, id, copy.path(), id, change);
    copy
}

/// Writes a changed package under another id into a folder of releases.
pub fn write_copy(
    from: &Path,
    id: &str,
    to: &Path,
    new_id: &str,
    change: impl FnOnce(&mut ValuationBody, &mut Files),
) {
    let package = open(&from.join("valuation").join(id), &Trust::Unsigned).unwrap();
    let mut body: ValuationBody = package.body().unwrap();
    let manifest = package.manifest();
    let mut files: Files = manifest
        .files
        .keys()
        .map(|name| (name.to_string(), package.bytes(name.as_str()).unwrap()))
        .collect();
    change(&mut body, &mut files);
    let files: BTreeMap<FilePath, Source> = files
        .into_iter()
        .map(|(name, bytes)| (name.parse().unwrap(), Source::Bytes(bytes)))
        .collect();
    body.release_id = new_id.parse().unwrap();
    let draft = Draft {
        id: new_id.parse().unwrap(),
        created: "2026-10-01T00:00:00Z".parse().unwrap(),
        body,
        files,
    };
    write(&to.join("valuation"), draft).unwrap();
}

/// The output of a check, and its JSON.
pub struct CheckRun {
    pub ran: ProcessOutput,
    pub report: Value,
}

impl CheckRun {
    pub fn of(releases: &Path, id: &str, more: &[&str]) -> CheckRun {
        let temp_dir = tempfile::tempdir().unwrap();
        let file = temp_dir.path().join("check.json").display().to_string();
        let folder = releases.display().to_string();
        let mut all = vec!["release", "check", id, "--releases", &folder];
        all.extend(["--allow-unsigned", id, "--json", &file]);
        all.extend(more);
        let ran = run(all);
        let text = fs::read_to_string(file).unwrap_or_else(|_| panic!("{ran:#?}"));
        CheckRun {
            report: serde_json::from_str(&text).unwrap(),
            ran,
        }
    }

    pub fn plain(releases: &Releases, more: &[&str]) -> CheckRun {
        CheckRun::of(releases.path(), PLAIN, &[&QUICK[..], more].concat())
    }

    /// Returns the names of the checks with this verdict.
    pub fn with_verdict(&self, verdict: &str) -> Vec<&str> {
        let checks = self.report["checks"].as_array().unwrap().iter();
        checks
            .filter(|found| found["verdict"] == verdict)
            .map(|found| found["check"].as_str().unwrap())
            .collect()
    }

    /// Returns the entry of one check.
    pub fn entry(&self, check: &str) -> &Value {
        let mut checks = self.report["checks"].as_array().unwrap().iter();
        checks.find(|found| found["check"] == check).unwrap()
    }

    /// Asserts that exactly these checks failed, and that the output contains this text.
    #[track_caller]
    pub fn assert_failed(&self, checks: &[&str], text: &str) {
        assert_eq!(self.with_verdict("failed"), checks, "{}", self.ran.stdout);
        assert_eq!(self.ran.code, Some(1), "{:#?}", self.ran);
        assert_eq!(self.report["passed"], false);
        assert!(self.ran.stdout.contains(text), "{}", self.ran.stdout);
    }
}
