//! A job waits for a host that can run its release.

use crate::common::client::Client;
use crate::common::demo::{RELEASE, house};
use crate::common::packages::{Releases, damage};
use crate::common::program::customer_key;
use crate::common::server::{Server, Start, start};
use domesday_test_postgres as cluster;
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

/// The demo's release under another id.
const OTHER: &str = "other-1";
const JOBS: &str = "/v3/valuation-jobs";
/// A host that claims a job which it cannot run does so sooner.
const CLAIMED: Duration = Duration::from_secs(3);
const TIMEOUT: Duration = Duration::from_secs(60);

fn with_other() -> Releases {
    let releases = Releases::copy();
    let component = fs::read(releases.release(RELEASE).join("component.wasm")).unwrap();
    releases.add(OTHER, component);
    releases
}

/// Returns the same releases, but for the manifest of [`OTHER`].
fn with_another_package() -> Releases {
    let releases = Releases::copy();
    let component = fs::read(releases.release(RELEASE).join("component.wasm")).unwrap();
    releases.add_changed(OTHER, component, |body| {
        body.model.name = "another".to_owned();
    });
    releases
}

/// Prepares a host of a database and a folder of releases.
fn host(database: &str, releases: &Releases, current: &str, runners: &str) -> Start {
    start().releases(releases.path()).with(&[
        "--state",
        database,
        "--release",
        current,
        "--allow-unsigned",
        OTHER,
        "--job-runners",
        runners,
    ])
}

fn status_of(client: &Client, job: &Value) -> String {
    let document = client.get(job["status_url"].as_str().unwrap()).ok();
    document["status"].as_str().unwrap().to_owned()
}

/// Asserts that no host claims a job.
fn assert_stays_queued(client: &Client, job: &Value) {
    assert_stays(client, job, "queued");
}

fn assert_stays(client: &Client, job: &Value, status: &str) {
    let begun = Instant::now();
    while begun.elapsed() < CLAIMED {
        assert_eq!(status_of(client, job), status);
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Asserts that a host passes a job over, and that the log says why.
fn assert_waits(host: &Server, client: &Client, job: &Value) -> Value {
    let waiting = "jobs wait for a release that this host cannot run";
    let line = host.await_log(|line| line["message"] == waiting);
    assert_eq!(line["release_id"], job["release_id"], "{line}");
    assert_stays_queued(client, job);
    line
}

fn await_completed(client: &Client, job: &Value) {
    let begun = Instant::now();
    while status_of(client, job) != "completed" {
        let status = status_of(client, job);
        assert!(begun.elapsed() < TIMEOUT, "{status}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Waits until the readiness of a host has this status.
fn await_readiness(client: &Client, status: u16) {
    let begun = Instant::now();
    while client.get("/readyz").status != status {
        assert!(begun.elapsed() < TIMEOUT, "it is not {status}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The first host takes the job and works on none. The second lacks its release. The third holds
/// it, and works the job off.
#[test]
fn a_job_goes_to_the_host_that_holds_its_release() {
    let (both, one) = (with_other(), Releases::copy());
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let accepting = host(&database, &both, OTHER, "0").go();
    let lacking = host(&database, &one, RELEASE, "1").go();
    let client = accepting.client(&key);
    let job = client.post(JOBS, &json!({"requests": [house()]})).json();
    assert_eq!(job["release_id"], OTHER);
    assert_waits(&lacking, &client, &job);
    let holding = host(&database, &both, RELEASE, "1").go();
    await_completed(&client, &job);
    for host in [accepting, lacking, holding] {
        host.stop();
    }
}

/// The second host would work on the job, and withdrew its release.
#[test]
fn a_job_on_a_withdrawn_release_waits_for_a_host_that_holds_it() {
    let [whole, damaged] = [with_other(), with_other()];
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let accepting = host(&database, &whole, RELEASE, "0").go();
    let withdrawing = host(&database, &damaged, OTHER, "1").go();
    damage(&damaged.release(RELEASE).join("component.wasm"));
    withdrawing.await_log(|line| line["release_id"] == RELEASE && line["reason"].is_string());
    let client = accepting.client(&key);
    let job = client.post(JOBS, &json!({"requests": [house()]})).json();
    let line = assert_waits(&withdrawing, &client, &job);
    let error = line["error"].as_str().unwrap();
    assert!(error.contains("is withdrawn"), "{error}");
    let holding = host(&database, &whole, RELEASE, "1").go();
    await_completed(&client, &job);
    for host in [accepting, withdrawing, holding] {
        host.stop();
    }
}

/// The second host has another package of the job's release. It gives the job back, and works on
/// the next one.
#[test]
fn a_job_waits_for_the_package_of_its_submission() {
    let [these, others] = [with_other(), with_another_package()];
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let accepting = host(&database, &these, OTHER, "0").go();
    let replaced = host(&database, &others, OTHER, "1").go();
    let client = accepting.client(&key);
    let job = client.post(JOBS, &json!({"requests": [house()]})).json();
    let waiting = "a job waits for the package of its submission";
    let line = replaced.await_log(|line| line["message"] == waiting);
    assert_eq!(line["job_id"], job["job_id"], "{line}");
    assert_ne!(line["submitted"], line["served"], "{line}");
    // A job that was claimed once stays `running`.
    assert_stays(&client, &job, "running");
    let own = replaced.client(&key);
    let next = own.post(JOBS, &json!({"requests": [house()]})).json();
    assert_eq!(next["release_id"], OTHER);
    await_completed(&own, &next);
    assert_eq!(status_of(&client, &job), "running");
    let holding = host(&database, &these, RELEASE, "1").go();
    await_completed(&client, &job);
    assert_eq!(replaced.stop().matches(waiting).count(), 1);
    for host in [accepting, holding] {
        host.stop();
    }
}

/// The first host would work on the job, and its journal is away.
#[test]
fn a_job_goes_to_the_host_that_can_write_its_receipts() {
    let releases = Releases::copy();
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let with_receipts = || {
        let start = host(&database, &releases, RELEASE, "1");
        start.with(&["--receipts", "all"]).go()
    };
    let failing = with_receipts();
    let client = failing.client(&key);
    let (journal, away) = (failing.data.join("journal"), failing.data.join("away"));
    fs::rename(&journal, &away).unwrap();
    await_readiness(&client, 503);
    let job = client.post(JOBS, &json!({"requests": [house()]})).json();
    assert_stays_queued(&client, &job);
    let working = with_receipts();
    await_completed(&client, &job);
    // The first host takes jobs again once its journal is back.
    working.stop();
    fs::rename(&away, &journal).unwrap();
    await_readiness(&client, 200);
    let job = client.post(JOBS, &json!({"requests": [house()]})).json();
    await_completed(&client, &job);
    failing.stop();
}
