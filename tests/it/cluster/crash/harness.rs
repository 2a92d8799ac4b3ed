//! A service that can be killed: its hosts, its state, and the commands of its operator.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::program::run;
use crate::common::server::{Server, Start, start};
use domesday_test_postgres as cluster;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// The longest delay until a host sees a change in the shared database.
const MAX_PROPAGATION: Duration = Duration::from_millis(1_200);
/// Units that nobody uses up.
pub const UNITS: u64 = 1_000_000_000;
const UNLIMITED_PLAN: &str = "requests_per_second = 1000000
burst = 1000000
concurrency = 1000000
queued_jobs = 1000000
stored_bytes = 1000000000000
";

/// Waits for the suite's lock: each test wants the machine's time for itself.
pub fn lock_suite() -> std::sync::MutexGuard<'static, ()> {
    static SUITE_LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());
    SUITE_LOCK
        .lock()
        .unwrap_or_else(|broken| broken.into_inner())
}

/// Returns a setting of a run, if it is set.
pub fn setting(name: &str) -> Option<u64> {
    Some(std::env::var(name).ok()?.parse().unwrap())
}

/// Returns and prints the seed of this run's random choices.
pub fn seed(name: &str) -> u64 {
    let seed = setting("DOMESDAY_CRASH_SEED").unwrap_or_else(|| getrandom::u32().unwrap().into());
    println!("{name}: DOMESDAY_CRASH_SEED={seed}");
    seed
}

/// The state that outlives its hosts.
pub struct World {
    temp_dir: TempDir,
    /// The address of its database, if the state is in one.
    pub database: Option<String>,
    plans: AtomicU32,
}

impl World {
    /// Creates a world whose state is a file.
    pub fn embedded() -> World {
        World {
            temp_dir: TempDir::new().unwrap(),
            database: None,
            plans: AtomicU32::new(0),
        }
    }

    /// Creates a world whose state is a database.
    pub fn shared() -> World {
        World::on(cluster::shared().database())
    }

    /// Creates a world whose state is the database at this address.
    pub fn on(database: String) -> World {
        World {
            database: Some(database),
            ..World::embedded()
        }
    }

    /// Returns a host's own data folder.
    pub fn data(&self, host: usize) -> PathBuf {
        self.temp_dir.path().join(format!("host{host}"))
    }

    /// Prepares a host. Of several, each holds a job for a second after its last heartbeat.
    pub fn host(&self, host: usize) -> Start {
        let start = start().data(&self.data(host)).with(&["--no-demo"]);
        match &self.database {
            Some(database) => start.with(&["--state", database, "--job-lease", "1"]),
            None => start,
        }
    }

    /// Runs a command of the operator, and returns what it printed.
    pub fn order(&self, arguments: &[&str]) -> String {
        let store_arguments = match &self.database {
            // Nobody's data folder: the command is on none of the hosts.
            Some(database) => vec![
                "--state".to_owned(),
                database.clone(),
                "--data".to_owned(),
                "/nonexistent".to_owned(),
            ],
            None => {
                std::fs::create_dir_all(self.data(0)).unwrap();
                vec!["--data".to_owned(), self.data(0).display().to_string()]
            }
        };
        let all = arguments
            .iter()
            .map(|&it| it.to_owned())
            .chain(store_arguments);
        run(all).ok().stdout.trim().to_owned()
    }

    fn plan(&self, units: u64) -> String {
        let number = self.plans.fetch_add(1, Ordering::Relaxed);
        let path = self.temp_dir.path().join(format!("plan{number}.toml"));
        std::fs::write(&path, format!("{UNLIMITED_PLAN}monthly_units = {units}\n")).unwrap();
        path.display().to_string()
    }

    /// Creates a tenant whose plan limits units alone, and returns its key.
    pub fn key(&self, tenant: &str, units: u64) -> String {
        let plan = self.plan(units);
        self.order(&[
            "key",
            "create",
            "--tenant",
            tenant,
            "--scope",
            "avm:value",
            "--plan",
            &plan,
        ])
    }

    /// Returns the units that a tenant has used this month. A service states them when a request
    /// exceeds the plan, so this sets the plan to no units.
    pub fn used(&self, tenant: &str, client: &Client) -> u64 {
        let plan = self.plan(0);
        self.order(&["tenant", "plan", tenant, &plan]);
        if self.database.is_some() {
            std::thread::sleep(MAX_PROPAGATION);
        }
        let refused = client.post("/v3/simple-value", &house());
        assert_eq!(refused.status, 429, "{refused:?}");
        let message = refused.json()["error"]["message"].clone();
        let (before, _) = message
            .as_str()
            .unwrap()
            .split_once(" of 0 are used")
            .unwrap();
        before.rsplit(' ').next().unwrap().parse().unwrap()
    }
}

/// Kills the server, as in a power cut, and returns its log.
pub fn kill(server: Server) -> String {
    server.signal(rustix::process::Signal::KILL);
    let (status, log) = server.await_end();
    assert!(!status.success());
    log
}

/// Returns the lines of a log that report a fault.
pub fn errors(log: &str) -> Vec<&str> {
    let is_error = |line: &&str| line.contains(r#""level":"ERROR""#) || line.contains("panicked");
    log.lines().filter(is_error).collect()
}
