//! A registry of its own: Debian's docker-registry on a free port, with its own storage, gone when
//! it is dropped.

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
    /// Where it listens.
    pub address: SocketAddr,
    kept: TempDir,
}

/// A registry that anybody may use; none, with a line that says so, where the program is not
/// installed.
pub fn registry() -> Option<Registry> {
    start("")
}

/// A registry that only `me` may use, with the password `hunter2`.
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
    let kept = TempDir::new().unwrap();
    // The port may be taken by another before the registry takes it; then it ends, and the next is
    // tried.
    for _ in 0..5 {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        if let Some(child) = listening(kept.path(), address, users) {
            return Some(Registry {
                child,
                address,
                kept,
            });
        }
    }
    panic!("{PROGRAM} does not start");
}

fn listening(kept: &Path, address: SocketAddr, users: &str) -> Option<Child> {
    let storage = kept.join("storage");
    let mut settings = format!(
        "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: {address}}}\n",
        storage.display()
    );
    if !users.is_empty() {
        let file = kept.join("users");
        fs::write(&file, users).unwrap();
        settings += &format!(
            "auth: {{htpasswd: {{realm: tests, path: {}}}}}\n",
            file.display()
        );
    }
    let file = kept.join("config.yml");
    fs::write(&file, settings).unwrap();
    let mut child = Command::new(PROGRAM)
        .arg("serve")
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while begun.elapsed() < TIMEOUT {
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
    /// A repository in it, as commands take it.
    pub fn repository(&self) -> String {
        format!("oci://{}/models/homes", self.address)
    }

    /// The file that holds a blob.
    pub fn blob(&self, sha256: &str) -> PathBuf {
        let blobs = "storage/docker/registry/v2/blobs/sha256";
        let folder = self.kept.path().join(blobs).join(&sha256[..2]);
        folder.join(sha256).join("data")
    }

    /// Forgets an artifact and its tag, as a registry that sweeps does.
    pub fn sweep(&self, digest: &str, tag: &str) {
        let manifests = "storage/docker/registry/v2/repositories/models/homes/_manifests";
        let manifests = self.kept.path().join(manifests);
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
