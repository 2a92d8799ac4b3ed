//! The steps of a round: commands of the program, each with a log.

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
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

/// The program in a file. Each step is a separate process group, so that the programs that it
/// started end with it: they hold the round's lock too.
#[derive(Debug)]
pub struct ProgramFile {
    path: PathBuf,
    running: Mutex<RunningStep>,
}

/// The step that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunningStep {
    None,
    /// The process group of one.
    Group(Pid),
    /// None, and none may begin.
    Stopped,
}

impl ProgramFile {
    /// Returns the program in this file.
    pub fn new(path: PathBuf) -> ProgramFile {
        ProgramFile {
            path,
            running: Mutex::new(RunningStep::None),
        }
    }

    /// Ends the step that runs, with all that it started. No other step begins.
    ///
    /// A terminal's Ctrl-C reaches the round alone, since a step is in another process group.
    pub fn stop(&self) {
        if let RunningStep::Group(group) =
            std::mem::replace(&mut *self.running(), RunningStep::Stopped)
        {
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    fn start(&self, command: &mut Command) -> io::Result<(Child, Pid)> {
        let mut running = self.running();
        if *running == RunningStep::Stopped {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let child = command.process_group(0).spawn()?;
        // The first process of a group has the group's number.
        let group = Pid::from_child(&child);
        *running = RunningStep::Group(group);
        Ok((child, group))
    }

    fn running(&self) -> MutexGuard<'_, RunningStep> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Program for ProgramFile {
    fn run(&self, step: &Step, log: &Path, limit: Duration) -> io::Result<StepEnd> {
        let errors = File::create(log)?;
        let output = match &step.output {
            Some(path) => File::create(path)?,
            None => errors.try_clone()?,
        };
        let mut command = Command::new(&self.path);
        command
            .args(&step.arguments)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors);
        let (mut child, group) = self.start(&mut command)?;
        let end = match child.wait_timeout(limit)? {
            Some(status) => status.code().map_or(StepEnd::Signal, StepEnd::Exit),
            None => {
                kill_process_group(group, Signal::KILL)?;
                child.wait()?;
                StepEnd::TimedOut
            }
        };
        let mut running = self.running();
        if *running == RunningStep::Group(group) {
            *running = RunningStep::None;
        }
        Ok(end)
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
    use crate::lock::RoundLock;

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
        let program = ProgramFile::new("/bin/sh".into());
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
    /// Returns a shell that starts a program, writes its number to a file and waits for it.
    fn parent_of_a_sleeper(number: &Path) -> Step {
        let script = "sleep 600 & echo $! > \"$0.new\"; mv \"$0.new\" \"$0\"; wait";
        Step::new("sleep", &["-c", script]).with([number])
    }

    /// Waits until no process has the number in a file, or until it is only a record of its end.
    fn has_ended(number: &Path) -> bool {
        let number = std::fs::read_to_string(number).unwrap();
        let status = PathBuf::from(format!("/proc/{}/stat", number.trim()));
        let is_over = || match std::fs::read_to_string(&status) {
            Ok(status) => status.contains(") Z "),
            Err(_) => true,
        };
        (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            is_over()
        })
    }

    #[test]
    fn what_a_step_started_ends_with_it_and_gives_the_lock_back() {
        let folder = tempfile::tempdir().unwrap();
        let number = folder.path().join("number");
        let round = RoundLock::take(folder.path()).unwrap();
        let program = ProgramFile::new("/bin/sh".into());
        let log = folder.path().join("log");
        let step = parent_of_a_sleeper(&number);
        let end = program.run(&step, &log, Duration::from_secs(3)).unwrap();
        assert_eq!(end, StepEnd::TimedOut);
        assert!(has_ended(&number));
        drop(round);
        RoundLock::take(folder.path()).unwrap();
    }

    #[test]
    fn a_stopped_program_ends_its_step_and_begins_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let (number, log) = (folder.path().join("number"), folder.path().join("log"));
        let program = ProgramFile::new("/bin/sh".into());
        let step = parent_of_a_sleeper(&number);
        let run = || program.run(&step, &log, Duration::from_secs(60));
        let end = std::thread::scope(|scope| {
            let running = scope.spawn(run);
            while !number.exists() && !running.is_finished() {
                std::thread::sleep(Duration::from_millis(20));
            }
            program.stop();
            running.join().unwrap().unwrap()
        });
        assert_eq!(end, StepEnd::Signal);
        assert!(has_ended(&number));
        let refused = run().unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::Interrupted);
    }
}
