//! A proxy before a database. It can stop forwarding while all connections stay open.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// The name of a server's socket in its folder.
const SOCKET: &str = ".s.PGSQL.5432";

/// A running proxy.
pub struct Proxy {
    gate: Arc<Gate>,
    _folder: TempDir,
}

#[derive(Default)]
struct Gate {
    paused: AtomicBool,
    /// Connections that began in an earlier one forward nothing more.
    generation: AtomicU32,
}

impl Proxy {
    /// Starts a proxy before the database at this address, and returns the address through it.
    pub fn before(database: &str) -> (Proxy, String) {
        let folder = TempDir::new().unwrap();
        let (name, rest) = database.split_once("?host=").unwrap();
        let (target, user) = rest.split_once('&').unwrap();
        let (target, address) = (
            Path::new(target).join(SOCKET),
            format!("{name}?host={}&{user}", folder.path().display()),
        );
        let listener = UnixListener::bind(folder.path().join(SOCKET)).unwrap();
        let gate = Arc::<Gate>::default();
        let accepting = Arc::clone(&gate);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), UnixStream::connect(&target).unwrap());
                let generation = accepting.generation.load(Ordering::Relaxed);
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let gate = Arc::clone(&accepting);
                    std::thread::spawn(move || gate.forward(generation, from, to));
                }
            }
        });
        let proxy = Proxy {
            gate,
            _folder: folder,
        };
        (proxy, address)
    }

    /// Stops to forward, or goes on.
    pub fn pause(&self, paused: bool) {
        self.gate.paused.store(paused, Ordering::Relaxed);
    }

    /// Forwards nothing more on the connections that there are.
    pub fn lose(&self) {
        self.gate.generation.fetch_add(1, Ordering::Relaxed);
    }
}

impl Gate {
    fn forward(&self, generation: u32, mut from: UnixStream, mut to: UnixStream) {
        let mut bytes = [0; 16 << 10];
        loop {
            let length = match from.read(&mut bytes) {
                Ok(length) if length > 0 => length,
                // The other side may already be gone.
                _ => return drop(to.shutdown(Shutdown::Write)),
            };
            while self.paused.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(5));
            }
            let is_lost = generation != self.generation.load(Ordering::Relaxed);
            if !is_lost && to.write_all(&bytes[..length]).is_err() {
                return;
            }
        }
    }
}
