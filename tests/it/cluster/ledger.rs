//! The promotion ledger of a database that several hosts share.

use crate::common::demo::RELEASE;
use crate::common::metrics::metrics_client;
use crate::common::packages::Releases;
use crate::common::program::{ProcessOutput, customer_key, run};
use crate::common::server::{Server, start};
use domesday_package::{SigningKey, sign};
use domesday_test_postgres as cluster;
use serde_json::Value;
use std::fs;
use std::path::Path;

const OTHER: &str = "the-other";
const NOT_FOLLOWED: &str = "the ledger does not prove the promotion, so the current release stays";
const NOT_PROVED: &str =
    "the promoted release is served, though the ledger does not prove its promotion";

/// Returns the demo's release, and [`OTHER`] that a trusted key signed and nobody checked.
fn two_releases() -> Releases {
    let releases = Releases::copy();
    let component = fs::read(releases.release(RELEASE).join("component.wasm")).unwrap();
    releases.add(OTHER, component);
    let key = SigningKey::from_seed([7; 32]);
    let public = releases.path().join("keys/team.pub");
    key.public().write(&public, "team").unwrap();
    sign(&releases.release(OTHER), &key).unwrap();
    releases
}

fn serve(database: &str, releases: &Releases, data: &Path, more: &[&str]) -> Server {
    start()
        .data(data)
        .releases(releases.path())
        .with(&["--state", database, "--metrics-listen", "127.0.0.1:0"])
        .with(more)
        .go()
}

fn promote(server: &Server, id: &str) -> ProcessOutput {
    let data = server.data.display().to_string();
    run(["release", "promote", id, "--data", &data])
}

/// Returns the key that a host signs its promotions with.
fn public_key(server: &Server) -> String {
    let public = fs::read_to_string(server.data.join("ledger.pub")).unwrap();
    public.split(' ').next().unwrap().to_owned()
}

fn current(server: &Server, key: &str) -> Value {
    let current = server.client(key).get("/v3/releases/current").ok();
    current["release_id"].clone()
}

/// Sets the promoted release, as someone does who can write the database alone.
fn set_promoted(database: &str, id: &str) {
    let set = format!("UPDATE domesday.service SET promoted = '{id}', version = version + 1");
    cluster::sql(database, &set);
}

#[test]
fn a_promotion_that_the_ledger_does_not_prove_is_not_followed() {
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let releases = two_releases();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = serve(&database, &releases, &data, &[]);
    promote(&server, RELEASE).ok();
    set_promoted(&database, OTHER);
    let line = server.await_log(|line| line["message"] == NOT_FOLLOWED);
    let error = line["error"].as_str().unwrap();
    assert!(error.contains("entries after 1 are missing"), "{error}");
    assert_eq!(current(&server, &key), RELEASE);
    let held = r#"domesday_promoted_release_held{kind="valuation",release="the-other"} 0"#;
    let page = metrics_client(&server).get("/metrics").text;
    assert!(page.contains(held), "{page}");
    let refused = history(&server, &[]).refused();
    assert!(refused.contains("entries after 1 are missing"), "{refused}");
    // Nor is it after a restart.
    server.stop();
    let server = serve(&database, &releases, &data, &[]);
    assert_eq!(current(&server, &key), RELEASE);

    // Nor is the release that was never checked promoted, as if it had been before.
    cluster::sql(&database, "DELETE FROM domesday.promotions");
    let refused = promote(&server, OTHER).refused();
    assert!(refused.contains("has no check report"), "{refused}");
    let refused = history(&server, &[]).refused();
    let none = "the state has the-other as promoted, and the ledger has no entry of kind valuation";
    assert!(refused.contains(none), "{refused}");
    assert_eq!(current(&server, &key), RELEASE);

    // A promotion anew mends it.
    promote(&server, RELEASE).ok();
    history(&server, &[]).ok();
    server.stop();
}

/// A version without the ledger leaves such a state.
#[test]
fn a_promoted_release_without_any_entry_is_served_with_a_warning() {
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let releases = two_releases();
    let folder = tempfile::tempdir().unwrap();
    set_promoted(&database, RELEASE);
    let server = serve(&database, &releases, &folder.path().join("data"), &[]);
    let line = server.await_log(|line| line["message"] == NOT_PROVED);
    assert_eq!(line["release_id"], RELEASE);
    // Without a promotion it would be the last by id.
    assert_eq!(current(&server, &key), RELEASE);
    server.stop();
}

#[test]
fn with_a_second_key_another_host_is_followed_once_its_key_is_trusted() {
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let (mine, theirs) = (two_releases(), two_releases());
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("mine");
    let first = serve(&database, &mine, &data, &[]);
    promote(&first, RELEASE).ok();
    first.stop();
    let demanding = ["--promotion-second-key"];
    let first = serve(&database, &mine, &data, &demanding);
    let second = start()
        .data(&folder.path().join("theirs"))
        .releases(theirs.path())
        .with(&["--state", &database, "--allow-unsigned", OTHER])
        .go();
    promote(&second, OTHER).ok();
    let line = first.await_log(|line| line["message"] == NOT_FOLLOWED);
    let error = line["error"].as_str().unwrap();
    assert!(error.contains("is not trusted"), "{error}");
    assert_eq!(current(&first, &key), RELEASE);
    // The command names the signer that the host does not know.
    let named = history(&first, &[]).ok();
    assert!(named.stdout.contains("signer not known"), "{named:?}");
    assert!(
        named.stderr.contains("no key that this host knows"),
        "{named:?}"
    );
    first.stop();
    let public = folder.path().join("theirs/ledger.pub");
    fs::copy(public, mine.path().join("keys/second.pub")).unwrap();
    let first = serve(&database, &mine, &data, &demanding);
    assert_eq!(current(&first, &key), OTHER);
    let named = history(&first, &[]).ok();
    assert!(!named.stdout.contains("signer not known"), "{named:?}");
    first.stop();
    second.stop();
}

fn host(database: &str) -> Server {
    start().with(&["--state", database]).go()
}

fn history(server: &Server, more: &[&str]) -> ProcessOutput {
    let data = server.data.display().to_string();
    run([&["release", "history", "--data", &data][..], more].concat())
}

#[test]
fn an_altered_entry_is_named_and_two_hosts_share_one_chain() {
    const PROMOTIONS: usize = 4;
    let database = cluster::shared().database();
    let hosts = [host(&database), host(&database)];
    std::thread::scope(|scope| {
        for server in &hosts {
            scope.spawn(|| {
                let data = server.data.display().to_string();
                for _ in 0..PROMOTIONS {
                    run(["release", "promote", RELEASE, "--data", &data]).ok();
                }
            });
        }
    });
    let keys = hosts.each_ref().map(public_key);
    let named = ["--json", "--signer", &keys[0], "--signer", &keys[1]];
    let ledgers = hosts
        .each_ref()
        .map(|server| history(server, &named).ok().stdout);
    assert_eq!(ledgers[0], ledgers[1]);
    let entries: Value = serde_json::from_str(&ledgers[0]).unwrap();
    let entries = entries.as_array().unwrap();
    assert_eq!(entries.len(), 2 * PROMOTIONS);
    let mut signers: Vec<&str> = entries
        .iter()
        .map(|it| it["signer"].as_str().unwrap())
        .collect();
    signers.sort_unstable();
    signers.dedup();
    assert_eq!(signers.len(), 2, "each host signs with its own key");

    let alter = "UPDATE domesday.promotions SET entry = replace(entry, '\"who\":\"', '\"who\":\"x') \
        WHERE sequence = 3";
    cluster::sql(&database, alter);
    let refused = history(&hosts[1], &[]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert_eq!(refused.stdout, "");
    let named = "entry 3 of the promotion ledger does not fit: it was altered";
    assert!(refused.stderr.contains(named), "{}", refused.stderr);
    for host in hosts {
        host.stop();
    }
}
