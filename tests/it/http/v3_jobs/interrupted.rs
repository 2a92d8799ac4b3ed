//! Hosts that stop, die, or come back with another release: what becomes of the jobs that they had.

use crate::common::demo::{RELEASE, house};
use crate::common::guest;
use crate::common::metrics::{metric, metrics_client};
use crate::common::packages::{Releases, damage};
use crate::common::server::{Server, Start, start};
use crate::v3_jobs::{JOBS, PAUSE, TIMEOUT, accepted_job, await_results, houses, job_of};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const MISBEHAVING: &str = "misbehaving";
/// The message of the log where jobs wait for a release.
const WAITING: &str = "jobs wait for a release that this host cannot run";
/// Bedrooms by which the guest works until its fuel is spent, which takes a while.
const SLOW: u8 = 1;
/// Bedrooms by which it answers at once.
const QUICK: u8 = 12;

/// The demo's releases, and one that can be made to be slow.
struct World {
    releases: Releases,
    temp_dir: TempDir,
}

impl World {
    fn new() -> World {
        static COMPONENT: OnceLock<Vec<u8>> = OnceLock::new();
        let component = COMPONENT.get_or_init(|| guest::component("guest-misbehaving"));
        let releases = Releases::copy();
        releases.add(MISBEHAVING, component.clone());
        World {
            releases,
            temp_dir: TempDir::new().unwrap(),
        }
    }

    fn data(&self) -> std::path::PathBuf {
        self.temp_dir.path().join("data")
    }

    /// Prepares a server of these releases on this state.
    fn server(&self, release: &str) -> Start {
        start()
            .data(&self.data())
            .releases(self.releases.path())
            .with(&["--release", release, "--allow-unsigned", MISBEHAVING])
    }
}

fn row(bedrooms: u8) -> Value {
    let mut row = house();
    row["size"]["bedrooms"] = bedrooms.into();
    row
}

/// Returns the rows of this many chunks, a few of each chunk slow.
fn slow_rows(chunks: usize) -> Vec<Value> {
    let slow = |index: usize| index % 64 < 3;
    (0..chunks * 64)
        .map(|index| row(if slow(index) { SLOW } else { QUICK }))
        .collect()
}

/// Waits until the server has worked on a slow row.
fn await_slow_row(server: &Server) {
    server.await_log(|line| {
        line["problem"]
            .as_str()
            .is_some_and(|text| !text.is_empty())
    });
}

/// Returns the valuation ids of the slow rows that the server has worked on.
fn valued_slowly(server: &Server) -> BTreeSet<String> {
    let log = server.log();
    let lines = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines
        .filter(|line| line["problem"].is_string())
        .filter_map(|line| Some(line["valuation_id"].as_str()?.to_owned()))
        .collect()
}

/// Kills the server, as in a power cut.
fn kill(server: Server) {
    drop(server);
}

fn valuation_ids(results: &Value) -> Vec<&str> {
    let rows = results["result"]["results"].as_array().unwrap();
    rows.iter()
        .map(|row| row["valuation_id"].as_str().unwrap())
        .collect()
}

#[test]
fn a_job_goes_on_where_a_killed_host_left_it() {
    let world = World::new();
    let server = world.server(MISBEHAVING).go();
    let client = server.demo();
    let job = accepted_job(&client.post(JOBS, &job_of(&slow_rows(5))));
    let url = job["status_url"].as_str().unwrap();
    // A chunk is finished once `updated_at` moves for the second time.
    let started = Instant::now();
    let mut moves = BTreeSet::new();
    while moves.len() < 3 {
        let now = client.get(url).ok();
        assert_ne!(now["status"], "completed", "too quick to be interrupted");
        moves.insert(now["updated_at"].as_str().unwrap().to_owned());
        assert!(started.elapsed() < TIMEOUT);
        std::thread::sleep(PAUSE);
    }
    let before = valued_slowly(&server);
    kill(server);

    let server = world.server(MISBEHAVING).go();
    let client = server.demo();
    let results = await_results(&client, &job);
    assert_eq!(results["status"], "completed");
    let summary = json!({"requested": 320, "valued": 305, "referred": 0, "rejected": 0, "valuation_failed": 15});
    assert_eq!(results["result"]["summary"], summary);
    let ids = valuation_ids(&results);
    assert_eq!(BTreeSet::from_iter(&ids).len(), 320);
    // Slow rows are logged one by one. The first chunk's three were not run again.
    server.await_log(|line| line["valuation_id"] == ids[4 * 64 + 2]);
    let after = valued_slowly(&server);
    for slow in &ids[..3] {
        assert!(before.contains(*slow) && !after.contains(*slow), "{slow}");
    }
    assert!(after.contains(ids[4 * 64]));
}

#[test]
fn a_stopping_host_releases_its_job_at_once() {
    let world = World::new();
    let server = world.server(MISBEHAVING).go();
    // Enough that none of the hosts is through with it before it is asked to stop, however long a
    // busy machine takes to ask.
    let rows = slow_rows(12);
    let job = accepted_job(&server.demo().post(JOBS, &job_of(&rows)));
    await_slow_row(&server);
    let mut servers = vec![server];
    // More often than a chunk may crash: stopping is no crash.
    for _ in 0..4 {
        servers.pop().unwrap().stop();
        let server = world.server(MISBEHAVING).go();
        await_slow_row(&server);
        servers.push(server);
    }
    let results = await_results(&servers.pop().unwrap().demo(), &job);
    let requested = &results["result"]["summary"]["requested"];
    assert_eq!(requested, rows.len(), "{results}");
}

#[test]
fn a_chunk_that_ends_its_host_three_times_fails_its_job() {
    let world = World::new();
    let key = world
        .server(MISBEHAVING)
        .key_with_plan("t", &["avm:value"], "monthly_units = 164");
    let mut rows = vec![row(QUICK); 64];
    rows.extend(vec![row(SLOW); 100]);
    let mut job = Value::Null;
    for _ in 0..3 {
        let server = world.server(MISBEHAVING).go();
        if job.is_null() {
            job = accepted_job(&server.client(&key).post(JOBS, &job_of(&rows)));
        }
        await_slow_row(&server);
        kill(server);
    }
    let server = world.server(MISBEHAVING).go();
    let client = server.client(&key);
    let results = await_results(&client, &job);
    let names = BTreeSet::from_iter(crate::v3_jobs::names(&results));
    let expected = ["api_version", "job_id", "status", "release_id", "error"];
    assert_eq!(names, BTreeSet::from(expected), "{results}");
    assert_eq!(results["status"], "failed");
    assert_eq!(results["error"]["code"], "processing_failed");
    let document = client.get(job["status_url"].as_str().unwrap()).ok();
    assert_eq!(document["status"], "failed");
    assert_eq!(document["error"], results["error"]);
    // The first chunk was finished and stays charged; the hundred other units are back.
    accepted_job(&client.post(JOBS, &job_of(&houses(100))));
    let refusal = client.post(JOBS, &job_of(&houses(1))).refusal();
    assert_eq!(refusal.1, "monthly_valuation_quota_exceeded");
}

/// Submits a job under the demo's release to a host that works on none.
fn submitted(world: &World, body: &Value) -> Value {
    let server = world.server(RELEASE).with(&["--job-runners", "0"]).go();
    let job = accepted_job(&server.demo().post(JOBS, body));
    server.stop();
    job
}

#[test]
fn a_job_stays_on_the_release_of_its_submission() {
    let world = World::new();
    let body = json!({"idempotency_key": "k", "requests": [house()]});
    let job = submitted(&world, &body);
    let server = world.server(MISBEHAVING).go();
    let client = server.demo();
    assert_eq!(
        client.get("/v3/releases/current").ok()["release_id"],
        MISBEHAVING
    );
    let results = await_results(&client, &job);
    assert_eq!(results["release_id"], RELEASE);
    assert_eq!(results["result"]["results"][0]["release_id"], RELEASE);
    // Its key still finds it, though a new job would be on the other release.
    let again = accepted_job(&client.post(JOBS, &body));
    assert_eq!(
        (&again["job_id"], &again["release_id"]),
        (&job["job_id"], &job["release_id"])
    );
    assert_eq!(again["status"], "completed");
}

#[test]
fn a_job_whose_release_is_gone_waits_until_it_is_back() {
    let world = World::new();
    let job = submitted(&world, &job_of(&houses(3)));
    let (folder, away) = (
        world.releases.release(RELEASE),
        world.temp_dir.path().join("away"),
    );
    std::fs::rename(&folder, &away).unwrap();
    let server = world
        .server(MISBEHAVING)
        .with(&["--metrics-listen", "127.0.0.1:0"])
        .go();
    let line = server.await_log(|line| line["message"] == WAITING);
    assert_eq!(
        (&line["release_id"], &line["jobs"]),
        (&json!(RELEASE), &json!(1))
    );
    let oldest = "domesday_jobs_oldest_passed_over_timestamp_seconds";
    assert!(metric(&metrics_client(&server), oldest) > 0.0);
    // A later job of the tenant does not wait behind it.
    let client = server.demo();
    let other = accepted_job(&client.post(JOBS, &job_of(&[row(QUICK)])));
    assert_eq!(await_results(&client, &other)["status"], "completed");
    let document = client.get(job["status_url"].as_str().unwrap()).ok();
    assert_eq!(document["status"], "queued", "{document}");
    std::fs::rename(&away, &folder).unwrap();
    let results = await_results(&client, &job);
    assert_eq!(results["status"], "completed", "{results}");
    assert_eq!(results["release_id"], RELEASE);
    assert_eq!(results["result"]["summary"]["valued"], 3);
    // Lines are gathered for some milliseconds; by its end all are written.
    server.terminate();
    let (_, log) = server.await_end();
    assert_eq!(log.matches(WAITING).count(), 1, "{log}");
}

/// The host lists the release, and finds at its opening that a file is damaged.
#[test]
fn a_job_whose_release_does_not_open_is_given_back_until_it_does() {
    let world = World::new();
    let job = submitted(&world, &job_of(&houses(3)));
    let component = world.releases.release(RELEASE).join("component.wasm");
    let whole = std::fs::read(&component).unwrap();
    damage(&component);
    let server = world.server(MISBEHAVING).go();
    let message = "a job's release does not open; the job is given back";
    let line = server.await_log(|line| line["message"] == message);
    assert_eq!(line["job_id"], job["job_id"]);
    let error = line["error"].as_str().unwrap();
    assert!(error.contains("component.wasm"), "{error}");
    // A host that claimed the job again would do so many times. Ten seconds after its start the
    // host proves its packages, and would withdraw the release.
    std::thread::sleep(Duration::from_secs(1));
    let client = server.demo();
    let document = client.get(job["status_url"].as_str().unwrap()).ok();
    assert_eq!(document["status"], "running", "{document}");
    std::fs::write(&component, whole).unwrap();
    let results = await_results(&client, &job);
    assert_eq!(results["result"]["summary"]["valued"], 3, "{results}");
    server.terminate();
    let (_, log) = server.await_end();
    assert_eq!(log.matches(message).count(), 1, "{log}");
}
