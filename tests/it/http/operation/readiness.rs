//! Health and readiness while what the service keeps is stalled, moved or gone.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::faults::library;
use crate::common::program::run;
use crate::common::server::{Server, start};
use crate::common::watchdog::late_tasks;
use domesday_test_postgres::{Cluster, Disk};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest delay of a change of readiness.
const MAX_DELAY: Duration = Duration::from_secs(5);
/// The longest response of `/healthz`, whatever else is blocked.
const ALIVE: Duration = Duration::from_secs(1);

#[track_caller]
fn await_condition(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < MAX_DELAY, "not within {MAX_DELAY:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn ready(client: &Client) -> u16 {
    client.get("/readyz").status
}

/// Asserts that asynchronous threads are never blocked while `test` runs. There is one thread, so a
/// single call that blocks it blocks every probe.
fn assert_responsive(server: &Server, test: impl FnOnce()) {
    let client = server.client("none");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // As many as a balancer has, so that some are always under way.
        for _ in 0..4 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    ready(&client);
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
        }
        let alive = scope.spawn(|| {
            let mut longest = Duration::ZERO;
            while !over.load(Ordering::Relaxed) {
                let began = Instant::now();
                assert_eq!(client.get("/healthz").status, 200);
                longest = longest.max(began.elapsed());
                std::thread::sleep(Duration::from_millis(20));
            }
            longest
        });
        let tested = std::panic::catch_unwind(std::panic::AssertUnwindSafe(test));
        over.store(true, Ordering::Relaxed);
        let longest = alive.join().unwrap();
        if let Err(panic) = tested {
            std::panic::resume_unwind(panic);
        }
        assert!(longest < ALIVE, "/healthz took {longest:?}");
    });
    assert_eq!(
        late_tasks(server),
        0,
        "the asynchronous threads were blocked"
    );
}

fn on_one_thread(arguments: &[&str]) -> crate::common::server::Start {
    start()
        .with(&["--metrics-listen", "127.0.0.1:0"])
        .with(arguments)
        .environment("TOKIO_WORKER_THREADS", Path::new("1"))
}

#[test]
fn a_database_that_stalls_stops_readiness_and_nothing_else() {
    let cluster = Cluster::start(Disk::Unsynced);
    let database = cluster.database();
    let server = on_one_thread(&["--state", &database]).go();
    let client = server.client("none");
    let data = server.data.display().to_string();
    assert_eq!(ready(&client), 200);
    assert_responsive(&server, || {
        for _ in 0..2 {
            cluster.freeze();
            std::thread::scope(|scope| {
                // A command waits on a thread that may block.
                let command = scope.spawn(|| run(["tenant", "list", "--data", &data]));
                await_condition(|| ready(&client) == 503);
                run(["status", "--data", &data]).ok();
                let listing = command.join().unwrap();
                assert_eq!(listing.code, Some(1), "{listing:?}");
            });
            cluster.thaw();
            await_condition(|| ready(&client) == 200);
        }
    });
}

#[test]
fn a_disk_that_stalls_stops_readiness_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let start = on_one_thread(&[]);
    let files = ["state.redb", "state.usage"];
    let files = files.map(|file| start.data_folder().join(file).display().to_string());
    let server = start
        .environment("LD_PRELOAD", &library(folder.path()))
        .environment("DOMESDAY_FAULT_FILES", Path::new(&files.join(":")))
        .environment("DOMESDAY_FAULTS", folder.path())
        .go();
    let client = server.demo();
    assert_responsive(&server, || {
        let stalled = folder.path().join("stall");
        fs::write(&stalled, "").unwrap();
        std::thread::scope(|scope| {
            let value = scope.spawn(|| client.post("/v3/simple-value", &house()).status);
            await_condition(|| ready(&client) == 503);
            assert_eq!(client.post("/v3/simple-value", &house()).status, 503);
            fs::remove_file(&stalled).unwrap();
            await_condition(|| ready(&client) == 200);
            assert_eq!(value.join().unwrap(), 200);
        });
    });
    assert_eq!(client.post("/v3/simple-value", &house()).status, 200);
}

/// Returns the path of a data folder, and the path that it is moved to.
fn moved_paths(server: &Server) -> (&Path, PathBuf) {
    (&server.data, server.data.with_extension("away"))
}

fn used(data: &Path) -> u64 {
    let listed = run(["tenant", "list", "--data", &data.display().to_string()]).ok();
    let units = listed
        .stdout
        .split('\t')
        .find(|part| part.ends_with(" units this month"));
    units.unwrap().split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn nothing_is_valued_while_the_data_folder_is_elsewhere() {
    let server = start().go();
    let client = server.demo();
    let value = || client.post("/v3/simple-value", &house()).status;
    assert_eq!(value(), 200);
    let (data, away) = moved_paths(&server);
    fs::rename(data, &away).unwrap();
    for _ in 0..5 {
        assert_eq!(value(), 503);
    }
    await_condition(|| ready(&client) == 503);
    assert_eq!(client.get("/healthz").status, 200);
    // Reads still work, and operators are answered through the socket at its new path.
    assert_eq!(client.get("/v3/releases/current").status, 200);
    let status = run(["status", "--data", &away.display().to_string()]).ok();
    assert!(
        status.stdout.contains("nothing is there"),
        "{}",
        status.stdout
    );
    assert_eq!(used(&away), 1);
    assert!(!data.exists(), "something was made in its place");
    fs::rename(&away, data).unwrap();
    await_condition(|| ready(&client) == 200 && value() == 200);
    let (before, data) = (used(data), data.to_owned());
    assert_eq!(value(), 200);
    assert_eq!(used(&data), before + 1);
    server.stop();
}

/// A claim would only fail, or wait behind the failure. The one that met it may be in the log.
#[test]
fn no_job_is_claimed_while_the_state_is_degraded() {
    let server = start().with(&["--job-runners", "1"]).go();
    let client = server.demo();
    let (data, away) = moved_paths(&server);
    fs::rename(data, &away).unwrap();
    await_condition(|| ready(&client) == 503);
    // A runner looks for jobs each second.
    std::thread::sleep(Duration::from_secs(4));
    fs::rename(&away, data).unwrap();
    await_condition(|| ready(&client) == 200);
    let log = server.stop();
    let failed = log.matches("no job could be claimed").count();
    assert!(failed <= 1, "{log}");
}

#[test]
fn a_stop_reports_a_missing_data_folder() {
    for delete in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let (data, away) = (folder.path().join("data"), folder.path().join("away"));
        let server = start().data(&data).go();
        let client = server.demo();
        let value = || client.post("/v3/simple-value", &house()).status;
        assert_eq!(value(), 200);
        match delete {
            true => fs::remove_dir_all(&data).unwrap(),
            false => fs::rename(&data, &away).unwrap(),
        }
        // Another folder in its place does not do either, and nothing is put into it.
        fs::create_dir(&data).unwrap();
        await_condition(|| ready(&client) == 503);
        assert_eq!(value(), 503);
        server.terminate();
        let (status, log) = server.await_end();
        assert_eq!(status.code(), Some(1), "{log}");
        for text in [
            "stopped while storage was unavailable",
            "another file or folder is there",
            "the state was moved before it was closed",
        ] {
            assert!(log.contains(text), "{text}: {log}");
        }
        assert_eq!(fs::read_dir(&data).unwrap().count(), 0);
        if !delete {
            // The units were taken over into the file that was open, which is whole without its
            // log.
            fs::copy(away.join("state.redb"), data.join("state.redb")).unwrap();
            assert_eq!(used(&data), 1);
        }
    }
}

/// A host on PostgreSQL stores no answers in the folder, so it keeps serving. It is not ready,
/// because its setup is incomplete.
#[test]
fn a_host_on_a_database_is_not_ready_without_its_data_folder() {
    let database = domesday_test_postgres::shared().database();
    let server = start().with(&["--state", &database]).go();
    let key = [
        "key",
        "create",
        "--tenant",
        "customer",
        "--scope",
        "avm:value",
    ];
    let key = run([&key[..], &["--state", &database, "--data", "/nonexistent"]].concat()).ok();
    let client = server.client(key.stdout.trim());
    await_condition(|| client.post("/v3/simple-value", &house()).status == 200);
    let (data, away) = moved_paths(&server);
    fs::rename(data, &away).unwrap();
    await_condition(|| ready(&client) == 503);
    assert_eq!(client.post("/v3/simple-value", &house()).status, 200);
    fs::rename(&away, data).unwrap();
    await_condition(|| ready(&client) == 200);
    server.stop();
}
