//! A round of a test: its folders, and a program whose steps end as the test says.

use crate::config::RefreshConfig;
use crate::config::tests::WHOLE;
use crate::context::RoundContext;
use crate::file_kind::FileKind;
use crate::inbox::file_digest;
use crate::part::Part;
use crate::report::RoundReport;
use crate::round::run;
use crate::step::{Program, Step, StepEnd};
use domesday_package::SigningKey;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A program whose commands end as a test says. Those that build make a folder.
#[derive(Default)]
pub(super) struct ScriptedProgram {
    pub(super) ends: RefCell<BTreeMap<&'static str, StepEnd>>,
    pub(super) ran: RefCell<Vec<String>>,
    /// The step that cannot be started.
    pub(super) broken: RefCell<Option<&'static str>>,
    /// The outputs of `release history`, by kind.
    history: RefCell<BTreeMap<&'static str, String>>,
    /// The median change that `compare` finds.
    pub(super) change: RefCell<Option<f64>>,
    /// The datasets of releases that it builds.
    pub(super) datasets: RefCell<Vec<serde_json::Value>>,
    releases: PathBuf,
}

impl Program for ScriptedProgram {
    fn run(&self, step: &Step, log: &Path, _: Duration) -> io::Result<StepEnd> {
        let words: Vec<String> = step
            .arguments
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        self.ran
            .borrow_mut()
            .push(format!("{} {}", words[0], step.name));
        if *self.broken.borrow() == Some(step.name) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        fs::write(log, "the reason\n\n")?;
        let value = |flag: &str| {
            let place = words.iter().position(|word| word == flag);
            place.and_then(|place| words.get(place + 1).cloned())
        };
        if let (Some(output), Some(kind)) = (&step.output, value("--kind")) {
            let history = self.history.borrow();
            fs::write(output, history.get(&*kind).map_or("[]", String::as_str))?;
        }
        let end = self.ends.borrow().get(step.name).copied();
        let end = end.unwrap_or(StepEnd::Exit(0));
        if matches!(step.name, "build" | "update") && end == StepEnd::Exit(0) {
            let (kind, id) = match (value("--snapshot-id"), value("--release-id")) {
                (Some(id), _) => ("property", id),
                (_, Some(id)) if words[0] == "series" => (words[2].as_str(), id),
                (_, id) => ("valuation", id.unwrap()),
            };
            let package = self.releases.join(kind).join(&id);
            fs::create_dir_all(&package)?;
            let datasets = self.datasets.borrow().clone();
            let manifest = serde_json::json!({"id": id, "body": {"datasets": datasets}});
            fs::write(package.join("manifest.json"), manifest.to_string())?;
        }
        if step.name == "check" && matches!(end, StepEnd::Exit(0 | 1)) {
            let package = self.releases.join("valuation").join(&words[2]);
            let manifest = file_digest(&package.join("manifest.json"))?;
            let passed = end == StepEnd::Exit(0);
            let report = serde_json::json!({"manifest": manifest, "passed": passed});
            fs::write(package.join("check.json"), report.to_string())?;
            fs::write(package.join("check.sig"), "")?;
        }
        if let (Some(change), Some(json)) = (*self.change.borrow(), value("--json"))
            && step.name == "compare"
        {
            fs::write(json, comparison(change))?;
        }
        Ok(end)
    }
}

/// Returns the figures of a comparison that decide, as `compare --json` writes them.
fn comparison(median: f64) -> String {
    let change = serde_json::json!({"rows": 10, "moved": 10, "median": median});
    serde_json::json!({"format": 1, "overall": {"rows": 10, "change": change}}).to_string()
}

/// The folders of a round, and its program.
pub(super) struct World {
    pub(super) folder: tempfile::TempDir,
    pub(super) config: RefreshConfig,
    pub(super) program: ScriptedProgram,
    /// The data folder where the configuration names none. It is not made.
    pub(super) default_data: PathBuf,
    pub(super) names_elsewhere: bool,
}

fn by_name(path: &Path) -> Option<FileKind> {
    Some(match path.file_stem()?.to_str()?.split('-').next()? {
        "pp" => FileKind::PricePaid,
        "codepo" => FileKind::CodePoint,
        "areas" => FileKind::Areas,
        "codes" => FileKind::AuthorityCodes,
        "bank" => FileKind::BankCsv,
        _ => return None,
    })
}

impl World {
    pub(super) fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("refresh.toml");
        fs::write(&path, WHOLE).unwrap();
        let config = RefreshConfig::read(&path).unwrap();
        let key = SigningKey::from_seed([7; 32]);
        key.write(&config.sign_with).unwrap();
        let keys = config.releases.join("keys");
        fs::create_dir_all(&keys).unwrap();
        key.public().write(&keys.join("my.pub"), "").unwrap();
        fs::create_dir_all(config.service.data.as_ref().unwrap()).unwrap();
        fs::create_dir_all(&config.inbox).unwrap();
        fs::create_dir_all(folder.path().join("models/hedonic")).unwrap();
        fs::write(folder.path().join("models/hedonic/release.toml"), "a").unwrap();
        let program = ScriptedProgram {
            releases: config.releases.clone(),
            ..ScriptedProgram::default()
        };
        World {
            default_data: folder.path().join("domesday-data"),
            names_elsewhere: false,
            folder,
            config,
            program,
        }
    }

    pub(super) fn receive(&self, names: &[&str]) {
        for name in names {
            fs::write(self.config.inbox.join(name), name).unwrap();
        }
    }

    pub(super) fn receive_all(&self) {
        self.receive(&[
            "pp-1.csv",
            "codepo.zip",
            "areas.csv",
            "codes.csv",
            "bank.csv",
        ]);
    }

    /// Promotes releases of a part elsewhere, one after another.
    pub(super) fn promote_elsewhere(&self, part: Part, ids: &[&str]) {
        let entries = ids.iter().map(|id| serde_json::json!({"release_id": id}));
        let history = serde_json::Value::from_iter(entries).to_string();
        let mut histories = self.program.history.borrow_mut();
        histories.insert(part.name(), history);
    }

    /// Cuts off the ledger of a part.
    pub(super) fn damage_ledger(&self, part: Part) {
        let mut histories = self.program.history.borrow_mut();
        histories.insert(part.name(), "[{".to_owned());
    }

    /// Puts a release of series with these datasets into the folder of releases.
    pub(super) fn add_series(&self, part: Part, id: &str, datasets: &[serde_json::Value]) {
        let package = self.config.releases.join(part.name()).join(id);
        fs::create_dir_all(&package).unwrap();
        let manifest = serde_json::json!({"id": id, "body": {"datasets": datasets}});
        fs::write(package.join("manifest.json"), manifest.to_string()).unwrap();
    }

    /// Lets each step of this name end with an exit code.
    pub(super) fn end_with(&self, step: &'static str, code: i32) {
        let mut ends = self.program.ends.borrow_mut();
        ends.insert(step, StepEnd::Exit(code));
    }

    /// Runs a round an hour from now, and returns its report and the steps that ran.
    pub(super) fn round(&self, only: &[Part]) -> (RoundReport, Vec<String>) {
        let report = self.with_context(only, |context| run(context).unwrap());
        (report, self.program.ran.take())
    }

    pub(super) fn with_context<T>(
        &self,
        only: &[Part],
        work: impl FnOnce(&RoundContext<'_>) -> T,
    ) -> T {
        let probe = self.folder.path().join("time");
        fs::write(&probe, "").unwrap();
        let now = fs::metadata(&probe).unwrap().modified().unwrap();
        let later = now + Duration::from_secs(3_600);
        work(&RoundContext {
            config: &self.config,
            default_data: &self.default_data,
            names_elsewhere: self.names_elsewhere,
            now: later.into(),
            program: &self.program,
            recognise: &by_name,
            only,
            announce: &|_| {},
        })
    }
}
