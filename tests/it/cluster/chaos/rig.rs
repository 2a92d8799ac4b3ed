//! A service as operators run it: nginx, hosts, and their state, each with a way to be disturbed.

use crate::chaos::database::Database;
use crate::chaos::faults::Store;
use crate::chaos::link::Link;
use crate::chaos::nginx::{Nginx, free_address};
use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::faults::{clock, library};
use crate::common::server::Server;
use crate::crash::clients::JOBS;
use crate::crash::harness::{UNITS, World};
use domesday_server::clock::{Clock, MachineClock};
use serde_json::json;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// Those who ask for values, those who submit jobs, and one who probes.
pub const TENANTS: [&str; 3] = ["values", "jobs", "prober"];
const HOSTS_ON_POSTGRESQL: usize = 3;
/// The files of the embedded store.
const FILES: [&str; 2] = ["state.redb", "state.usage"];

/// The running service.
pub struct Rig {
    // Dropped in this order: what serves before what it rests on.
    pub hosts: Vec<Host>,
    pub nginx: Nginx,
    pub database: Option<Database>,
    pub world: World,
    /// The way of clients to nginx.
    pub front: Link,
    pub keys: [String; TENANTS.len()],
    libraries: PathBuf,
    _cleaner: Cleaner,
}

/// One host.
pub struct Host {
    pub address: SocketAddr,
    pub server: Option<Server>,
    pub data: PathBuf,
    /// What the host's disk and clock have at the moment.
    pub faults: PathBuf,
}

/// Removes the folder and what runs in it, once this process has ended or this is dropped.
struct Cleaner {
    child: Child,
    ended: Option<ChildStdin>,
}

impl Rig {
    pub fn start(store: Store) -> Rig {
        let folder = tempfile::Builder::new().prefix("domesday-chaos-").tempdir();
        let folder = folder.unwrap().keep();
        // Others than this user have their folders in it.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o711)).unwrap();
        let cleaner = Cleaner::of(&folder);
        let database = (store == Store::Postgresql).then(|| Database::start(&folder));
        let world = match &database {
            Some(database) => World::on(database.url()),
            None => World::embedded(),
        };
        let count = database.as_ref().map_or(1, |_| HOSTS_ON_POSTGRESQL);
        let libraries = std::env::join_paths([library(&folder), clock(&folder)]).unwrap();
        let keys = TENANTS.map(|tenant| world.key(tenant, UNITS));
        let hosts: Vec<Host> = (0..count)
            .map(|number| Host::new(&folder, world.data(number), number))
            .collect();
        let addresses: Vec<SocketAddr> = hosts.iter().map(|host| host.address).collect();
        let nginx = Nginx::before(&addresses, &folder);
        let mut rig = Rig {
            hosts,
            front: Link::before(nginx.address),
            nginx,
            database,
            world,
            keys,
            libraries: libraries.into(),
            _cleaner: cleaner,
        };
        for host in 0..count {
            rig.start_host(host);
        }
        rig
    }

    /// Starts a host that does not run.
    pub fn start_host(&mut self, number: usize) {
        let host = &mut self.hosts[number];
        let paths = FILES.map(|file| host.data.join(file).display().to_string());
        let start = self.world.host(number).listen(&host.address.to_string());
        let start = start
            .environment("LD_PRELOAD", &self.libraries)
            .environment("DOMESDAY_FAULT_FILES", Path::new(&paths.join(":")))
            .environment("DOMESDAY_FAULTS", &host.faults)
            .environment("DOMESDAY_CLOCK", &host.faults.join("clock"));
        host.server = Some(start.go());
    }

    /// Returns a client of nginx with the key of the prober.
    pub fn prober(&self) -> Client {
        Client::new(self.front.address, &self.keys[2]).with_timeout(Duration::from_secs(5))
    }

    /// Returns the units that a tenant has used this month.
    pub fn used(&self, tenant: &str) -> u64 {
        let listed = self.world.order(&["tenant", "list"]);
        let mut fields = listed
            .lines()
            .find_map(|line| line.strip_prefix(tenant))
            .unwrap_or_else(|| panic!("no {tenant} in {listed}"))
            .split('\t');
        let used = fields.nth(2).unwrap().split(' ').next().unwrap();
        used.parse().unwrap()
    }

    /// Returns the entries of this month's ledger of units, of all tenants, as CSV.
    pub fn usage_export(&self) -> String {
        let month = MachineClock.utc().format("%Y-%m").to_string();
        self.world.order(&["usage", "export", "--month", &month])
    }

    /// Waits until every host is ready, values are answered one after another and a new job is
    /// done. Returns how long that took since the fault's end.
    pub fn await_well(&mut self, ended: Instant, bound: Duration) -> Duration {
        loop {
            if let Some(database) = &mut self.database {
                database.revive();
            }
            if self.is_well() {
                return ended.elapsed();
            }
            assert!(
                ended.elapsed() < bound,
                "not well in {bound:?}: {}",
                self.logs()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn is_well(&self) -> bool {
        let ready = |host: &Host| {
            let client = Client::new(host.address, "none").with_timeout(Duration::from_secs(5));
            client
                .try_get("/readyz")
                .is_ok_and(|answer| answer.status == 200)
        };
        let prober = self.prober();
        let value = || prober.try_post("/v3/simple-value", &house().to_string());
        let is_valued = || value().is_ok_and(|answer| answer.status == 200);
        self.hosts.iter().all(ready) && (0..5).all(|_| is_valued()) && self.does_a_job(&prober)
    }

    fn does_a_job(&self, prober: &Client) -> bool {
        let body = json!({"requests": [house()]}).to_string();
        let Ok(accepted) = prober.try_post(JOBS, &body) else {
            return false;
        };
        if accepted.status != 202 {
            return false;
        }
        let url = accepted.json()["results_url"].as_str().unwrap().to_owned();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) {
            if prober
                .try_get(&url)
                .is_ok_and(|answer| answer.status == 200)
            {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// Returns the last lines of each log.
    pub fn logs(&self) -> String {
        let servers = self.hosts.iter().filter_map(|host| host.server.as_ref());
        let last = |server: &Server| {
            let log = server.log();
            let lines: Vec<&str> = log.lines().rev().take(12).collect();
            lines.into_iter().rev().collect::<Vec<_>>().join("\n")
        };
        servers.map(last).collect::<Vec<_>>().join("\n---\n")
    }
}

impl Host {
    fn new(folder: &Path, data: PathBuf, number: usize) -> Host {
        let faults = folder.join(format!("faults{number}"));
        fs::create_dir(&faults).unwrap();
        fs::write(faults.join("clock"), 0_i64.to_ne_bytes()).unwrap();
        Host {
            address: free_address(),
            server: None,
            data,
            faults,
        }
    }

    /// Sets the host's clock ahead by some seconds, or back by fewer than none.
    pub fn set_clock(&self, ahead: i64) {
        let file = fs::File::options()
            .write(true)
            .open(self.faults.join("clock"));
        file.unwrap().write_all_at(&ahead.to_ne_bytes(), 0).unwrap();
    }

    /// Gives its disk a fault, or takes it away.
    pub fn set_fault(&self, name: &str, on: bool) {
        let trigger = self.faults.join(name);
        match on {
            true => fs::write(trigger, "").unwrap(),
            false => fs::remove_file(trigger).unwrap(),
        }
    }

    /// Returns the server, which runs.
    pub fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }
}

impl Cleaner {
    fn of(folder: &Path) -> Cleaner {
        let mut child = Command::new("sh")
            .args(["-c", include_str!("clean_up.sh"), "sh"])
            .arg(folder)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        Cleaner {
            ended: child.stdin.take(),
            child,
        }
    }
}

impl Drop for Cleaner {
    fn drop(&mut self) {
        drop(self.ended.take());
        let _ = self.child.wait();
    }
}
