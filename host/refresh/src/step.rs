//! The steps of a round: commands of the program, each with a log.

use serde::Serialize;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wait_timeout::ChildExt;

/// A command of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its name, as the names of logs have it.
    pub name: &'static str,
    /// The arguments.
    pub arguments: Vec<OsString>,
    /// A file for its standard output. Without one the log has it.
    pub output: Option<PathBuf>,
}

impl Step {
    /// Returns a step with its first arguments.
    pub fn new(name: &'static str, arguments: &[&str]) -> Step {
        Step {
            name,
            arguments: arguments.iter().map(OsString::from).collect(),
            output: None,
        }
    }

    /// Sends the standard output to a file.
    pub fn output_to(mut self, path: PathBuf) -> Step {
        self.output = Some(path);
        self
    }

    /// Adds arguments.
    pub fn with<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Step {
        let arguments = arguments.into_iter();
        self.arguments
            .extend(arguments.map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Adds an option with its value.
    pub fn option(self, option: &str, value: impl AsRef<OsStr>) -> Step {
        self.with([OsStr::new(option), value.as_ref()])
    }

    /// Returns the command as a person types it in a shell.
    pub fn command_line(&self) -> String {
        let words = self.arguments.iter().map(|word| quote(word));
        let mut line = "domesday".to_owned();
        for word in words {
            line.push(' ');
            line.push_str(&word);
        }
        line
    }
}

/// Quotes a word for a shell, where it needs it.
fn quote(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepEnd {
    /// It ended with this exit code.
    Exit(i32),
    /// A signal ended it.
    Signal,
    /// It took too long and was ended.
    TimedOut,
}

/// Runs commands of the program.
pub trait Program {
    /// Runs a command whose output goes to a log, for at most `limit`. Blocks.
    ///
    /// # Errors
    /// The command cannot be started, or the log cannot be written.
    fn run(&self, step: &Step, log: &Path, limit: Duration) -> io::Result<StepEnd>;
}

/// The program in a file.
#[derive(Clone, Debug)]
pub struct ProgramFile(pub PathBuf);

impl Program for ProgramFile {
    fn run(&self, step: &Step, log: &Path, limit: Duration) -> io::Result<StepEnd> {
        let errors = File::create(log)?;
        let output = match &step.output {
            Some(path) => File::create(path)?,
            None => errors.try_clone()?,
        };
        let mut child = Command::new(&self.0)
            .args(&step.arguments)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn()?;
        match child.wait_timeout(limit)? {
            Some(status) => Ok(status.code().map_or(StepEnd::Signal, StepEnd::Exit)),
            None => {
                child.kill()?;
                child.wait()?;
                Ok(StepEnd::TimedOut)
            }
        }
    }
}

/// The report of a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepReport {
    /// Its name.
    pub name: &'static str,
    /// The command as a person types it.
    pub command: String,
    /// Time that it took.
    pub seconds: f64,
    /// Its exit code. Absent where it was ended.
    pub exit_code: Option<i32>,
    /// Its output.
    pub log: PathBuf,
}

/// Runs a step and reports it.
///
/// # Errors
/// As [`Program::run`].
pub fn run_step(
    program: &dyn Program,
    step: &Step,
    log: PathBuf,
    limit: Duration,
) -> io::Result<(StepEnd, StepReport)> {
    let started = Instant::now();
    let end = program.run(step, &log, limit)?;
    let report = StepReport {
        name: step.name,
        command: step.command_line(),
        seconds: (started.elapsed().as_secs_f64() * 10.0).round() / 10.0,
        exit_code: match end {
            StepEnd::Exit(code) => Some(code),
            StepEnd::Signal | StepEnd::TimedOut => None,
        },
        log,
    };
    Ok((end, report))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_can_be_typed_in_a_shell() {
        let step = Step::new("check", &["data", "check"])
            .with([Path::new("in box/it's.csv")])
            .option("--max-rejected", "5");
        assert_eq!(
            step.command_line(),
            r"domesday data check 'in box/it'\''s.csv' --max-rejected 5"
        );
    }

    #[test]
    fn a_step_that_takes_too_long_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let program = ProgramFile("/bin/sh".into());
        let sleep = Step::new("sleep", &["-c", "echo begun; exec sleep 600"]);
        let started = Instant::now();
        let end = program
            .run(&sleep, &log, Duration::from_millis(200))
            .unwrap();
        assert_eq!(end, StepEnd::TimedOut);
        assert!(started.elapsed() < Duration::from_secs(60));
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "begun\n");
        let fail = Step::new("fail", &["-c", "exit 3"]);
        let end = program.run(&fail, &log, Duration::from_secs(60)).unwrap();
        assert_eq!(end, StepEnd::Exit(3));
    }
}
