//! Releases and jobs in an object store that several hosts share.

use crate::common::client::Client;
use crate::common::demo::{RELEASE, SNAPSHOT, house};
use crate::common::metrics::{metric, metrics_client};
use crate::common::object_store::{ObjectStore, copy_folder};
use crate::common::packages::{Releases, host, list_packages};
use crate::common::program::{ProcessOutput, TIMEOUT, customer_key, domesday, run_command};
use crate::common::raw::HttpResponse;
use crate::common::server::{Server, Start, start};
use domesday_test_postgres as cluster;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

const JOBS: &str = "/v3/valuation-jobs";
/// Three whole chunks.
const ROWS: usize = 192;
/// The time within which a host refuses a request that its object store does not answer.
const REFUSAL: Duration = Duration::from_secs(20);

fn lead_to(store: &ObjectStore, mut start: Start) -> Start {
    for (name, value) in store.environment() {
        start = start.environment(name, Path::new(&value));
    }
    start
}

/// Runs the program with the store's credentials.
fn run_with(store: &ObjectStore, arguments: &[&str]) -> ProcessOutput {
    let mut command = domesday();
    store.lead(&mut command);
    command.args(arguments);
    run_command(command, TIMEOUT)
}

/// Starts a host of a database whose jobs are in the store.
fn job_host(store: &ObjectStore, database: &str, more: &[&str]) -> Server {
    let place = ObjectStore::place("jobs-of-test");
    let settings = [
        "--state",
        database,
        "--job-store",
        &place,
        "--job-lease",
        "2",
    ];
    lead_to(store, start().with(&settings).with(more)).go()
}

#[track_caller]
fn within(bound: Duration, what: impl Fn() -> bool) {
    let started = Instant::now();
    while !what() {
        assert!(started.elapsed() < bound, "not within {bound:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits for the results of a job.
fn results(client: &Client, job: &Value) -> Value {
    let url = job["results_url"].as_str().unwrap();
    within(Duration::from_secs(60), || client.get(url).status == 200);
    client.get(url).json()
}

#[track_caller]
fn assert_unavailable(refused: &HttpResponse) {
    assert_eq!((refused.status, &*refused.refusal().1), (503, "overloaded"));
}

fn used_units(database: &str) -> u64 {
    let all = "SELECT coalesce(sum(used), 0) FROM domesday.used_units";
    cluster::sql(database, all).trim().parse().unwrap()
}

#[test]
fn a_job_in_an_object_store_is_done_by_another_host_and_leaves_sealed_results_alone() {
    let store = ObjectStore::start();
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let accepting = job_host(&store, &database, &["--job-runners", "0"]);
    let client = accepting.client(&key);
    let body = json!({"requests": vec![house(); ROWS], "idempotency_key": "one"});
    let job = client.post(JOBS, &body).json();
    let inputs = store.keys();
    assert_eq!(inputs.len(), ROWS.div_ceil(64), "{inputs:?}");
    assert_eq!(client.post(JOBS, &body).json()["job_id"], job["job_id"]);
    assert_eq!(store.keys(), inputs);
    let kept = "SELECT max(length(input)) FROM domesday.chunks";
    assert_eq!(cluster::sql(&database, kept).trim(), "73");

    let working = job_host(&store, &database, &[]);
    let results = results(&client, &job);
    assert_eq!(results["result"]["summary"]["valued"], ROWS);
    assert_eq!(used_units(&database), ROWS as u64);
    // The rows of finished chunks are gone.
    let is_output = |key: &String| key.contains("/output-");
    within(Duration::from_secs(10), || {
        store.keys().len() == inputs.len() && store.keys().iter().all(is_output)
    });
    let plain = |bytes: &[u8]| bytes.windows(12).any(|part| part == b"valuation_id");
    store.change(|objects| assert!(!objects.values().any(|bytes| plain(bytes))));

    // An altered object is no result. The first one is read before the response begins.
    let alter = |chunk: &str| {
        store.change(|objects| {
            let results = objects.iter_mut().filter(|(key, _)| key.contains(chunk));
            results.for_each(|(_, bytes)| bytes[100] ^= 1);
        });
    };
    let url = job["results_url"].as_str().unwrap();
    alter("/output-1-");
    assert!(client.try_get(url).is_err(), "results were not broken off");
    let broken = accepting.await_log(|line| line["message"] == "results were broken off");
    let error = broken["error"].as_str().unwrap();
    assert!(error.contains("is damaged: its bytes are not"), "{error}");
    alter("/output-0-");
    assert_unavailable(&client.get(url));
    accepting.stop();
    working.stop();
}

#[test]
fn a_store_that_does_not_answer_refuses_submissions_and_loses_no_job() {
    let store = ObjectStore::start();
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let listener = ["--job-runners", "0", "--metrics-listen", "127.0.0.1:0"];
    let accepting = job_host(&store, &database, &listener);
    let client = accepting.client(&key);
    let body = json!({"requests": vec![house(); ROWS]});
    let job = client.post(JOBS, &body).json();
    let metrics = metrics_client(&accepting);
    let failed_puts = "domesday_job_object_operation_failures_total{operation=\"put\"}";
    let written = "domesday_job_object_operation_seconds_count{operation=\"put\"}";
    assert_eq!(metric(&metrics, written), ROWS.div_ceil(64) as f64);
    // An increase is seen from 0 on alone, so the lines are there before anything failed.
    let page = metrics.get("/metrics").text;
    for operation in ["put", "get", "delete", "list"] {
        let line =
            format!("domesday_job_object_operation_failures_total{{operation=\"{operation}\"}} 0");
        assert!(page.lines().any(|it| it == line), "{line}: {page}");
    }
    store.stall(true);
    let begun = Instant::now();
    assert_unavailable(&client.post(JOBS, &body));
    assert!(begun.elapsed() < REFUSAL, "{:?}", begun.elapsed());
    // The store's client has a shorter time limit than the submission.
    assert!(metric(&metrics, failed_puts) > 0.0);
    assert_eq!(used_units(&database), ROWS as u64);
    // A host that claims the job meanwhile gives it back.
    let working = job_host(&store, &database, &[]);
    working.await_log(|line| line["message"] == "the store of jobs does not answer");
    store.stall(false);
    assert_eq!(results(&client, &job)["result"]["summary"]["valued"], ROWS);
    assert_eq!(used_units(&database), ROWS as u64);
    accepting.stop();
    working.stop();
}

#[test]
fn results_that_the_store_does_not_give_are_refused_and_not_broken_off() {
    let store = ObjectStore::start();
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let server = job_host(&store, &database, &[]);
    let client = server.client(&key);
    let job = client
        .post(JOBS, &json!({"requests": vec![house(); ROWS]}))
        .json();
    let complete = results(&client, &job);
    store.stall(true);
    let begun = Instant::now();
    let url = job["results_url"].as_str().unwrap();
    let refused = client.get(url);
    assert_unavailable(&refused);
    assert!(refused.header("retry-after").is_some());
    assert!(begun.elapsed() < REFUSAL, "{:?}", begun.elapsed());
    store.stall(false);
    assert_eq!(results(&client, &job), complete);
    server.stop();
}

/// The rows are where another host finds them, or come back.
#[test]
fn a_job_whose_rows_are_gone_is_given_back_until_they_are_there() {
    let store = ObjectStore::start();
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let accepting = job_host(&store, &database, &["--job-runners", "0"]);
    let client = accepting.client(&key);
    let job = client
        .post(JOBS, &json!({"requests": vec![house(); ROWS]}))
        .json();
    // Those of the first part stay, so that a later one is in question.
    let lost = store.change(|objects| {
        let later = objects.extract_if(.., |key, _| !key.ends_with("/input-0"));
        later.collect::<Vec<_>>()
    });
    let working = job_host(&store, &database, &[]);
    let line = working.await_log(|line| line["message"] == "a job cannot be read");
    let error = line["error"].as_str().unwrap();
    assert!(error.contains("is damaged: it is not there"), "{error}");
    // The host tries again after a second, and then after two.
    std::thread::sleep(Duration::from_secs(5));
    // A job that is in the state alone does not wait behind it.
    let small = client
        .post(JOBS, &json!({"requests": vec![house(); 1]}))
        .json();
    assert_eq!(results(&client, &small)["result"]["summary"]["valued"], 1);
    let document = client.get(job["status_url"].as_str().unwrap()).ok();
    assert_eq!(document["status"], "running", "{document}");
    store.change(|objects| objects.extend(lost));
    assert_eq!(results(&client, &job)["result"]["summary"]["valued"], ROWS);
    assert_eq!(used_units(&database), ROWS as u64 + 1);
    accepting.stop();
    // Once for all attempts.
    assert_eq!(working.stop().matches("a job cannot be read").count(), 1);
}

#[test]
fn a_host_without_an_object_store_leaves_the_jobs_in_it_to_others() {
    let store = ObjectStore::start();
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let accepting = job_host(&store, &database, &["--job-runners", "0"]);
    let client = accepting.client(&key);
    let job = client
        .post(JOBS, &json!({"requests": vec![house(); ROWS]}))
        .json();
    let without = start().with(&["--state", &database]).go();
    let waits = |line: &Value| {
        let message = line["message"].as_str().unwrap_or_default();
        message.contains("jobs wait in object storage") && message.contains("set job_store")
    };
    assert_eq!(without.await_log(waits)["jobs"], 1);
    let small = client
        .post(JOBS, &json!({"requests": vec![house(); 1]}))
        .json();
    assert_eq!(results(&client, &small)["result"]["summary"]["valued"], 1);
    let document = client.get(job["status_url"].as_str().unwrap()).ok();
    assert_eq!(document["status"], "queued", "{document}");
    let working = job_host(&store, &database, &[]);
    assert_eq!(results(&client, &job)["result"]["summary"]["valued"], ROWS);
    accepting.stop();
    without.stop();
    working.stop();
}

#[test]
fn a_release_is_published_to_an_object_store_and_fetched_from_it() {
    let store = ObjectStore::start();
    let (source, bare) = (Releases::copy(), host());
    let from = source.path().display().to_string();
    let place = ObjectStore::place("releases");
    let publish = ["release", "publish", RELEASE, &place, "--releases", &from];
    let said = run_with(&store, &publish).ok().stdout;
    assert!(
        said.contains(&format!("{place}/valuation/{RELEASE}")),
        "{said}"
    );
    let again = run_with(&store, &publish).ok().stdout;
    assert!(again.contains("already, the same bytes"), "{again}");
    let component = format!("releases/valuation/{RELEASE}/component.wasm");
    store.change(|objects| objects.get_mut(&component).unwrap()[1_000] ^= 1);
    let mended = run_with(&store, &publish).ok().stdout;
    assert!(mended.contains("damaged files were replaced"), "{mended}");
    let settings = ["--release-source", &place, "--release", RELEASE];
    let server = lead_to(&store, start().releases(bare.path()).with(&settings)).go();
    assert_eq!(list_packages(bare.path()), [SNAPSHOT, RELEASE]);
    server.demo().post("/v3/value", &house()).ok();
    server.stop();
}

#[test]
fn a_release_that_an_object_store_altered_stays_away() {
    let store = ObjectStore::start();
    copy_folder(&store, Releases::copy().path(), "releases");
    let bare = host();
    let place = ObjectStore::place("releases");
    let component = format!("releases/valuation/{RELEASE}/component.wasm");
    store.change(|objects| objects.get_mut(&component).unwrap()[1_000] ^= 1);
    let settings = ["--release-source", &place, "--release", RELEASE];
    let serve = || lead_to(&store, start().releases(bare.path()).with(&settings));
    let refused = serve().refused();
    assert!(refused.contains("component.wasm"), "{refused}");
    assert_eq!(list_packages(bare.path()), [SNAPSHOT]);
    store.change(|objects| objects.remove(&component));
    let refused = serve().refused();
    assert!(
        refused.contains("component.wasm is missing from"),
        "{refused}"
    );
    assert_eq!(list_packages(bare.path()), [SNAPSHOT]);
}
