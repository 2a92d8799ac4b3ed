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

/// How late a host sees what was changed in the database that it shares.
const SEEN: Duration = Duration::from_millis(1_200);
/// Units that nobody uses up.
pub const UNITS: u64 = 1_000_000_000;
const BOUNDLESS: &str = "requests_per_second = 1000000
burst = 1000000
concurrency = 1000000
queued_jobs = 1000000
stored_bytes = 1000000000000
";

/// The tests of this suite take turns: each wants the machine's time for itself.
pub fn alone() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    TURN.lock().unwrap_or_else(|broken| broken.into_inner())
}

/// A setting of a run, where there is one.
pub fn setting(name: &str) -> Option<u64> {
    Some(std::env::var(name).ok()?.parse().unwrap())
}

/// What the chances of this run come from.
pub fn seed(name: &str) -> u64 {
    let seed = setting("DOMESDAY_CRASH_SEED").unwrap_or_else(|| getrandom::u32().unwrap().into());
    println!("{name}: DOMESDAY_CRASH_SEED={seed}");
    seed
}

/// What outlives its hosts.
pub struct World {
    kept: TempDir,
    /// The address of its database, where it is in one.
    pub database: Option<String>,
    plans: AtomicU32,
}

impl World {
    /// One whose state is a file.
    pub fn embedded() -> World {
        World {
            kept: TempDir::new().unwrap(),
            database: None,
            plans: AtomicU32::new(0),
        }
    }

    /// One whose state is a database.
    pub fn shared() -> World {
        World {
            database: Some(cluster::shared().database()),
            ..World::embedded()
        }
    }

    /// A host's own data folder.
    pub fn data(&self, host: usize) -> PathBuf {
        self.kept.path().join(format!("host{host}"))
    }

    /// A host, about to start. Of several, each keeps a job for a second after it says nothing
    /// more.
    pub fn host(&self, host: usize) -> Start {
        let start = start().data(&self.data(host)).with(&["--no-demo"]);
        match &self.database {
            Some(database) => start.with(&["--state", database, "--job-lease", "1"]),
            None => start,
        }
    }

    fn order(&self, arguments: &[&str]) -> String {
        let place = match &self.database {
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
        let all = arguments.iter().map(|&it| it.to_owned()).chain(place);
        run(all).ok().stdout.trim().to_owned()
    }

    fn plan(&self, units: u64) -> String {
        let number = self.plans.fetch_add(1, Ordering::Relaxed);
        let path = self.kept.path().join(format!("plan{number}.toml"));
        std::fs::write(&path, format!("{BOUNDLESS}monthly_units = {units}\n")).unwrap();
        path.display().to_string()
    }

    /// The key of a new tenant whose plan allows so many units and bounds nothing else.
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

    /// The units that a tenant has used this month. The service says so, as to any customer, when
    /// it asks for more than its plan allows; so from here on its plan allows nothing.
    pub fn used(&self, tenant: &str, client: &Client) -> u64 {
        let plan = self.plan(0);
        self.order(&["tenant", "plan", tenant, &plan]);
        if self.database.is_some() {
            std::thread::sleep(SEEN);
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

/// Dies as in a power cut, and leaves what it logged.
pub fn kill(server: Server) -> String {
    server.signal(rustix::process::Signal::KILL);
    let (status, log) = server.ended();
    assert!(!status.success());
    log
}

/// Lines of a log that tell of a fault.
pub fn errors(log: &str) -> Vec<&str> {
    let told = |line: &&str| line.contains(r#""level":"ERROR""#) || line.contains("panicked");
    log.lines().filter(told).collect()
}
