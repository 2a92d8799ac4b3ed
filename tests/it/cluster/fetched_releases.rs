//! A host fetches a promoted release that it lacks, proved as a package that an operator copies.

use crate::common::demo::{RELEASE, SNAPSHOT, house};
use crate::common::metrics::metrics_client;
use crate::common::packages::{Releases, copy_tree, damage, host, list_packages};
use crate::common::program::{customer_key, releases, run};
use crate::common::server::{Server, start};
use domesday_package::{Trust, open};
use domesday_test_postgres as cluster;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const OTHER: &str = "the-other";
/// Longer than the first pauses between attempts.
const TIMEOUT: Duration = Duration::from_secs(60);

fn promote(server: &Server, id: &str) {
    let data = server.data.display().to_string();
    run(["release", "promote", id, "--data", &data]).ok();
}

/// Adds the demo's component under another id, which no key signs.
fn add_other(source: &Releases) {
    let component = source.release(RELEASE).join("component.wasm");
    source.add(OTHER, fs::read(component).unwrap());
}

/// Adds another release of the same id.
fn add_another(source: &Releases) {
    let component = source.release(RELEASE).join("component.wasm");
    source.add_changed(OTHER, fs::read(component).unwrap(), |body| {
        body.model.name = "another".to_owned();
    });
}

/// Returns the digest of the manifest of [`OTHER`].
fn digest(releases: &Releases) -> String {
    let package = open(&releases.release(OTHER), &Trust::Unsigned).unwrap();
    package.digest().to_string()
}

fn serve(database: &str, folder: &Path, more: &[&str]) -> Server {
    let settings = ["--state", database, "--allow-unsigned", OTHER];
    start().releases(folder).with(&settings).with(more).go()
}

/// Waits until a host serves a release, and values a home with it.
fn await_release(server: &Server, key: &str, id: &str) {
    let started = Instant::now();
    let client = server.client(key);
    while client.get("/v3/releases/current").ok()["release_id"] != id {
        assert!(started.elapsed() < TIMEOUT, "{}", server.log());
        std::thread::sleep(Duration::from_millis(50));
    }
    let value = client.post("/v3/value", &house()).ok();
    assert_eq!(
        (&value["release_id"], &value["status"]),
        (&id.into(), &"valued".into())
    );
}

/// Returns the line of the status about [`OTHER`].
fn promoted_line(server: &Server) -> String {
    let folder = server.data.display().to_string();
    let status = run(["status", "--data", &folder]).ok().stdout;
    let mut lines = status.lines();
    let line = lines.find(|line| line.starts_with("promoted           valuation the-other, "));
    line.unwrap_or_default().to_owned()
}

/// Waits until a host holds the package of [`OTHER`] that has this manifest.
fn await_held(server: &Server, manifest: &str) {
    let started = Instant::now();
    let held = format!("promoted           valuation the-other, manifest {manifest}: held");
    while promoted_line(server) != held {
        assert!(started.elapsed() < TIMEOUT, "{}", server.log());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_host_without_a_promoted_release_fetches_it_at_its_start_and_while_it_serves() {
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let (source, bare) = (Releases::copy(), host());
    let first = serve(&database, source.path(), &[]);
    promote(&first, RELEASE);
    let from = source.path().display().to_string();
    let second = serve(&database, bare.path(), &["--release-source", &from]);
    await_release(&second, &key, RELEASE);
    assert_eq!(list_packages(bare.path()), [SNAPSHOT, RELEASE]);

    add_other(&source);
    promote(&first, OTHER);
    await_release(&first, &key, OTHER);
    await_release(&second, &key, OTHER);
    first.stop();
    second.stop();
}

#[test]
fn a_host_follows_a_release_that_is_promoted_again_after_one_that_went_through_it() {
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let (first, second) = (Releases::copy(), Releases::copy());
    for folder in [&first, &second] {
        add_other(folder);
    }
    let first = serve(&database, first.path(), &[]);
    let second = serve(&database, second.path(), &[]);
    promote(&first, RELEASE);
    await_release(&second, &key, RELEASE);
    // Faster than the second host looks for promotions, at least once.
    for _ in 0..3 {
        promote(&second, OTHER);
        promote(&first, RELEASE);
        await_release(&second, &key, RELEASE);
    }
    first.stop();
    second.stop();
}

#[test]
fn a_start_fetches_the_snapshot_of_a_release_that_is_here_without_it() {
    let (source, mine) = (Releases::copy(), Releases::copy());
    let kept = tempfile::tempdir().unwrap();
    let data = kept.path().join("data");
    let from = source.path().display().to_string();
    let serve = || {
        let server = start().releases(mine.path()).data(&data);
        server.with(&["--release-source", &from]).go()
    };
    let server = serve();
    promote(&server, RELEASE);
    server.stop();
    fs::remove_dir_all(mine.path().join("property").join(SNAPSHOT)).unwrap();
    let server = serve();
    assert!(list_packages(mine.path()).contains(&SNAPSHOT.to_owned()));
    server.demo().post("/v3/value", &house()).ok();
    server.stop();
}

#[test]
fn what_a_host_cannot_prove_stays_away_until_it_is_mended() {
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let (mine, source, bare) = (Releases::copy(), Releases::copy(), host());
    add_other(&mine);
    copy_tree(&mine.release(OTHER), &source.release(OTHER));
    damage(&source.release(OTHER).join("component.wasm"));
    let first = serve(&database, mine.path(), &[]);
    promote(&first, RELEASE);
    let from = source.path().display().to_string();
    let second = serve(&database, bare.path(), &["--release-source", &from]);
    promote(&first, OTHER);
    let entry = second.await_log(|line| line["message"] == "the promoted release is not here");
    let error = entry["error"].as_str().unwrap();
    assert!(error.contains("component.wasm"), "{error}");
    let line = promoted_line(&second);
    assert!(line.ends_with(&format!(": not held: {error}")), "{line}");
    assert_eq!(list_packages(bare.path()), [SNAPSHOT, RELEASE]);
    await_release(&second, &key, RELEASE);

    fs::remove_dir_all(source.release(OTHER)).unwrap();
    copy_tree(&mine.release(OTHER), &source.release(OTHER));
    await_release(&second, &key, OTHER);
    first.stop();
    second.stop();
}

#[test]
fn a_start_fetches_no_other_bytes_than_those_that_were_promoted() {
    let (source, mine) = (Releases::copy(), Releases::copy());
    let kept = tempfile::tempdir().unwrap();
    let data = kept.path().join("data");
    add_other(&mine);
    let serve = |folder: &Path| {
        let from = source.path().display().to_string();
        let settings = ["--allow-unsigned", OTHER, "--release-source", &from];
        start().releases(folder).data(&data).with(&settings)
    };
    let server = serve(mine.path()).go();
    promote(&server, OTHER);
    server.stop();
    // The source has the id with another manifest.
    add_another(&source);
    let bare = host();
    let refused = serve(bare.path()).refused();
    assert!(refused.contains("the promoted one"), "{refused}");
    assert!(list_packages(bare.path()).is_empty());
}

#[test]
fn a_promotion_through_a_host_fetches_too_and_refuses_what_is_not_trusted() {
    let (source, bare) = (Releases::copy(), host());
    add_other(&source);
    let from = source.path().display().to_string();
    let settings = ["--release-source", &from, "--release", RELEASE];
    let server = start().releases(bare.path()).with(&settings).go();
    let data = server.data.display().to_string();
    let refused = run(["release", "promote", OTHER, "--data", &data]).refused();
    assert!(
        refused.contains("not signed") && refused.contains(OTHER),
        "{refused}"
    );
    assert_eq!(list_packages(bare.path()), [SNAPSHOT, RELEASE]);
    let rates = fs::read_dir(releases().join("rates"))
        .unwrap()
        .next()
        .unwrap();
    let rates = rates.unwrap().file_name().into_string().unwrap();
    copy_tree(
        &releases().join("rates").join(&rates),
        &source.path().join("rates").join(&rates),
    );
    run([
        "release", "promote", &rates, "--kind", "rates", "--data", &data,
    ])
    .ok();
    assert!(bare.path().join("rates").join(&rates).is_dir());
    server.stop();
}

#[test]
fn a_start_that_cannot_fetch_says_what_and_why() {
    let (empty, bare) = (tempfile::tempdir().unwrap(), host());
    let from = empty.path().display().to_string();
    let settings = ["--release-source", &from, "--release", RELEASE];
    let refused = start().releases(bare.path()).with(&settings).refused();
    assert!(refused.contains("was not fetched"), "{refused}");
    assert!(
        refused.contains(&format!("no release {RELEASE} in {from}")),
        "{refused}"
    );
}

#[test]
fn another_package_of_the_promoted_release_is_not_served_and_a_source_replaces_it() {
    let (source, mine) = (Releases::copy(), Releases::copy());
    let kept = tempfile::tempdir().unwrap();
    let data = kept.path().join("data");
    add_other(&mine);
    copy_tree(&mine.release(OTHER), &source.release(OTHER));
    let serve = |more: &[&str]| {
        let settings = ["--allow-unsigned", OTHER, "--metrics-listen", "127.0.0.1:0"];
        let server = start().releases(mine.path()).data(&data);
        server.with(&settings).with(more).go()
    };
    let server = serve(&[]);
    promote(&server, OTHER);
    server.stop();
    let promoted = digest(&mine);
    fs::remove_dir_all(mine.release(OTHER)).unwrap();
    add_another(&mine);
    let found = digest(&mine);

    let server = serve(&[]);
    let entry = server.await_log(|line| {
        line["message"] == "the package of the promoted release is another one here"
    });
    let reason = entry["reason"].as_str().unwrap();
    assert!(
        reason.contains(&promoted) && reason.contains(&found),
        "{reason}"
    );
    let client = server.demo();
    assert_eq!(client.get("/readyz").status, 503);
    assert_eq!(client.post("/v3/value", &house()).status, 503);
    let page = metrics_client(&server).get("/metrics").text;
    for line in [
        r#"domesday_promoted_release_held{kind="valuation",release="the-other"} 0"#,
        "domesday_ready 0",
    ] {
        assert!(page.contains(line), "{page}");
    }
    let folder = data.display().to_string();
    let status = run(["status", "--data", &folder]).ok().stdout;
    for line in [
        format!(
            "promoted           valuation the-other, manifest {promoted}: not held: it is withdrawn, since {reason}"
        ),
        format!("withdrawn          the-other: {reason}"),
    ] {
        assert!(status.contains(&line), "{status}");
    }
    server.stop();

    let from = source.path().display().to_string();
    let server = serve(&["--release-source", &from]);
    let value = server.demo().post("/v3/value", &house()).ok();
    assert_eq!(value["release_id"], OTHER);
    assert_eq!(digest(&mine), promoted);
    let status = run(["status", "--data", &folder]).ok().stdout;
    let held = format!("promoted           valuation the-other, manifest {promoted}: held");
    assert!(status.contains(&held), "{status}");
    let aside = format!(".the-other.other-{}", &found[..16]);
    assert!(list_packages(mine.path()).contains(&aside));
    server.stop();
}

#[test]
fn a_running_host_replaces_another_package_of_the_promoted_release() {
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let (theirs, mine) = (Releases::copy(), Releases::copy());
    add_other(&theirs);
    add_another(&mine);
    let first = serve(&database, theirs.path(), &["--release", RELEASE]);
    let from = theirs.path().display().to_string();
    let settings = ["--release", RELEASE, "--release-source", &from];
    let second = serve(&database, mine.path(), &settings);
    await_release(&second, &key, RELEASE);
    assert_ne!(digest(&mine), digest(&theirs));
    promote(&first, OTHER);
    await_release(&second, &key, OTHER);
    assert_eq!(digest(&mine), digest(&theirs));
    first.stop();
    second.stop();
}

#[test]
fn a_running_host_follows_another_package_of_the_release_that_it_serves() {
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let (theirs, mine) = (Releases::copy(), Releases::copy());
    add_other(&theirs);
    copy_tree(&theirs.release(OTHER), &mine.release(OTHER));
    let from = theirs.path().display().to_string();
    let first = serve(&database, theirs.path(), &[]);
    let second = serve(&database, mine.path(), &["--release-source", &from]);
    promote(&first, OTHER);
    await_release(&second, &key, OTHER);
    let before = digest(&mine);
    fs::remove_dir_all(theirs.release(OTHER)).unwrap();
    add_another(&theirs);
    // The host has the package before open, and the ledger is to name the one that it serves.
    promote(&first, OTHER);
    let promoted = digest(&theirs);
    assert_ne!(before, promoted);
    await_held(&first, &promoted);
    second.await_log(|line| line["message"] == "release promoted");
    await_held(&second, &promoted);
    assert_eq!(digest(&mine), promoted);
    let aside = format!(".the-other.other-{}", &before[..16]);
    assert!(list_packages(mine.path()).contains(&aside));
    await_release(&second, &key, OTHER);
    first.stop();
    second.stop();
}

#[test]
fn a_host_returns_to_the_package_that_is_promoted_again_after_another_of_its_id() {
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let (theirs, mine) = (Releases::copy(), Releases::copy());
    add_other(&theirs);
    copy_tree(&theirs.release(OTHER), &mine.release(OTHER));
    let from = theirs.path().display().to_string();
    let first = serve(&database, theirs.path(), &[]);
    let second = serve(&database, mine.path(), &["--release-source", &from]);
    promote(&first, OTHER);
    await_release(&second, &key, OTHER);
    fs::remove_dir_all(mine.release(OTHER)).unwrap();
    add_another(&mine);
    // Both at once, so that the second host may not read the ledger between them.
    promote(&second, OTHER);
    promote(&first, OTHER);
    await_held(&second, &digest(&theirs));
    assert_eq!(digest(&mine), digest(&theirs));
    await_release(&second, &key, OTHER);
    first.stop();
    second.stop();
}

#[test]
fn a_host_that_starts_with_another_release_fetches_the_promoted_one_too() {
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let (source, mine) = (Releases::copy(), Releases::copy());
    add_other(&source);
    let first = serve(&database, source.path(), &[]);
    promote(&first, OTHER);
    let second = serve(&database, mine.path(), &["--release", RELEASE]);
    let line = promoted_line(&second);
    let absent = format!(": not held: it is not in {}", mine.path().display());
    assert!(line.contains(&absent), "{line}");
    second.stop();
    let from = source.path().display().to_string();
    let settings = ["--release", RELEASE, "--release-source", &from];
    let second = serve(&database, mine.path(), &settings);
    await_held(&second, &digest(&source));
    assert_eq!(digest(&mine), digest(&source));
    await_release(&second, &key, RELEASE);
    second.stop();
    // Another package of that id, which the start withdraws, is no hindrance.
    let other = Releases::copy();
    add_another(&other);
    let second = serve(&database, other.path(), &settings);
    await_held(&second, &digest(&source));
    assert_eq!(digest(&other), digest(&source));
    first.stop();
    second.stop();
}

#[test]
fn an_entry_that_does_not_count_names_no_package_to_fetch() {
    let database = cluster::shared().database();
    let (source, theirs, bare) = (Releases::copy(), Releases::copy(), host());
    add_other(&source);
    add_another(&theirs);
    let first = serve(&database, theirs.path(), &["--release", RELEASE]);
    promote(&first, OTHER);
    let from = source.path().display().to_string();
    // This host does not know the key of the other one.
    let settings = ["--promotion-second-key", "--release", OTHER];
    let second = serve(
        &database,
        bare.path(),
        &[&settings[..], &["--release-source", &from]].concat(),
    );
    let package_dir = bare.path().join("valuation").join(OTHER);
    let package = open(&package_dir, &Trust::Unsigned).unwrap();
    assert_eq!(package.digest().to_string(), digest(&source));
    let line = promoted_line(&second);
    assert!(line.ends_with("manifest unknown: held"), "{line}");
    first.stop();
    second.stop();
}
