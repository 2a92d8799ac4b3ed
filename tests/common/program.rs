//! The `domesday` program, run as a person runs it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// No command of a suite takes longer, so one that hangs is found.
pub const TIMEOUT: Duration = Duration::from_secs(180);
/// Settings of the person who runs the suites must not reach the program under test.
const SETTINGS: [&str; 35] = [
    "DOMESDAY_RELEASES",
    "DOMESDAY_RELEASE",
    "DOMESDAY_RELEASE_SOURCE",
    "DOMESDAY_DATA",
    "DOMESDAY_STATE",
    "DOMESDAY_LISTEN",
    "DOMESDAY_CONFIG",
    "DOMESDAY_ALLOW_UNSIGNED",
    "DOMESDAY_NO_DEMO",
    "DOMESDAY_THREADS",
    "DOMESDAY_JOB_RUNNERS",
    "DOMESDAY_JOB_LEASE",
    "DOMESDAY_JOB_STORE",
    "DOMESDAY_USAGE_LEDGER_MONTHS",
    "DOMESDAY_PROCESSING_DEADLINE",
    "DOMESDAY_IDLE_TIMEOUT",
    "DOMESDAY_CONNECTIONS",
    "DOMESDAY_CONNECTIONS_PER_ADDRESS",
    "DOMESDAY_TRUSTED_PROXIES",
    "DOMESDAY_DRAIN_DELAY",
    "DOMESDAY_DRAIN_TIMEOUT",
    "DOMESDAY_TLS_CERTIFICATE",
    "DOMESDAY_TLS_KEY",
    "DOMESDAY_METRICS_LISTEN",
    "DOMESDAY_OTLP_ENDPOINT",
    "DOMESDAY_RECEIPTS",
    "DOMESDAY_RECEIPTS_SHARE",
    "DOMESDAY_JOURNAL",
    "DOMESDAY_LOG",
    "DOMESDAY_REGISTRY_USER",
    "DOMESDAY_REGISTRY_PASSWORD",
    "DOCKER_CONFIG",
    "DOMESDAY_SHADOW",
    "DOMESDAY_SHADOW_SHARE",
    "RUST_LOG",
];

/// Returns the repository's root.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Returns the folder of releases that a fresh checkout serves, or `DOMESDAY_RELEASES`.
pub fn releases() -> PathBuf {
    let releases = std::env::var_os("DOMESDAY_RELEASES")
        .map_or_else(|| repository().join("releases"), PathBuf::from);
    assert!(
        releases.join("valuation").is_dir(),
        "{} holds no release; scripts/make-demo makes the demo's",
        releases.display()
    );
    releases
}

/// Returns a command of the program without the settings of this process.
pub fn domesday() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_domesday"));
    for setting in SETTINGS {
        command.env_remove(setting);
    }
    command
}

/// The exit code and the output of a command.
#[derive(Debug)]
pub struct ProcessOutput {
    /// The exit code.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl ProcessOutput {
    /// Asserts that the command succeeded, and returns its output.
    #[track_caller]
    pub fn ok(self) -> ProcessOutput {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// Asserts that the command refused, and returns its standard error.
    #[track_caller]
    pub fn refused(self) -> String {
        assert_eq!(self.code, Some(1), "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self.stderr
    }
}

/// Runs the program to its end.
pub fn run<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> ProcessOutput {
    let mut command = domesday();
    command.args(arguments);
    run_command(command, TIMEOUT)
}

/// Makes a key of a database's customer, who values homes.
pub fn customer_key(database: &str) -> String {
    // Nobody's data folder: the command is on no host.
    let arguments = format!(
        "key create --tenant customer --scope avm:value --state {database} --data /nonexistent"
    );
    run(arguments.split(' ')).ok().stdout.trim().to_owned()
}

/// Runs the program to its end with its standard output as the shell (bash) makes it: `| true`,
/// `>/dev/full`.
pub fn run_into<A: AsRef<std::ffi::OsStr>>(
    output: &str,
    arguments: impl IntoIterator<Item = A>,
) -> ProcessOutput {
    let program = domesday();
    let mut shell = Command::new("bash");
    for (name, _) in program.get_envs() {
        shell.env_remove(name);
    }
    shell.arg("-c");
    shell.arg(format!("set -o pipefail; \"$0\" \"$@\" {output}"));
    shell.arg(program.get_program()).args(arguments);
    run_command(shell, TIMEOUT)
}

/// Runs a command to its end, for as long as that.
pub fn run_command(command: Command, timeout: Duration) -> ProcessOutput {
    let output = assert_cmd::Command::from_std(command)
        .timeout(timeout)
        .output()
        .unwrap();
    ProcessOutput {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}
