//! A job on a release that one of two hosts withdrew.

use crate::common::demo::{RELEASE, house};
use crate::common::packages::{Releases, damage};
use crate::common::program::{customer_key, run};
use crate::common::server::{Start, start};
use domesday_test_postgres as cluster;
use serde_json::json;
use std::fs;
use std::time::{Duration, Instant};

/// The demo's release under another id.
const OTHER: &str = "other-1";
const JOBS: &str = "/v3/valuation-jobs";
/// A job that fails on a release does so sooner.
const FAILING: Duration = Duration::from_secs(6);

/// Prepares a host of a database and a copy of the releases.
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

/// The first host takes the job and works on none. The second would work on it, and withdrew its
/// release. The third host holds it, and works the job off.
#[test]
fn a_job_on_a_withdrawn_release_waits_for_a_host_that_holds_it() {
    let copies = [(); 2].map(|()| {
        let releases = Releases::copy();
        let component = fs::read(releases.release(RELEASE).join("component.wasm")).unwrap();
        releases.add(OTHER, component);
        releases
    });
    let [whole, damaged] = &copies;
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let accepting = host(&database, whole, RELEASE, "0").go();
    let withdrawing = host(&database, damaged, OTHER, "1").go();
    damage(&damaged.release(RELEASE).join("component.wasm"));
    withdrawing.await_log(|line| line["release_id"] == RELEASE && line["reason"].is_string());
    let at = withdrawing.data.display().to_string();
    let status = run(["status", "--json", "--data", &at]).ok().stdout;
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["releases"], json!([OTHER]), "{status}");
    let [withdrawn] = status["withdrawn"].as_array().unwrap().as_slice() else {
        panic!("{status}");
    };
    assert_eq!(withdrawn["release"], RELEASE);
    assert!(
        withdrawn["reason"]
            .as_str()
            .unwrap()
            .contains("component.wasm")
    );
    let text = run(["status", "--data", &at]).ok().stdout;
    assert!(
        text.contains(&format!("withdrawn          {RELEASE}: ")),
        "{text}"
    );

    let client = accepting.client(&key);
    let waits = client.post(JOBS, &json!({"requests": [house()]})).json();
    let status_of = |job: &serde_json::Value| {
        let document = client.get(job["status_url"].as_str().unwrap()).ok();
        document["status"].as_str().unwrap().to_owned()
    };
    let begun = Instant::now();
    while begun.elapsed() < FAILING {
        let status = status_of(&waits);
        assert!(["queued", "running"].contains(&&*status), "{status}");
        std::thread::sleep(Duration::from_millis(100));
    }
    let _holding = host(&database, whole, RELEASE, "1").go();
    let begun = Instant::now();
    while status_of(&waits) != "completed" {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{}",
            status_of(&waits)
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}
