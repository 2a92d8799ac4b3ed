//! PostgreSQL clusters for tests, made from the machine's own binaries. A cluster is removed with
//! the process that started it, or with the run of the tests that share it.
//!
//! A cluster lives in a temporary folder and listens on a socket in it alone, so that it meets no
//! other cluster. A small shell program holds it and watches a pipe from this process. The pipe
//! closes when the tests end, panic or are killed. Then the program stops the server and removes
//! the folder.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test ends where something unexpected happens"
)]

use domesday_test_shared::{once, runner};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Time in which a server applies a setting that was reloaded.
const RELOADED: Duration = Duration::from_millis(500);

/// Debian's folder, with one folder of binaries for each major version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// Users to run the server as where the tests run as root: PostgreSQL refuses to run as root.
const USERS: [&str; 2] = ["postgres", "nobody"];

/// The longest start of a cluster.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The durability of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disk {
    /// It waits for the disk, as in production.
    Synced,
    /// It is left to the operating system, which is faster and outlives any process.
    Unsynced,
}

/// A running cluster.
#[derive(Debug)]
pub struct Cluster {
    folder: PathBuf,
    database_count: AtomicU32,
    supervisor: Mutex<Supervisor>,
}

#[derive(Debug)]
struct Supervisor {
    child: Child,
    /// Dropped to end it.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// The cluster that all tests of a run share. It goes when the run ends.
#[derive(Debug)]
pub struct SharedCluster {
    folder: PathBuf,
    /// Nanoseconds since 1970 at which this process first asked. A long run reuses the ids of
    /// processes, so that an id alone does not tell two of them apart.
    first_use: u128,
    database_count: AtomicU32,
}

/// Returns the cluster that all tests of a run share, which the first test to ask starts.
///
/// # Panics
/// PostgreSQL is not installed, or does not start.
#[allow(
    clippy::disallowed_methods,
    reason = "a name is made of the time, and no test waits for it"
)]
pub fn shared() -> &'static SharedCluster {
    static SHARED: OnceLock<SharedCluster> = OnceLock::new();
    SHARED.get_or_init(|| {
        let shared_dir = once("postgresql", |shared_dir| {
            let folder = start_with_run(&shared_dir.join("answers"));
            symlink(folder, shared_dir.join("cluster")).unwrap();
        });
        SharedCluster {
            folder: fs::read_link(shared_dir.join("cluster")).unwrap(),
            first_use: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap()
                .as_nanos(),
            database_count: AtomicU32::new(0),
        }
    })
}

impl SharedCluster {
    /// Creates an empty database, and returns its address.
    ///
    /// # Panics
    /// PostgreSQL does not make one.
    pub fn database(&self) -> String {
        let number = self.database_count.fetch_add(1, Ordering::Relaxed);
        // Tests of other processes make theirs in the same cluster.
        let name = format!("test{}_{}_{number}", std::process::id(), self.first_use);
        let output = Command::new(binaries().join("createdb"))
            .arg("-h")
            .arg(&self.folder)
            .args(["-U", "test", &name])
            .output()
            .unwrap();
        assert!(output.status.success(), "createdb {name}: {output:?}");
        address(&self.folder, &name)
    }
}

/// Starts a cluster that stops with the tests' run, and returns its folder. Its supervisor answers
/// into this file.
#[allow(clippy::zombie_processes, reason = "it outlives this process")]
fn start_with_run(answers: &Path) -> PathBuf {
    let (folder, arguments) = prepare(Disk::Unsynced);
    Command::new("sh")
        .args(["-c", include_str!("with_run.sh"), "sh"])
        .arg(runner().to_string())
        .arg(include_str!("supervise.sh"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(File::create(answers).unwrap())
        .stderr(Stdio::null())
        // What interrupts or ends one test must not end the cluster of all.
        .process_group(0)
        .spawn()
        .unwrap();
    let started = Instant::now();
    loop {
        let replies = fs::read_to_string(answers).unwrap();
        let log = || fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(!replies.contains("failed"), "PostgreSQL: {}", log());
        if replies.lines().count() == 2 {
            return folder;
        }
        assert!(started.elapsed() < TIMEOUT, "PostgreSQL: {}", log());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Runs a statement on a database, and returns what it gave.
///
/// # Panics
/// The database refuses it.
pub fn sql(address: &str, statement: &str) -> String {
    let output = Command::new(binaries().join("psql"))
        .args(["--no-psqlrc", "--tuples-only", "--no-align", "--set"])
        .args(["ON_ERROR_STOP=1", "--command", statement, address])
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    assert!(
        output.status.success(),
        "{statement}: {}",
        text(output.stderr)
    );
    text(output.stdout)
}

/// Returns the statements that make the content of the schema `domesday` anew.
///
/// # Panics
/// The database does not give them.
pub fn dump(address: &str) -> String {
    let output = Command::new(binaries().join("pg_dump"))
        .args(["--schema=domesday", "--inserts", "--no-owner"])
        .args(["--no-privileges", address])
        .output()
        .unwrap();
    assert!(output.status.success(), "pg_dump: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    // Comments, and commands of psql.
    let statements = text
        .lines()
        .filter(|line| !line.starts_with("--") && !line.starts_with('\\'));
    statements.map(|line| format!("{line}\n")).collect()
}

impl Cluster {
    /// Makes a cluster and starts it.
    ///
    /// # Panics
    /// PostgreSQL is not installed, or does not start.
    pub fn start(disk: Disk) -> Cluster {
        let (folder, arguments) = prepare(disk);
        let mut child = Command::new("sh")
            .args(["-c", include_str!("supervise.sh"), "sh"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let supervisor = Supervisor {
            orders: child.stdin.take(),
            answers: BufReader::new(child.stdout.take().unwrap()),
            child,
        };
        let cluster = Cluster {
            folder,
            database_count: AtomicU32::new(0),
            supervisor: Mutex::new(supervisor),
        };
        cluster.order("init");
        cluster.order("start");
        cluster
    }

    /// Creates an empty database, and returns its address.
    pub fn database(&self) -> String {
        let name = format!(
            "test{}",
            self.database_count.fetch_add(1, Ordering::Relaxed)
        );
        self.order(&format!("database {name}"));
        address(&self.folder, &name)
    }

    /// Ends the server as a crash would: at once, whatever is going on in it.
    pub fn crash(&self) {
        self.order("stop");
    }

    /// Starts it again, where it recovers.
    pub fn restart(&self) {
        self.order("start");
    }

    /// Freezes it: connections stay, and nothing answers.
    pub fn freeze(&self) {
        self.order("backends STOP");
    }

    /// Lets it go on.
    pub fn thaw(&self) {
        self.order("backends CONT");
    }

    /// Lets no commit end, as where a synchronous standby is gone. Reads go on.
    pub fn hold_commits(&self) {
        self.set("SET synchronous_standby_names = 'nobody'");
        // The checkpointer applies the setting once it wakes, and no view shows when.
        std::thread::sleep(RELOADED);
    }

    /// Lets commits end again.
    pub fn release_commits(&self) {
        self.set("RESET synchronous_standby_names");
    }

    /// Changes a setting of the server, which itself commits nothing.
    fn set(&self, change: &str) {
        let address = address(&self.folder, "postgres");
        sql(&address, &format!("ALTER SYSTEM {change}"));
        sql(&address, "SELECT pg_reload_conf()");
    }

    fn order(&self, order: &str) {
        let mut supervisor = self
            .supervisor
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut answer = String::new();
        writeln!(supervisor.orders.as_ref().unwrap(), "{order}").unwrap();
        supervisor.answers.read_line(&mut answer).unwrap();
        let log = || fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        assert_eq!(answer, "ok\n", "PostgreSQL, at {order:?}: {}", log());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let supervisor = self
            .supervisor
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        drop(supervisor.orders.take());
        // It ends by itself; what it could not do is no news to the test.
        let _ = supervisor.child.wait();
    }
}

/// Returns the address of a database of the cluster in this folder.
fn address(folder: &Path, database: &str) -> String {
    let folder = folder.display();
    format!("postgres:///{database}?host={folder}&user=test")
}

/// Returns an empty folder for a cluster, and what its supervisor is started with.
fn prepare(disk: Disk) -> (PathBuf, Vec<OsString>) {
    let folder = tempfile::Builder::new()
        .prefix("domesday-pg-")
        .tempdir()
        .unwrap()
        .keep();
    let user = hand_over(&folder).unwrap_or("");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let fsync = format!("fsync={}", if disk == Disk::Synced { "on" } else { "off" });
    let mut arguments: Vec<OsString> = vec![binaries().into(), folder.clone().into()];
    arguments.extend([user, "-k"].map(OsString::from));
    arguments.push(folder.clone().into());
    let settings = ["-c", "listen_addresses=", "-c", "max_connections=300", "-c"];
    arguments.extend(settings.map(OsString::from));
    arguments.push(fsync.into());
    (folder, arguments)
}

/// Gives a folder to the user who the server has to run as, where that is another one.
///
/// # Panics
/// The tests run as root, and the machine has none of the users.
pub fn hand_over(folder: &Path) -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let user = USERS.into_iter().find(|user| give(folder, user));
    Some(user.expect("neither `postgres` nor `nobody` is a user of this machine"))
}

/// Returns the folder of binaries of the newest installed version.
///
/// # Panics
/// PostgreSQL is not installed.
pub fn binaries() -> PathBuf {
    let version = |path: &Path| -> Option<u32> { path.file_name()?.to_str()?.parse().ok() };
    let installed = fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    installed
        .map(|entry| entry.path())
        .filter(|path| path.join("bin/initdb").exists())
        .max_by_key(|path| version(path))
        .expect("these tests need PostgreSQL's own programs: install the package `postgresql`")
        .join("bin")
}

/// Gives a folder to a user, where there is such a user.
fn give(folder: &Path, user: &str) -> bool {
    let status = Command::new("chown")
        .arg(user)
        .arg(folder)
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The folder's socket exists exactly while the server runs. Dropping the cluster removes the
    /// folder.
    #[test]
    fn a_cluster_comes_and_goes() {
        let cluster = Cluster::start(Disk::Unsynced);
        let (first, second) = (cluster.database(), cluster.database());
        assert_ne!(first, second);
        let folder = cluster.folder.clone();
        let socket = folder.join(".s.PGSQL.5432");
        assert!(socket.exists());
        cluster.crash();
        cluster.restart();
        cluster.freeze();
        cluster.thaw();
        cluster.hold_commits();
        cluster.release_commits();
        cluster.database();
        drop(cluster);
        assert!(!folder.exists());
    }
}
