//! A registry for one test: Debian's docker-registry on a free port, with its own storage. Dropping
//! it removes it.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PROGRAM: &str = "docker-registry";
const TIMEOUT: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(20);

/// A running registry.
pub struct Registry {
    child: Child,
    /// The address that it listens on.
    pub address: SocketAddr,
    temp_dir: TempDir,
}

/// Starts a registry that anybody may use. Prints a line and returns nothing where the program is
/// not installed.
pub fn registry() -> Option<Registry> {
    start("")
}

/// Starts a registry that only `me` may use, with the password `hunter2`.
pub fn guarded_registry() -> Option<Registry> {
    // The password hashed once by bcrypt: the registry knows no other form.
    let users = "me:$2b$10$2gGe7.XG47pZqbAma39FM.3N5GnwKvqnodxbqDKjNM.rOBRhw0KqK\n";
    start(users)
}

fn start(users: &str) -> Option<Registry> {
    let found = Command::new(PROGRAM).arg("--version").output();
    if found.is_err() {
        eprintln!("skipped: {PROGRAM} is not installed (apt-get install {PROGRAM})");
        return None;
    }
    let temp_dir = TempDir::new().unwrap();
    // The port may be taken by another before the registry takes it; then it ends, and the next is
    // tried.
    for _ in 0..5 {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        if let Some(child) = listening(temp_dir.path(), address, users) {
            return Some(Registry {
                child,
                address,
                temp_dir,
            });
        }
    }
    panic!("{PROGRAM} does not start");
}

fn listening(temp_dir: &Path, address: SocketAddr, users: &str) -> Option<Child> {
    let storage = temp_dir.join("storage");
    let mut settings = format!(
        "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: {address}}}\n",
        storage.display()
    );
    if !users.is_empty() {
        let file = temp_dir.join("users");
        fs::write(&file, users).unwrap();
        settings += &format!(
            "auth: {{htpasswd: {{realm: tests, path: {}}}}}\n",
            file.display()
        );
    }
    let file = temp_dir.join("config.yml");
    fs::write(&file, settings).unwrap();
    let mut child = Command::new(PROGRAM)
        .arg("serve")
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while started.elapsed() < TIMEOUT {
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        if TcpStream::connect(address).is_ok() {
            return Some(child);
        }
        std::thread::sleep(PAUSE);
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

impl Registry {
    /// Returns the reference of a repository in the registry, as commands take it.
    pub fn repository(&self) -> String {
        format!("oci://{}/models/homes", self.address)
    }

    /// Returns the path of the file that holds a blob.
    pub fn blob(&self, sha256: &str) -> PathBuf {
        let blobs = "storage/docker/registry/v2/blobs/sha256";
        let folder = self.temp_dir.path().join(blobs).join(&sha256[..2]);
        folder.join(sha256).join("data")
    }

    /// Freezes the registry, or lets it go on.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).unwrap();
    }

    /// Removes an artifact and its tag, as a registry's garbage collection does.
    pub fn sweep(&self, digest: &str, tag: &str) {
        let manifests = "storage/docker/registry/v2/repositories/models/homes/_manifests";
        let manifests = self.temp_dir.path().join(manifests);
        fs::remove_dir_all(manifests.join("tags").join(tag)).unwrap();
        let revision = digest.replace(':', "/");
        fs::remove_dir_all(manifests.join("revisions").join(revision)).unwrap();
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
