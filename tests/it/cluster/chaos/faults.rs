//! The kinds of faults, and how each comes and goes.

use crate::chaos::rig::{Host, Rig};
use crate::common::client::Client;
use crate::common::seed::SeededRandom;
use crate::common::server::Server;
use crate::crash::harness::kill;
use rustix::process::Signal;
use serde_json::Value;
use std::ops::RangeInclusive;
use std::process::Command;
use std::time::{Duration, Instant};

/// How long a fault lasts, in milliseconds.
const LENGTHS_MS: RangeInclusive<u64> = 500..=3_000;
/// The longest time until a host says what a person has to mend.
const MAX_SILENCE: Duration = Duration::from_secs(25);
/// Seconds by which clocks jump: less than a lease, more, and so that days differ.
const JUMPS: [i64; 4] = [1, 30, 900, 21_600];

/// Where the state is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    Postgresql,
    Redb,
}

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChaosFault {
    KilledHost,
    RestartedHost,
    SleepingHost,
    FastRestart,
    ImmediateRestart,
    Failover,
    MovedFolder,
    FullDisk,
    ReadOnlyDisk,
    Clock,
    SlowDatabase,
    CutDatabase,
    RestartedProxy,
    SlowClients,
    CutClients,
}

/// The end of a fault.
pub struct FaultEnd {
    pub at: Instant,
    /// What a host said of a fault that a person has to mend.
    pub said: Option<String>,
}

impl ChaosFault {
    pub const ALL: [ChaosFault; 15] = [
        ChaosFault::KilledHost,
        ChaosFault::RestartedHost,
        ChaosFault::SleepingHost,
        ChaosFault::FastRestart,
        ChaosFault::ImmediateRestart,
        ChaosFault::Failover,
        ChaosFault::MovedFolder,
        ChaosFault::FullDisk,
        ChaosFault::ReadOnlyDisk,
        ChaosFault::Clock,
        ChaosFault::SlowDatabase,
        ChaosFault::CutDatabase,
        ChaosFault::RestartedProxy,
        ChaosFault::SlowClients,
        ChaosFault::CutClients,
    ];

    /// Returns the kinds that a store can have.
    pub fn of(store: Store) -> impl Iterator<Item = ChaosFault> {
        let of_database = |fault: &ChaosFault| {
            use ChaosFault::*;
            let database = [
                FastRestart,
                ImmediateRestart,
                Failover,
                SlowDatabase,
                CutDatabase,
            ];
            database.contains(fault)
        };
        (ChaosFault::ALL.into_iter())
            .filter(move |it| store == Store::Postgresql || !of_database(it))
    }

    /// Lets the fault come and go.
    pub fn inflict(self, rig: &mut Rig, random: &mut SeededRandom) -> FaultEnd {
        let lasts = Duration::from_millis(random.within(LENGTHS_MS));
        let victim = random.count(rig.hosts.len()) - 1;
        let said = match self {
            ChaosFault::KilledHost | ChaosFault::RestartedHost => {
                let server = rig.hosts[victim].server.take().unwrap();
                if self == ChaosFault::KilledHost {
                    kill(server);
                } else {
                    server.stop();
                }
                std::thread::sleep(lasts / 2);
                let at = Instant::now();
                rig.start_host(victim);
                return FaultEnd { at, said: None };
            }
            ChaosFault::SleepingHost => {
                rig.hosts[victim].server().signal(Signal::STOP);
                std::thread::sleep(lasts * 2);
                rig.hosts[victim].server().signal(Signal::CONT);
                None
            }
            ChaosFault::FastRestart => restart(rig, Signal::INT, lasts),
            ChaosFault::ImmediateRestart => restart(rig, Signal::QUIT, lasts),
            ChaosFault::Failover => fail_over(rig, lasts),
            ChaosFault::MovedFolder => move_folder(&rig.hosts[victim], lasts),
            ChaosFault::FullDisk | ChaosFault::ReadOnlyDisk => fail_disk(self, rig, lasts),
            ChaosFault::Clock => {
                let jump = jump(random);
                rig.hosts[victim].set_clock(jump);
                std::thread::sleep(lasts);
                // A host that ends now leaves leases that were made under a wrong clock.
                let ends = random.once_in(2);
                if ends {
                    kill(rig.hosts[victim].server.take().unwrap());
                }
                rig.hosts[victim].set_clock(0);
                if ends {
                    let at = Instant::now();
                    rig.start_host(victim);
                    return FaultEnd { at, said: None };
                }
                None
            }
            ChaosFault::SlowDatabase => {
                let link = &rig.database.as_ref().unwrap().link;
                link.delay(Duration::from_millis(random.within(20..=400)));
                std::thread::sleep(lasts);
                link.delay(Duration::ZERO);
                None
            }
            ChaosFault::RestartedProxy => {
                rig.nginx.stop();
                std::thread::sleep(lasts / 2);
                let at = Instant::now();
                rig.nginx.start_again();
                return FaultEnd { at, said: None };
            }
            ChaosFault::SlowClients => {
                rig.front
                    .delay(Duration::from_millis(random.within(20..=400)));
                std::thread::sleep(lasts);
                rig.front.delay(Duration::ZERO);
                None
            }
            ChaosFault::CutDatabase => cut(&rig.database.as_ref().unwrap().link, lasts, random),
            ChaosFault::CutClients => cut(&rig.front, lasts, random),
        };
        FaultEnd {
            at: Instant::now(),
            said,
        }
    }
}

/// Stops the database by a signal, and starts it again.
fn restart(rig: &mut Rig, signal: Signal, lasts: Duration) -> Option<String> {
    let database = rig.database.as_mut().unwrap();
    database.stop(signal);
    std::thread::sleep(lasts);
    database.await_answers();
    None
}

/// Ends the database permanently, and promotes the standby that each commit waited for.
fn fail_over(rig: &mut Rig, lasts: Duration) -> Option<String> {
    let database = rig.database.as_mut().unwrap();
    let standby = database.add_standby();
    std::thread::sleep(lasts / 2);
    database.stop(Signal::KILL);
    std::thread::sleep(lasts / 2);
    database.promote(standby);
    None
}

/// Moves a host's data folder away, and back.
fn move_folder(host: &Host, lasts: Duration) -> Option<String> {
    let listener = Listener::of(host.server());
    let away = host.data.with_extension("away");
    std::fs::rename(&host.data, &away).unwrap();
    let client = Client::new(host.address, "none");
    let path = host.data.display().to_string();
    let said = listener.await_word(&path, &|| client.get("/readyz").status == 503);
    std::thread::sleep(lasts);
    std::fs::rename(&away, &host.data).unwrap();
    Some(said)
}

/// Lets the disk of the state be full or read-only for a while.
fn fail_disk(fault: ChaosFault, rig: &mut Rig, lasts: Duration) -> Option<String> {
    let listener = Listener::of(rig.hosts[0].server());
    let is_full = fault == ChaosFault::FullDisk;
    let name = if is_full { "full" } else { "readonly" };
    let set = |rig: &Rig, on| match &rig.database {
        Some(database) if is_full => database.fill(on),
        Some(database) => database.read_only(on),
        None => rig.hosts[0].set_fault(name, on),
    };
    set(rig, true);
    let client = Client::new(rig.hosts[0].address, "none");
    let cause = match (is_full, &rig.database) {
        (false, _) => "ead-only",
        (true, None) => "No space left on device",
        // The server ends, and only its own log says why.
        (true, Some(_)) => "state degraded",
    };
    let said = listener.await_word(cause, &|| client.get("/readyz").status == 503);
    std::thread::sleep(lasts);
    set(rig, false);
    if let Some(database) = &mut rig.database {
        database.await_answers();
    }
    Some(said)
}

/// Cuts all connections again and again, or refuses new ones too.
fn cut(
    link: &crate::chaos::link::Link,
    lasts: Duration,
    random: &mut SeededRandom,
) -> Option<String> {
    link.close(random.once_in(2));
    let begun = Instant::now();
    while begun.elapsed() < lasts {
        link.cut();
        std::thread::sleep(Duration::from_millis(random.within(20..=400)));
    }
    link.close(false);
    None
}

/// Returns seconds by which a clock jumps without leaving the month, which units are counted in.
fn jump(random: &mut SeededRandom) -> i64 {
    let month = |ahead: i64| {
        let at = format!("now {ahead} seconds");
        let output = Command::new("date")
            .args(["-u", "-d", &at, "+%Y-%m"])
            .output();
        output.unwrap().stdout
    };
    let far = *random.choice(&JUMPS).unwrap();
    let jump = if random.once_in(2) { far } else { -far };
    if month(jump) == month(0) { jump } else { -jump }
}

/// What a host says from a moment on.
struct Listener<'s> {
    server: &'s Server,
    heard: usize,
}

impl Listener<'_> {
    fn of(server: &Server) -> Listener<'_> {
        let heard = server.log().len();
        Listener { server, heard }
    }

    /// Waits until the host is not ready and has logged a warning or an error that names the cause,
    /// and returns its message.
    #[track_caller]
    fn await_word(&self, cause: &str, is_unready: &dyn Fn() -> bool) -> String {
        let begun = Instant::now();
        let mut unready = false;
        loop {
            unready = unready || is_unready();
            let log = self.server.log();
            let lines = log[self.heard..]
                .lines()
                .filter(|line| line.contains(cause));
            let mut entries = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let loud = |entry: &Value| entry["level"] == "WARN" || entry["level"] == "ERROR";
            if unready && let Some(entry) = entries.find(loud) {
                return entry["message"].as_str().unwrap_or_default().to_owned();
            }
            let said = &log[self.heard..];
            assert!(
                begun.elapsed() < MAX_SILENCE,
                "unready: {unready}, and nothing said: {said}"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
