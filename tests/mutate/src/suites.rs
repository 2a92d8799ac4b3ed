//! The suites of a tree: building them, and running one test of one of them.

use crate::cargo_build::{NotBuilt, cargo, command, targets};
use crate::combine::MutationSet;
use crate::task::Task;
use crate::test_name::TestName;
use crate::verdict::{Proof, Verdict};
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The message of a suite whose server does not start.
const NO_SERVER: &str = "it did not start";
/// The package of the program, whose suites judge it from outside: they are not built anew for a
/// patch.
const PROGRAM: &str = "host/cli";
/// No test of a rule takes longer.
const SUITE_TIMEOUT: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(20);
/// The variable that names the run whose servers tests share; see `tests/shared`.
pub const RUN: &str = "NEXTEST_RUN_ID";

/// An executable of tests.
struct Suite {
    executable: PathBuf,
    /// The folder of its package, where cargo runs it.
    package: PathBuf,
}

/// The built suites of a tree.
pub struct Suites {
    /// Suites by the name of their target.
    named: BTreeMap<String, Suite>,
    /// Unit tests of libraries and programs.
    units: Vec<Suite>,
}

impl Suites {
    /// Builds what these tests need.
    ///
    /// # Errors
    /// A test's name is none, or cargo cannot be run.
    pub fn build(
        tree: &Path,
        target: &Path,
        tests: &[&str],
    ) -> Result<std::result::Result<Suites, NotBuilt>> {
        let arguments = targets(tree, tests)?;
        let messages = cargo("test", tree, target, &arguments)?;
        Ok(messages.map(|messages| Suites::of(&messages)))
    }

    /// Builds what these tests need, or returns where the compiler found errors.
    ///
    /// # Errors
    /// As [`Suites::build`].
    pub fn build_or_culprits(
        tree: &Path,
        target: &Path,
        tests: &[&str],
    ) -> Result<std::result::Result<Suites, Culprits>> {
        Suites::build_targets(tree, target, targets(tree, tests)?)
    }

    /// Builds the tests of all crates, and the suites of the quick tier.
    ///
    /// # Errors
    /// Cargo cannot be run.
    pub fn build_quick_tier(
        tree: &Path,
        target: &Path,
    ) -> Result<std::result::Result<Suites, Culprits>> {
        let arguments = [
            "--workspace",
            "--no-run",
            "--lib",
            "--bins",
            "--test=http",
            "--test=cli",
        ];
        Suites::build_targets(tree, target, arguments.map(str::to_owned).to_vec())
    }

    fn build_targets(
        tree: &Path,
        target: &Path,
        mut arguments: Vec<String>,
    ) -> Result<std::result::Result<Suites, Culprits>> {
        arguments.push("--message-format=json".to_owned());
        let output = command("test", tree, target, &arguments)
            .output()
            .context("cannot run cargo")?;
        let messages = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(match output.status.success() {
            true => Ok(Suites::of(&messages)),
            false => Err(Culprits::of(&messages, &output.stderr)),
        })
    }

    /// Builds the program alone. The suites that are built already run it.
    ///
    /// # Errors
    /// Cargo cannot be run.
    pub fn build_program(tree: &Path, target: &Path) -> Result<std::result::Result<(), NotBuilt>> {
        let arguments = ["--workspace", "--bin=domesday", "--example=features"].map(str::to_owned);
        Ok(cargo("build", tree, target, &arguments)?.map(drop))
    }

    /// Reports whether a test judges the program from outside.
    ///
    /// # Errors
    /// The text names no test.
    pub fn is_outside(&self, test: &str) -> Result<bool> {
        Ok(match TestName::of(test)? {
            TestName::Suite { suite, .. } => {
                let suite = self.named.get(suite);
                suite.is_some_and(|suite| suite.package.ends_with(PROGRAM))
            }
            TestName::Unit { .. } => false,
        })
    }

    /// Parses the suites that cargo built from its output, one JSON message a line.
    fn of(messages: &str) -> Suites {
        let mut suites = Suites {
            named: BTreeMap::new(),
            units: Vec::new(),
        };
        for line in messages.lines() {
            let Ok(message) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            let (Some(executable), Some(manifest), Some(name), true) = (
                message["executable"].as_str(),
                message["manifest_path"].as_str(),
                message["target"]["name"].as_str(),
                message["profile"]["test"] == true,
            ) else {
                continue;
            };
            let suite = Suite {
                executable: executable.into(),
                package: Path::new(manifest).with_file_name(""),
            };
            match message["target"]["kind"][0].as_str() {
                Some("test") => drop(suites.named.insert(name.to_owned(), suite)),
                // A model's library is a component first.
                Some("lib" | "bin" | "cdylib") => suites.units.push(suite),
                _ => {}
            }
        }
        suites
    }

    /// Reports whether all tests of a crate of the host pass in time, with these variables.
    ///
    /// # Errors
    /// A suite cannot be run.
    pub fn passes(
        &self,
        package: &str,
        variables: &[(&str, &str)],
        limit: Duration,
    ) -> Result<bool> {
        let folder = Path::new("host").join(package);
        let suites = self.units.iter().chain(self.named.values());
        for suite in suites.filter(|suite| suite.package.ends_with(&folder)) {
            let ended = end(suite, &[], variables, limit)?;
            if !ended.is_some_and(|(status, _)| status.success()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Runs a rule's own test with variables that select the mutation.
    ///
    /// # Errors
    /// As [`Suites::run`].
    pub fn prove(&self, tree: &Path, task: &Task<'_>, selected: &[(&str, &str)]) -> Result<Proof> {
        let started = Instant::now();
        Ok(Proof {
            rule: task.rule.id.clone(),
            mutation: task.mutation.to_owned(),
            verdict: self.run(tree, task.test(), selected)?,
            seconds: started.elapsed().as_secs_f64(),
        })
    }

    /// Runs one test alone, with these variables.
    ///
    /// # Errors
    /// The text names no test that was built, or a suite cannot be run.
    pub fn run(&self, tree: &Path, test: &str, variables: &[(&str, &str)]) -> Result<Verdict> {
        let mut verdict = Verdict::NoResult;
        match TestName::of(test)? {
            TestName::Suite { suite, test } => {
                let Some(suite) = self.named.get(suite) else {
                    bail!("no suite {suite} was built");
                };
                verdict = run(suite, &["--exact", test], test, variables)?;
            }
            TestName::Unit { file, test } => {
                let file = tree.join(file);
                let suites = self.units.iter();
                for suite in suites.filter(|suite| file.starts_with(&suite.package)) {
                    match run(suite, &[test], test, variables)? {
                        Verdict::NoResult => {}
                        found => verdict = found,
                    }
                }
            }
        }
        Ok(verdict)
    }
}

/// The positions of the compiler's errors: files and bytes.
#[derive(Debug)]
pub struct Culprits {
    places: Vec<(PathBuf, usize)>,
    text: String,
}

impl Culprits {
    fn of(messages: &str, errors: &[u8]) -> Culprits {
        let mut culprits = Culprits {
            places: Vec::new(),
            text: String::from_utf8_lossy(errors).into_owned(),
        };
        let messages = messages.lines().map(serde_json::from_str::<Value>);
        for message in messages.filter_map(Result::ok) {
            let message = &message["message"];
            if message["level"] != "error" {
                continue;
            }
            culprits.text += message["rendered"].as_str().unwrap_or_default();
            for span in message["spans"].as_array().into_iter().flatten() {
                let byte = span["byte_start"].as_u64().map(usize::try_from);
                if let (Some(file), Some(Ok(byte))) = (span["file_name"].as_str(), byte) {
                    culprits.places.push((file.into(), byte));
                }
            }
        }
        culprits
    }

    /// Returns the mutations whose bodies stand at the places of the errors.
    pub fn names(&self, tree: &Path) -> BTreeSet<String> {
        let name = |(file, byte): &(PathBuf, usize)| {
            let text = std::fs::read_to_string(tree.join(file)).ok()?;
            MutationSet::name_at(&text, *byte)
        };
        self.places.iter().filter_map(name).collect()
    }
}

impl fmt::Display for Culprits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn run(
    suite: &Suite,
    arguments: &[&str],
    test: &str,
    variables: &[(&str, &str)],
) -> Result<Verdict> {
    let ended = end(suite, arguments, variables, SUITE_TIMEOUT)?;
    Ok(ended.map_or(Verdict::NoResult, |(_, output)| verdict(&output, test)))
}

/// Runs tests of a suite, and returns how they ended and what they printed, or nothing where they
/// did not end in time.
fn end(
    suite: &Suite,
    arguments: &[&str],
    variables: &[(&str, &str)],
    limit: Duration,
) -> Result<Option<(ExitStatus, String)>> {
    let mut child = Command::new(&suite.executable)
        .args(arguments)
        .current_dir(&suite.package)
        .env("INSTA_UPDATE", "no")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // The servers of a test that hangs end with it.
        .process_group(0)
        .spawn()?;
    let mut stdout = child.stdout.take().context("no standard output")?;
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stdout.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some((status, reader.join().unwrap_or_default())));
        }
        if started.elapsed() > limit {
            if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                kill_process_group(group, Signal::KILL)?;
            }
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Returns the verdict on a test from the suite's output.
fn verdict(output: &str, test: &str) -> Verdict {
    let ended = |how: &str| {
        output
            .lines()
            .filter_map(|line| line.strip_prefix("test ")?.strip_suffix(how))
            .any(|name| name == test || name.ends_with(&format!("::{test}")))
    };
    if ended(" ... ok") {
        Verdict::Survived
    } else if !ended(" ... FAILED") {
        Verdict::NoResult
    } else if output.contains(NO_SERVER) {
        Verdict::NoServer
    } else {
        Verdict::Red
    }
}

/// Returns the name of a new run, whose tests share servers: nothing mutates a server itself.
pub fn shared_run() -> String {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let number = RUNS.fetch_add(1, Relaxed);
    format!("mutate-{}-{number}", std::process::id())
}

/// Returns the tests that fail without a mutation in a shared run. A test that is red anyway proves
/// nothing.
///
/// # Errors
/// As [`Suites::run`].
pub fn red_without(
    suites: &Suites,
    tree: &Path,
    tests: &BTreeSet<&str>,
    run: &str,
) -> Result<Vec<String>> {
    let tests: Vec<&str> = tests.iter().copied().collect();
    println!("{} tests without a mutation", tests.len());
    let verdicts = several_at_once(&tests, |test| suites.run(tree, test, &[(RUN, run)]));
    let mut red = Vec::new();
    for (test, verdict) in tests.iter().zip(verdicts) {
        if verdict? != Verdict::Survived {
            red.push((*test).to_owned());
        }
    }
    Ok(red)
}

/// Does the tasks, some at a time, and returns the results in the order of the tasks.
pub fn several_at_once<T: Sync, R: Send>(tasks: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let width = std::thread::available_parallelism().map_or(2, |cores| cores.get() + 1);
    std::thread::scope(|scope| {
        for _ in 0..width {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Relaxed);
                    let Some(task) = tasks.get(at) else { return };
                    let result = work(task);
                    if let Ok(mut results) = results.lock() {
                        results.insert(at, result);
                    }
                }
            });
        }
    });
    let results = results.into_inner();
    results.map_or_else(|_| Vec::new(), |results| results.into_values().collect())
}
