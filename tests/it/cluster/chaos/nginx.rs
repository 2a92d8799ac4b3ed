//! Debian's nginx before the hosts, by the example's file without its TLS and its logs.

use crate::common::program::repository;
use rustix::process::{Pid, Signal, kill_process};
use std::fmt::Write;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

const PROGRAM: &str = "/usr/sbin/nginx";
const EXAMPLE_HOST: &str = "    server 10.0.0.11:8080 max_fails=1 fail_timeout=5s;\n";

/// A running nginx.
pub struct Nginx {
    /// Where clients connect.
    pub address: SocketAddr,
    /// The folder of its settings and its log.
    folder: PathBuf,
    child: Child,
}

/// Reports whether it is installed.
pub fn is_installed() -> bool {
    Path::new(PROGRAM).exists()
}

/// Returns an address of this machine that nobody listens on.
pub fn free_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap()
}

impl Nginx {
    /// Starts it before these hosts.
    pub fn before(hosts: &[SocketAddr], folder: &Path) -> Nginx {
        let address = free_address();
        fs::write(folder.join("domesday.conf"), example(hosts, address)).unwrap();
        let (at, mut main) = (folder.display(), String::new());
        // Its workers would be another user's where it is started by root.
        let root = rustix::process::geteuid().is_root();
        main.push_str(if root { "user root;\n" } else { "" });
        writeln!(main, "daemon off;\npid {at}/nginx.pid;").unwrap();
        writeln!(main, "worker_processes 2;\nevents {{}}").unwrap();
        writeln!(main, "http {{\naccess_log off;").unwrap();
        for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
            writeln!(main, "{kind}_temp_path {at}/{kind};").unwrap();
        }
        writeln!(main, "include {at}/domesday.conf;\n}}").unwrap();
        fs::write(folder.join("nginx.conf"), main).unwrap();
        let nginx = Nginx {
            address,
            folder: folder.to_owned(),
            child: spawn(folder),
        };
        nginx.await_connections();
        nginx
    }

    /// Ends it and its workers, which cuts their connections.
    pub fn stop(&mut self) {
        let id = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        if self.child.try_wait().unwrap().is_none() {
            kill_process(id, Signal::TERM).unwrap();
        }
        self.child.wait().unwrap();
    }

    /// Starts it again at its address, after a stop.
    pub fn start_again(&mut self) {
        self.child = spawn(&self.folder);
        self.await_connections();
    }

    /// Waits until it accepts connections.
    fn await_connections(&self) {
        let begun = Instant::now();
        while TcpStream::connect(self.address).is_err() {
            let log = || fs::read_to_string(self.folder.join("nginx.log")).unwrap();
            assert!(begun.elapsed() < Duration::from_secs(30), "{}", log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Starts the program with the settings of a folder.
fn spawn(folder: &Path) -> Child {
    let log = fs::File::options()
        .create(true)
        .append(true)
        .open(folder.join("nginx.log"))
        .unwrap();
    Command::new(PROGRAM)
        .args(["-e", "stderr", "-c"])
        .arg(folder.join("nginx.conf"))
        .stderr(log)
        .spawn()
        .unwrap()
}

/// Returns the example's file for these hosts, without TLS and logs.
fn example(hosts: &[SocketAddr], address: SocketAddr) -> String {
    let text = fs::read_to_string(repository().join("examples/nginx/domesday.conf")).unwrap();
    assert!(text.contains(EXAMPLE_HOST), "{text}");
    let servers: String = hosts
        .iter()
        .map(|host| EXAMPLE_HOST.replace("10.0.0.11:8080", &host.to_string()))
        .collect();
    let text = text.replace(EXAMPLE_HOST, &servers);
    let text = text.replace("listen 443 ssl", &format!("listen {address}"));
    let kept = |line: &&str| {
        let line = line.trim_start();
        let left_out = ["ssl_", "server 10.", "access_log ", "error_log "];
        !left_out.iter().any(|start| line.starts_with(start))
    };
    text.lines()
        .filter(kept)
        .fold(String::new(), |text, line| text + line + "\n")
}

impl Drop for Nginx {
    fn drop(&mut self) {
        self.stop();
    }
}
