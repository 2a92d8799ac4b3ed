//! One stall under load, from its beginning to the last unit that is given back.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::server::{Server, Start};
use crate::common::watchdog::late_tasks;
use crate::crash::harness::{UNITS, World, setting};
use crate::stalls::load::{LEAVES_AFTER, Load};
use crate::stalls::readiness::{Health, Readiness};
use crate::stalls::report::{describe, settled};
use serde_json::Value;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest time until `/readyz` turns.
pub const TURNED: Duration = Duration::from_secs(5);
/// The longest time until it recovers. A dead connection may have to be found first.
pub const RECOVERED: Duration = Duration::from_secs(15);
/// The p99 of `/healthz` in the quieter half of the rounds.
const HEALTHY: Duration = Duration::from_millis(250);
/// Of this many clients with the long timeout there is one more with the short one.
const SHARE_OF_LEAVING: usize = 4;
/// The load before the stall, and after it.
const AROUND: Duration = Duration::from_secs(2);

/// Returns how long a stall lasts, and the numbers of connections that meet one.
pub fn matrix() -> (Duration, &'static [usize]) {
    match setting("DOMESDAY_STALL_SECONDS") {
        Some(seconds) => (Duration::from_secs(seconds), &[1, 64]),
        // Longer than the three seconds after which a disk counts as stalled.
        None => (Duration::from_secs(6), &[16]),
    }
}

/// Returns the settings of a host whose only asynchronous thread has a watchdog.
pub fn host(world: &World) -> Start {
    world
        .host(0)
        .with(&["--metrics-listen", "127.0.0.1:0"])
        .environment("TOKIO_WORKER_THREADS", Path::new("1"))
}

/// Something that stalls.
pub struct Stall<'a> {
    /// Its name in the printed line.
    pub name: &'a str,
    /// The path and the bodies of the requests.
    pub requests: (&'a str, &'a [Value]),
    /// The code of the documented refusals.
    pub refusal: &'a str,
    /// True where the service cannot value meanwhile, and `/readyz` says so.
    pub turns: bool,
    /// Freezes it, or lets it go on.
    pub freeze: &'a (dyn Fn(bool) + Sync),
}

impl<'a> Stall<'a> {
    /// Returns the stall of something that every value needs.
    pub fn of_storage(
        name: &'a str,
        bodies: &'a [Value],
        freeze: &'a (dyn Fn(bool) + Sync),
    ) -> Self {
        Stall {
            name,
            requests: ("/v3/simple-value", bodies),
            refusal: "overloaded",
            turns: true,
            freeze,
        }
    }

    /// Freezes it under each number of connections, and asserts everything that must hold.
    pub fn hold(&self, world: &World, server: &Server, keys: &[String; 3]) {
        let (mut values, mut leaving, mut jobs) = (0, 0, 0);
        let (seconds, connections) = matrix();
        for &connections in connections {
            let load = |key: &String, connections| Load {
                client: server.client(key),
                leaves: false,
                connections,
                requests: self.requests,
                refusal: self.refusal,
                outcomes: Mutex::default(),
            };
            let few = connections.div_ceil(SHARE_OF_LEAVING);
            let loads = Loads {
                values: load(&keys[0], connections),
                leaving: Load {
                    client: server.client(&keys[1]).with_timeout(LEAVES_AFTER),
                    leaves: true,
                    ..load(&keys[1], few)
                },
                jobs: load(&keys[2], 1),
            };
            let run = self.run(server, seconds, &loads, jobs);
            jobs += run.jobs;
            values += loads.values.outcomes.lock().unwrap().answered;
            leaving += loads.leaving.outcomes.lock().unwrap().answered;
            self.print(&run, &loads);
            let data = world.data(0);
            let exact = [("values", values), ("leaving", leaving), ("jobs", jobs)]
                .map(|(tenant, units)| settled(&data, tenant, units, run.recovered));
            println!(
                "{}: units exact after {:.1?}",
                self.name,
                exact.iter().max().unwrap()
            );
            self.assert_held(&run, server);
        }
    }

    fn run(&self, server: &Server, seconds: Duration, loads: &Loads<'_>, first_job: u64) -> Run {
        let probe = |_| server.client("none");
        let probes: [Client; 2] = [(); 2].map(probe);
        let (over, probed) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let readiness = scope.spawn(|| Readiness::watch(&probes[0], &probed));
            let health = scope.spawn(|| Health::watch(&probes[1], &probed));
            let customers: Vec<_> = [&loads.values, &loads.leaving]
                .into_iter()
                .flat_map(|load| (0..load.connections).map(move |number| (load, number)))
                .map(|(load, number)| {
                    let over = &over;
                    scope.spawn(move || load.send(number, over))
                })
                .collect();
            let submitter = scope.spawn(|| loads.jobs.submit(first_job, &over));
            std::thread::sleep(AROUND);
            (self.freeze)(true);
            let frozen = Instant::now();
            std::thread::sleep(seconds);
            // Before it, since the host may be ready as soon as it goes on.
            let thawed = Instant::now();
            (self.freeze)(false);
            let client = server.client("none");
            while client.get("/readyz").status != 200 && thawed.elapsed() < RECOVERED {
                std::thread::sleep(Duration::from_millis(20));
            }
            let recovered = Instant::now();
            std::thread::sleep(AROUND);
            over.store(true, Ordering::Relaxed);
            let ended: Vec<_> = customers
                .into_iter()
                .map(|customer| customer.join())
                .collect();
            let jobs = submitter.join();
            probed.store(true, Ordering::Relaxed);
            let (readiness, health) = (readiness.join().unwrap(), health.join().unwrap());
            for customer in ended {
                customer.unwrap();
            }
            Run {
                frozen,
                thawed,
                recovered,
                readiness,
                health,
                jobs: jobs.unwrap(),
            }
        })
    }

    fn assert_held(&self, run: &Run, server: &Server) {
        let readiness = &run.readiness;
        if self.turns {
            let turned = readiness.turned(false, run.frozen);
            assert!(
                turned.is_some_and(|took| took < TURNED),
                "not ready after {turned:?}"
            );
            let recovered = readiness.turned(true, run.thawed);
            assert!(
                recovered.is_some_and(|took| took < RECOVERED),
                "ready after {recovered:?}"
            );
        } else {
            assert!(readiness.is_steady(), "readiness changed");
        }
        assert!(readiness.is_ready(), "it is not ready at the end");
        let (p99, _) = run.health.p99_and_longest();
        assert!(p99 < HEALTHY, "/healthz took {p99:?}");
        assert_eq!(late_tasks(server), 0, "the asynchronous thread was blocked");
    }

    fn print(&self, run: &Run, loads: &Loads<'_>) {
        let seconds =
            |took: Option<Duration>| took.map_or("-".to_owned(), |took| format!("{took:.1?}"));
        let (p99, longest) = run.health.p99_and_longest();
        let outcomes = |load: &Load<'_>| describe(&load.outcomes.lock().unwrap());
        println!(
            "{}, {} connections, frozen for {:.0?}: values {}; leaving {}; jobs {}; not ready after {}, \
             ready {} after; /healthz p99 {p99:.0?}, longest {longest:.0?}",
            self.name,
            loads.values.connections,
            run.thawed.duration_since(run.frozen),
            outcomes(&loads.values),
            outcomes(&loads.leaving),
            outcomes(&loads.jobs),
            seconds(run.readiness.turned(false, run.frozen)),
            seconds(run.readiness.turned(true, run.thawed)),
        );
    }
}

/// The customers at work, each with another tenant.
struct Loads<'a> {
    /// Those that wait for their values until the deadline.
    values: Load<'a>,
    /// Those that leave before it.
    leaving: Load<'a>,
    /// The one that submits jobs.
    jobs: Load<'a>,
}

/// The course of one stall.
struct Run {
    frozen: Instant,
    thawed: Instant,
    recovered: Instant,
    readiness: Readiness,
    health: Health,
    jobs: u64,
}

/// Makes the keys of the tenants `values`, `leaving` and `jobs`.
pub fn keys(world: &World) -> [String; 3] {
    ["values", "leaving", "jobs"].map(|tenant| world.key(tenant, UNITS))
}

/// Returns the bodies of values that need the state alone.
pub fn bodies() -> [Value; 1] {
    [house()]
}
