//! A permalink shows its value after a restart, to its tenant alone, until its key is erased.

use super::{Browser, HOME, link, start_with_console};
use crate::common::demo::RELEASE;
use crate::common::metrics::{metric, metrics_client};
use crate::common::packages::Releases;
use crate::common::program::{releases, run};
use crate::common::server::start;
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_permalink_shows_its_value_after_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    let start = || start_with_console().data(&data);
    let server = start().go();
    let browser = Browser::of_demo(&server);
    let path = browser.value(&HOME);
    let page = browser.page(&path);
    server.stop();
    let server = start().go();
    let again = Browser::of_demo(&server).page(&path);
    let card = |page: &str| {
        page.split("<h1")
            .nth(1)
            .unwrap()
            .split("Evidence")
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(card(&again), card(&page));
    // What is kept names no home, and nobody else reads it.
    let folder = data.join("console-values/demo");
    for entry in fs::read_dir(&folder).unwrap() {
        let entry = entry.unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        assert!(!text.contains("Badger") && !text.contains("QA1"), "{text}");
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    server.stop();
}

#[test]
fn a_permalink_states_the_markets_part_without_its_release() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    let server = start_with_console().data(&data).go();
    let browser = Browser::of_demo(&server);
    let path = browser.value(&HOME);
    let market = |page: &str| {
        let row = page.split("<th scope=\"row\">The market</th>").nth(1);
        row.unwrap().split("</tr>").next().unwrap().to_owned()
    };
    let stated = market(&browser.page(&path));
    assert!(stated.contains('£'), "{stated}");
    server.stop();
    let demo = releases().join("valuation").join(RELEASE);
    let component = fs::read(demo.join("component.wasm")).unwrap();
    let others_releases = Releases::without_release();
    others_releases.add("other-1", component);
    let others = ["--release", "other-1", "--allow-unsigned", "other-1"];
    let start = start().releases(others_releases.path()).data(&data);
    let server = start.with(&["--console", "127.0.0.1:0"]).with(&others).go();
    let again = Browser::of_demo(&server).page(&path);
    assert_eq!(market(&again), stated);
    server.stop();
}

#[test]
fn the_release_runs_once_for_the_markets_part_and_in_a_slot_of_requests() {
    let metrics = ["--metrics-listen", "127.0.0.1:0"];
    let server = start_with_console().with(&metrics).go();
    let browser = Browser::of_demo(&server);
    let metrics = metrics_client(&server);
    // Only work with a slot is observed.
    let runs = || metric(&metrics, "domesday_worker_wait_seconds_count");
    let before = runs();
    let path = browser.value(&HOME);
    assert_eq!(runs() - before, 2.0, "the value, and the market's part");
    for _ in 0..2 {
        let page = browser.page(&path);
        assert!(page.contains("was run again for it"), "{page}");
    }
    assert_eq!(runs() - before, 2.0, "opening the page runs nothing");
    server.stop();
}

#[test]
fn an_erased_tenant_has_no_permalinks_left() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let path = browser.value(&HOME);
    let data = server.data.display().to_string();
    run(["journal", "erase", "demo", "--yes", "--data", &data]).ok();
    let gone = browser.get(&path);
    assert_eq!(gone.status(), 404);
    // Code in a message is code on its page.
    let page = gone.text().unwrap();
    assert!(page.contains("<code>domesday replay --journal"), "{page}");
    assert!(!server.data.join("console-values/demo").exists());
    server.stop();
}

/// The first erasure may have erased the key and failed after that.
#[test]
fn a_repeated_erasure_removes_the_values_that_the_first_left() {
    let server = start_with_console().go();
    Browser::of_demo(&server).value(&HOME);
    let data = server.data.display().to_string();
    let erase = || run(["journal", "erase", "demo", "--yes", "--data", &data]);
    let [values, aside] = ["console-values/demo", "aside"].map(|name| server.data.join(name));
    fs::rename(&values, &aside).unwrap();
    erase().ok();
    fs::rename(&aside, &values).unwrap();
    let refused = erase().refused();
    assert!(refused.contains("or it is erased"), "{refused}");
    assert!(!values.exists());
    server.stop();
}

#[test]
fn a_permalink_is_none_of_another_tenants() {
    let start = start_with_console();
    for tenant in ["one", "two"] {
        start.key_with_plan(tenant, &["avm:value"], "");
    }
    let server = start.go();
    let open = |tenant: &str| Browser::open(&link(&server, &["--tenant", tenant]));
    let (own, other) = (open("one"), open("two"));
    let path = own.value(&HOME);
    assert_eq!(own.get(&path).status(), 200);
    assert_eq!(other.get(&path).status(), 404);
    server.stop();
}
