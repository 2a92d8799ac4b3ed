//! A fetch has bounds. Probes are answered while a start fetches, and a stop ends it and removes
//! what it staged. An operator sees how it goes on.

use crate::common::client::Client;
use crate::common::demo::{RELEASE, SNAPSHOT};
use crate::common::metrics::{metric, metrics_client};
use crate::common::object_store::{ObjectStore, copy_folder};
use crate::common::packages::{Releases, host, list_packages};
use crate::common::program::{domesday, run};
use crate::common::server::{Server, start};
use domesday_test_postgres as cluster;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

const OTHER: &str = "the-other";
const TIMEOUT: Duration = Duration::from_secs(60);
/// The longest end of a host that fetches.
const END: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

#[track_caller]
fn within(bound: Duration, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < bound, "not within {bound:?}");
        std::thread::sleep(PAUSE);
    }
}

/// Returns two addresses that are free now.
fn free_addresses() -> [SocketAddr; 2] {
    let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    [bind(), bind()].map(|listener| listener.local_addr().unwrap())
}

fn is_staged(releases: &Path, kind: &str) -> bool {
    let entries = fs::read_dir(releases.join(kind)).into_iter().flatten();
    let mut names = entries.map(|entry| entry.unwrap().file_name());
    names.any(|name| name.as_encoded_bytes().starts_with(b"."))
}

fn status(server: &Server) -> Value {
    let data = server.data.display().to_string();
    let status = run(["status", "--json", "--data", &data]).ok().stdout;
    serde_json::from_str(&status).unwrap()
}

#[test]
fn a_start_that_fetches_answers_probes_and_ends_at_a_stop_without_a_trace() {
    let store = ObjectStore::start();
    copy_folder(&store, Releases::copy().path(), "releases");
    // The snapshot takes a minute.
    store.slow_down(64 << 10);
    let (bare, folder) = (host(), tempfile::tempdir().unwrap());
    let [metrics, listen] = free_addresses();
    let log = folder.path().join("log");
    let mut command = domesday();
    store.lead(&mut command);
    command
        .args(["serve", "--release", RELEASE, "--release-source"])
        .arg(ObjectStore::place("releases"))
        .args(["--listen", &listen.to_string()])
        .args(["--metrics-listen", &metrics.to_string()])
        .arg("--releases")
        .arg(bare.path())
        .arg("--data")
        .arg(folder.path().join("data"))
        .stderr(File::create(&log).unwrap());
    let mut child = command.spawn().unwrap();
    within(TIMEOUT, || is_staged(bare.path(), "property"));
    let client = Client::new(metrics, "none");
    assert_eq!(client.get("/healthz").status, 200);
    assert_eq!(client.get("/readyz").status, 503);
    assert_eq!(client.get("/metrics").status, 503);
    assert!(TcpStream::connect(listen).is_err(), "it takes requests");

    let begun = Instant::now();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let ended = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > END {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("it does not end: {}", fs::read_to_string(&log).unwrap());
        }
        std::thread::sleep(PAUSE);
    };
    let log = fs::read_to_string(&log).unwrap();
    assert!(ended.success(), "{ended}: {log}");
    assert!(log.contains("stopped before it served"), "{log}");
    assert!(list_packages(bare.path()).is_empty(), "{log}");
}

#[test]
fn a_fetch_is_shown_while_it_goes_on_and_a_stop_ends_it_without_a_trace() {
    let (store, source, mine) = (ObjectStore::start(), Releases::copy(), Releases::copy());
    let component = source.release(RELEASE).join("component.wasm");
    source.add(OTHER, fs::read(component).unwrap());
    copy_folder(&store, source.path(), "releases");
    let place = ObjectStore::place("releases");
    let settings = ["--allow-unsigned", OTHER, "--release-source", &place];
    let mut settings = start().releases(mine.path()).with(&settings);
    for (name, value) in store.environment() {
        settings = settings.environment(name, Path::new(&value));
    }
    let server = settings.go();
    assert!(status(&server)["release_source"]["problem"].is_null());
    // The component takes half a minute.
    store.slow_down(5 << 10);
    let data = server.data.display().to_string();
    let promoting = std::thread::spawn(move || run(["release", "promote", OTHER, "--data", &data]));
    within(TIMEOUT, || is_staged(mine.path(), "valuation"));
    let fetches = || status(&server)["release_source"]["fetches"].clone();
    within(TIMEOUT, || fetches()[0]["bytes"].as_u64() > Some(10_000));
    assert_eq!(fetches()[0]["release"], OTHER);
    // The command looks after five seconds.
    std::thread::sleep(Duration::from_secs(6));
    let begun = Instant::now();
    let log = server.stop();
    assert!(begun.elapsed() < END, "{:?}: {log}", begun.elapsed());
    let refused = promoting.join().unwrap().refused();
    // The bytes of the snapshot that is here count too.
    let shown = "The server fetches the-other: ";
    assert!(refused.contains(shown), "{refused}");
    assert_eq!(list_packages(mine.path()), [SNAPSHOT, RELEASE]);
}

#[test]
fn a_stop_that_ends_the_fetch_of_a_promotion_from_elsewhere_is_no_error() {
    let database = cluster::shared().database();
    let (store, source, mine) = (ObjectStore::start(), Releases::copy(), Releases::copy());
    let component = source.release(RELEASE).join("component.wasm");
    source.add(OTHER, fs::read(component).unwrap());
    copy_folder(&store, source.path(), "releases");
    let place = ObjectStore::place("releases");
    let settings = ["--state", &database, "--allow-unsigned", OTHER];
    let first = start().releases(source.path()).with(&settings).go();
    let second = start().releases(mine.path()).with(&settings);
    let mut second = second.with(&["--release-source", &place]);
    for (name, value) in store.environment() {
        second = second.environment(name, Path::new(&value));
    }
    let second = second.go();
    // The component takes half a minute.
    store.slow_down(5 << 10);
    let data = first.data.display().to_string();
    run(["release", "promote", OTHER, "--data", &data]).ok();
    within(TIMEOUT, || is_staged(mine.path(), "valuation"));
    let log = second.stop();
    assert!(log.contains("fetching a release"), "{log}");
    assert!(!log.contains("the promoted release is not here"), "{log}");
    assert_eq!(list_packages(mine.path()), [SNAPSHOT, RELEASE]);
    first.stop();
}

#[test]
fn a_start_removes_what_an_unfinished_transfer_staged() {
    let (source, mine) = (Releases::copy(), Releases::copy());
    let left = mine.path().join("property").join(".homes-1-Ab12Cd");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("snapshot.redb"), "half").unwrap();
    let from = source.path().display().to_string();
    // A host that fetches nothing writes nothing there.
    start().releases(mine.path()).go().stop();
    assert!(left.exists());
    let settings = ["--release-source", &from];
    start().releases(mine.path()).with(&settings).go().stop();
    assert!(!left.exists());
    assert_eq!(list_packages(mine.path()), [SNAPSHOT, RELEASE]);
}

#[test]
fn a_source_that_cannot_be_read_is_named_at_the_start_and_hinders_none() {
    let settings = ["--metrics-listen", "127.0.0.1:0", "--release-source"];
    let server = start().with(&settings).with(&["/no/such/folder"]).go();
    let problem = "cannot read the folder /no/such/folder";
    let warned = server.await_log(|line| line["problem"].is_string());
    assert_eq!(warned["level"], "WARN");
    assert!(warned["problem"].as_str().unwrap().starts_with(problem));
    let shown = status(&server)["release_source"]["problem"].clone();
    assert!(shown.as_str().unwrap().starts_with(problem), "{shown}");
    let data = server.data.display().to_string();
    let text = run(["status", "--data", &data]).ok().stdout;
    assert!(
        text.contains(&format!("release source     {problem}")),
        "{text}"
    );
    let metrics = metrics_client(&server);
    assert_eq!(metric(&metrics, "domesday_release_source_degraded"), 1.0);
    assert_eq!(metric(&metrics, "domesday_ready"), 1.0);
    server.stop();
}
