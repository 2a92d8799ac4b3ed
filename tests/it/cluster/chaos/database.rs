//! A PostgreSQL that can fail over to a standby, with a disk that can be full.

use crate::chaos::link::Link;
use crate::chaos::nginx::free_address;
use domesday_test_postgres::{binaries, hand_over, sql};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time for everything that PostgreSQL does here.
const TIMEOUT: Duration = Duration::from_secs(60);
const SETTINGS: [&str; 7] = [
    "listen_addresses=127.0.0.1",
    "fsync=off",
    "max_connections=60",
    "shared_buffers=32MB",
    "min_wal_size=4MB",
    "max_wal_size=32MB",
    "log_checkpoints=off",
];
const DISK: &str = "size=400m,mode=700";

/// The database of the hosts, and the way to it.
pub struct Database {
    folder: PathBuf,
    user: Option<&'static str>,
    node: Node,
    nodes: u32,
    /// The way of the hosts to it, which stays the same over a failover.
    pub link: Link,
}

/// One server.
struct Node {
    folder: PathBuf,
    address: SocketAddr,
    child: Child,
    /// True if its folder is a separate disk, which can be full.
    mounted: bool,
}

impl Database {
    /// Makes a server in this folder and starts it.
    pub fn start(folder: &Path) -> Database {
        let node = folder.join("node0");
        fs::create_dir(&node).unwrap();
        let mounted = mount(&node);
        let user = hand_over(&node);
        let mut init = command(user, "initdb");
        init.args(["-U", "test", "-A", "trust", "-E", "UTF8", "--locale=C"]);
        init.args(["--wal-segsize=1", "--no-sync", "-D"]);
        succeed(init.arg(node.join("data")));
        let node = Node::start(node, user, mounted);
        sql(&node.url("postgres"), "CREATE DATABASE domesday");
        Database {
            folder: folder.to_owned(),
            user,
            link: Link::before(node.address),
            node,
            nodes: 1,
        }
    }

    /// Returns the address of the hosts' database through the link.
    pub fn url(&self) -> String {
        format!("postgres://test@{}/domesday", self.link.address)
    }

    /// Reports whether its disk can be filled.
    pub fn has_separate_disk(&self) -> bool {
        self.node.mounted
    }

    /// Stops it by a signal: `INT` is a fast stop, and `QUIT` an immediate one.
    pub fn stop(&mut self, signal: Signal) {
        self.node.stop(signal);
    }

    /// Starts it again as an init system does, if it has ended.
    pub fn revive(&mut self) {
        if self.node.child.try_wait().unwrap().is_some() {
            let node = &self.node;
            self.node = Node {
                folder: node.folder.clone(),
                child: serve(&node.folder, node.address, self.user),
                ..*node
            };
        }
    }

    /// Waits until it answers.
    pub fn await_answers(&mut self) {
        let begun = Instant::now();
        while !is_ready(self.node.address) {
            assert!(begun.elapsed() < TIMEOUT, "{}", self.log());
            std::thread::sleep(Duration::from_millis(50));
            self.revive();
        }
    }

    /// Makes the server refuse every write, or accept writes again.
    pub fn read_only(&self, on: bool) {
        let change = if on {
            "SET default_transaction_read_only = on"
        } else {
            "RESET default_transaction_read_only"
        };
        let url = self.node.url("postgres");
        // A session that may only read can still change the server's own settings.
        sql(&url, &format!("ALTER SYSTEM {change}"));
        sql(&url, "SELECT pg_reload_conf()");
    }

    /// Fills its disk, or makes room again.
    pub fn fill(&self, full: bool) {
        let filler = self.node.folder.join("filler");
        if !full {
            return fs::remove_file(filler).unwrap();
        }
        let (mut file, block) = (File::create(filler).unwrap(), vec![0; 64 << 10]);
        while std::io::Write::write_all(&mut file, &block).is_ok() {}
        // More than the server keeps of its log, so that it needs room at once. It may end.
        let needs = "SELECT pg_logical_emit_message(true, '', repeat('x', 900000)) \
            FROM generate_series(1, 60)";
        let mut fill = Command::new(binaries().join("psql"));
        let _ = fill
            .args(["-qAtc", needs, &self.node.url("domesday")])
            .output();
    }

    /// Makes a standby that the server waits for with each commit.
    pub fn add_standby(&mut self) -> Standby {
        let folder = self.folder.join(format!("node{}", self.nodes));
        self.nodes += 1;
        fs::create_dir(&folder).unwrap();
        let mounted = mount(&folder);
        hand_over(&folder);
        let mut copy = command(self.user, "pg_basebackup");
        copy.args(["-d", &self.node.url("postgres"), "-R", "-X", "stream"]);
        copy.args(["--checkpoint=fast", "--no-sync", "-D"]);
        succeed(copy.arg(folder.join("data")));
        let standby = Node::start(folder, self.user, mounted);
        let url = self.node.url("domesday");
        sql(&url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
        sql(&url, "SELECT pg_reload_conf()");
        let begun = Instant::now();
        let synchronous = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        while sql(&url, synchronous).trim() != "1" {
            assert!(begun.elapsed() < TIMEOUT, "{}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
        // Sessions have the setting by now, and the standby all that was committed before.
        std::thread::sleep(Duration::from_millis(500));
        sql(&url, "UPDATE domesday.probe SET probed = probed + 1");
        Standby(standby)
    }

    /// Makes the standby the server, after the server has ended.
    pub fn promote(&mut self, standby: Standby) {
        let mut lost = std::mem::replace(&mut self.node, standby.0);
        lost.stop(Signal::KILL);
        let url = self.node.url("postgres");
        assert_eq!(sql(&url, "SELECT pg_promote(true, 60)").trim(), "t");
        self.link.lead_to(self.node.address);
        self.link.cut();
        lost.remove();
    }

    fn log(&self) -> String {
        fs::read_to_string(self.node.folder.with_extension("log")).unwrap_or_default()
    }
}

/// A standby that may become the server.
pub struct Standby(Node);

impl Node {
    fn start(folder: PathBuf, user: Option<&str>, mounted: bool) -> Node {
        let address = free_address();
        let child = serve(&folder, address, user);
        let node = Node {
            folder,
            address,
            child,
            mounted,
        };
        let begun = Instant::now();
        while !is_ready(address) {
            assert!(begun.elapsed() < TIMEOUT, "PostgreSQL does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        node
    }

    fn url(&self, database: &str) -> String {
        format!("postgres://test@{}/{database}", self.address)
    }

    fn stop(&mut self, signal: Signal) {
        let id = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        if self.child.try_wait().unwrap().is_none() {
            kill_process(id, signal).unwrap();
        }
        self.child.wait().unwrap();
    }

    fn remove(mut self) {
        self.stop(Signal::KILL);
        // Its processes end shortly after their parent.
        std::thread::sleep(Duration::from_millis(200));
        if self.mounted {
            let _ = Command::new("umount").arg("-l").arg(&self.folder).status();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.node.stop(Signal::QUIT);
    }
}

/// Starts a server on a folder.
fn serve(folder: &Path, address: SocketAddr, user: Option<&str>) -> Child {
    let log = folder.with_extension("log");
    let log = File::options().create(true).append(true).open(log).unwrap();
    let mut server = command(user, "postgres");
    server
        .arg("-D")
        .arg(folder.join("data"))
        .arg("-k")
        .arg(folder);
    server.args(["-p", &address.port().to_string()]);
    for setting in SETTINGS {
        server.args(["-c", setting]);
    }
    server.stdout(Stdio::null()).stderr(log).spawn().unwrap()
}

/// Returns a command of one of PostgreSQL's programs, which must not run as root.
fn command(user: Option<&str>, program: &str) -> Command {
    let program = binaries().join(program);
    let Some(user) = user else {
        return Command::new(program);
    };
    let mut command = Command::new("setpriv");
    command.args(["--reuid", user, "--regid", user, "--clear-groups", "--"]);
    command.arg(program).current_dir("/");
    command
}

#[track_caller]
fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
}

fn is_ready(address: SocketAddr) -> bool {
    let port = address.port().to_string();
    let ask = [
        "-q",
        "-h",
        "127.0.0.1",
        "-U",
        "test",
        "-d",
        "postgres",
        "-p",
        &port,
    ];
    let status = Command::new(binaries().join("pg_isready"))
        .args(ask)
        .status();
    status.unwrap().success()
}

/// Puts a small disk at a folder, where this user may.
fn mount(folder: &Path) -> bool {
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", DISK, "tmpfs"]).arg(folder);
    mount.output().is_ok_and(|output| output.status.success())
}
