//! A promotion needs a signed report of a check that the release passed, and is recorded.

use super::promotion::{OTHER, add};
use crate::common::demo::{RELEASE, house};
use crate::common::metrics::{metric, metrics_client};
use crate::common::packages::{Releases, damage};
use crate::common::program::{ProcessOutput, run};
use crate::common::server::{Server, start};
use domesday_package::{
    CHECKED_ADVERSARIAL_ROWS, CHECKED_HOMES, Package, REQUIRED_CHECKS, SigningKey, Trust,
    attach_check, open, sign,
};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The demo's release, and [`OTHER`] signed by a trusted key.
struct Signed {
    releases: Releases,
    key: SigningKey,
}

impl Signed {
    fn new() -> Signed {
        let releases = Releases::copy();
        add(&releases, OTHER);
        let signed = Signed {
            key: trusted_key(&releases, "team", 7),
            releases,
        };
        sign(&signed.releases.release(OTHER), &signed.key).unwrap();
        signed
    }

    fn other(&self) -> Package {
        open(&self.releases.release(OTHER), &Trust::Unsigned).unwrap()
    }

    /// Stores a report of [`OTHER`] with this key. `passed` is its verdict.
    fn attach(&self, passed: bool, key: &SigningKey) {
        let package = self.other();
        attach_check(
            &package,
            &report(&package.digest().to_string(), passed),
            key,
        )
        .unwrap();
    }

    /// Removes the report of [`OTHER`].
    fn detach(&self) {
        for file in ["check.json", "check.sig"] {
            fs::remove_file(self.releases.release(OTHER).join(file)).unwrap();
        }
    }

    /// Puts another package of [`OTHER`] in its place. It is signed, and no report is of it.
    fn rebuild(&self) {
        let place = self.releases.release(OTHER);
        let manifest = fs::read_to_string(place.join("manifest.json")).unwrap();
        let other = manifest.replace("\"created\": \"20", "\"created\": \"21");
        assert_ne!(other, manifest);
        fs::write(place.join("manifest.json"), other).unwrap();
        self.detach();
        sign(&place, &self.key).unwrap();
    }

    fn serve(&self, data: &Path, more: &[&str]) -> Server {
        start()
            .data(data)
            .releases(self.releases.path())
            .with(&["--release", RELEASE])
            .with(more)
            .go()
    }
}

/// No gate is passed at a first start, nor by `--release`.
#[test]
fn a_served_release_without_a_report_that_passed_is_named_until_it_has_one() {
    let signed = Signed::new();
    let server = start()
        .releases(signed.releases.path())
        .with(&["--release", OTHER, "--metrics-listen", "127.0.0.1:0"])
        .go();
    let metrics = metrics_client(&server);
    let data = server.data.display().to_string();
    let problem = || {
        let status = run(["status", "--json", "--data", &data]).ok().stdout;
        let status: Value = serde_json::from_str(&status).unwrap();
        status["check_problem"].as_str().map(str::to_owned)
    };
    assert_eq!(metric(&metrics, "domesday_current_release_checked"), 0.0);
    let warned = server.await_log(|line| {
        line["fields"]["message"] == "the served release has no check report that passed"
            || line["message"] == "the served release has no check report that passed"
    });
    assert!(
        warned.to_string().contains("has no check report."),
        "{warned}"
    );
    assert!(problem().unwrap().contains("has no check report."));
    signed.attach(false, &signed.key);
    assert!(problem().unwrap().contains("failed its check: fixtures"));
    let current = server.demo().post("/v3/value", &house()).ok();
    assert_eq!(current["release_id"], OTHER);
    signed.attach(true, &signed.key);
    assert_eq!(problem(), None);
    assert_eq!(metric(&metrics, "domesday_current_release_checked"), 1.0);
    let text = run(["status", "--data", &data]).ok().stdout;
    assert!(text.contains("check report       good\n"), "{text}");
}

/// Makes a key that the folder of releases trusts.
fn trusted_key(releases: &Releases, name: &str, seed: u8) -> SigningKey {
    let key = SigningKey::from_seed([seed; 32]);
    let path = releases.path().join("keys").join(format!("{name}.pub"));
    key.public().write(&path, name).unwrap();
    key
}

/// Returns a whole report of this manifest. The check of the fixtures is the one that may fail.
fn report(manifest: &str, passed: bool) -> Vec<u8> {
    let of = |check: &str| {
        let holds = passed || check != "fixtures";
        let verdict = if holds { "passed" } else { "failed" };
        json!({"check": check, "verdict": verdict})
    };
    let limits = json!({"homes": CHECKED_HOMES, "adversarial_rows": CHECKED_ADVERSARIAL_ROWS});
    let report = json!({
        "manifest": manifest, "passed": passed, "limits": limits,
        "checks": REQUIRED_CHECKS.map(of),
    });
    report.to_string().into_bytes()
}

fn promote(data: &Path, id: &str, more: &[&str]) -> ProcessOutput {
    let data = data.display().to_string();
    run([&["release", "promote", id, "--data", &data][..], more].concat())
}

/// Returns the ledger as `release history --json` prints it.
fn history(data: &Path, more: &[&str]) -> Value {
    let data = data.display().to_string();
    let arguments = [&["release", "history", "--json", "--data", &data][..], more].concat();
    serde_json::from_str(&run(arguments).ok().stdout).unwrap()
}

#[test]
fn a_release_without_a_report_or_that_failed_its_check_is_not_promoted() {
    let signed = Signed::new();
    let folder = tempfile::tempdir().unwrap();
    let server = signed.serve(&folder.path().join("data"), &[]);
    let refuse = |why: &str| {
        let refused = promote(&server.data, OTHER, &[]).refused();
        assert!(refused.contains(why), "{why}: {refused}");
        let current = server.demo().post("/v3/value", &house()).ok();
        assert_eq!(current["release_id"], RELEASE, "{why}");
        refused
    };
    let refused = refuse("has no check report");
    let command = format!("domesday release check {OTHER} --sign-with KEY");
    assert!(refused.contains(&command), "{refused}");

    signed.attach(false, &signed.key);
    refuse("failed its check: fixtures");

    signed.attach(true, &SigningKey::from_seed([9; 32]));
    refuse("which is not trusted");

    let package = signed.other();
    let foreign = report(&"0".repeat(64), true);
    attach_check(&package, &foreign, &signed.key).unwrap();
    refuse("has the check report of another manifest");

    // A report that was altered after it was signed.
    signed.attach(false, &signed.key);
    let path = signed.releases.release(OTHER).join("check.json");
    fs::write(&path, report(&package.digest().to_string(), true)).unwrap();
    refuse("that is not for this report and manifest");

    signed.attach(true, &signed.key);
    let why = ["--reason", "a better model", "--by", "Alice Jones"];
    promote(&server.data, OTHER, &why).ok();
    let current = server.demo().post("/v3/value", &house()).ok();
    assert_eq!(current["release_id"], OTHER);
    let ledger = history(&server.data, &[]);
    assert_eq!(ledger.as_array().unwrap().len(), 1, "{ledger}");
    assert_eq!(ledger[0]["release_id"], OTHER);
    assert_eq!(ledger[0]["reason"], "a better model");
    assert_eq!(ledger[0]["manifest"], package.digest().to_string());
    // The account of the command stands behind the person.
    let who = ledger[0]["who"].as_str().unwrap();
    assert!(
        who.starts_with("Alice Jones (") && who.contains('@'),
        "{ledger}"
    );
    assert_eq!(ledger[0]["report"].as_str().unwrap().len(), 64, "{ledger}");
}

#[test]
fn a_release_that_was_promoted_before_is_promoted_again_without_a_report() {
    let signed = Signed::new();
    signed.attach(true, &signed.key);
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = signed.serve(&data, &[]);
    promote(&server.data, OTHER, &[]).ok();
    promote(&server.data, RELEASE, &[]).ok();
    fs::remove_file(signed.releases.release(OTHER).join("check.json")).unwrap();
    promote(&server.data, OTHER, &[]).ok();
    let ledger = history(&server.data, &[]);
    let went_back: Vec<_> = (0..3).map(|at| ledger[at]["went_back"] == true).collect();
    assert_eq!(went_back, [false, false, true], "{ledger}");
    assert_eq!(ledger[2]["report"], Value::Null);
    // The same ledger without a server.
    let today = ledger[2]["when"].as_str().unwrap()[..10].to_owned();
    server.stop();
    assert_eq!(history(&data, &[]), ledger);
    let current = history(&data, &["--at", &today]);
    assert_eq!(current.as_array().unwrap().len(), 1);
    assert_eq!(current[0], ledger[2]);
    assert_eq!(history(&data, &["--at", "2026-03-01"]), json!([]));
    assert_eq!(history(&data, &["--kind", "rates"]), json!([]));
}

#[test]
fn other_bytes_under_the_current_id_need_a_report() {
    let signed = Signed::new();
    signed.attach(true, &signed.key);
    let folder = tempfile::tempdir().unwrap();
    let server = signed.serve(&folder.path().join("data"), &[]);
    promote(&server.data, OTHER, &[]).ok();
    server.stop();
    signed.rebuild();
    // A host that starts would withdraw it.
    let releases = signed.releases.path().display().to_string();
    let data = folder.path().join("data");
    let refused = promote(&data, OTHER, &["--releases", &releases]).refused();
    assert!(refused.contains("has no check report"), "{refused}");
}

/// A job, or a request on the release of this id, must not run on a package that was refused.
#[test]
fn a_refused_promotion_changes_no_package_that_the_host_serves() {
    let signed = Signed::new();
    signed.attach(true, &signed.key);
    let folder = tempfile::tempdir().unwrap();
    // The first round of proofs is not to reach the release, which it would withdraw.
    let server = signed.serve(&folder.path().join("data"), &["--verify-rate", "1"]);
    promote(&server.data, OTHER, &[]).ok();
    let promoted = signed.other().digest();
    let assert_held = || {
        let data = server.data.display().to_string();
        let status = run(["status", "--data", &data]).ok().stdout;
        let held = format!("promoted           valuation {OTHER}, manifest {promoted}: held");
        assert!(status.contains(&held), "{status}");
    };
    assert_held();
    signed.rebuild();
    let refused = promote(&server.data, OTHER, &[]).refused();
    assert!(refused.contains("has no check report"), "{refused}");
    assert_held();
    // One that cannot be opened takes no release away either.
    damage(&signed.releases.release(OTHER).join("component.wasm"));
    let refused = promote(&server.data, OTHER, &[]).refused();
    assert!(refused.contains("component.wasm"), "{refused}");
    assert_held();
    server.stop();
}

#[test]
fn an_entry_of_another_hosts_key_proves_nothing_until_that_key_is_trusted() {
    let signed = Signed::new();
    signed.attach(true, &signed.key);
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = signed.serve(&data, &[]);
    promote(&server.data, OTHER, &[]).ok();
    promote(&server.data, RELEASE, &[]).ok();
    server.stop();
    signed.detach();
    let public = fs::read(data.join("ledger.pub")).unwrap();
    for file in ["ledger.key", "ledger.pub"] {
        fs::remove_file(data.join(file)).unwrap();
    }
    let server = signed.serve(&data, &[]);
    let refused = promote(&server.data, OTHER, &[]).refused();
    assert!(refused.contains("has no check report"), "{refused}");
    server.stop();
    fs::write(signed.releases.path().join("keys/host.pub"), public).unwrap();
    let server = signed.serve(&data, &[]);
    promote(&server.data, OTHER, &[]).ok();
    // The ledger of two keys fits, and its reader may name them.
    let key = fs::read_to_string(data.join("ledger.pub")).unwrap();
    let key = key.split(' ').next().unwrap().to_owned();
    let folder = server.data.display().to_string();
    let one = ["release", "history", "--signer", &key, "--data", &folder];
    let refused = run(one).refused();
    assert!(refused.contains("none of --signer"), "{refused}");
    server.stop();
}

#[test]
fn a_noted_hash_finds_a_ledger_that_was_cut() {
    let signed = Signed::new();
    signed.attach(true, &signed.key);
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = signed.serve(&data, &[]);
    promote(&server.data, OTHER, &[]).ok();
    let ledger = history(&server.data, &[]);
    let head = ledger[0]["hash"].as_str().unwrap().to_owned();
    assert_eq!(history(&server.data, &["--head", &head]), ledger);
    let data = server.data.display().to_string();
    let cut = "0".repeat(64);
    let refused = run(["release", "history", "--head", &cut, "--data", &data]).refused();
    assert!(
        refused.contains("the ledger was cut after that"),
        "{refused}"
    );
    for (day, why) in [
        ("26-11-27", "the year 26 is before any ledger"),
        ("2999-01-01", "is in the future"),
        ("yesterday", "expected a day as YYYY-MM-DD"),
    ] {
        let refused = run(["release", "history", "--at", day, "--data", &data]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains(why), "{day}: {refused:?}");
    }
    server.stop();
}

#[test]
fn a_second_person_must_approve_where_the_operator_demands_it() {
    let signed = Signed::new();
    signed.attach(true, &signed.key);
    let second = trusted_key(&signed.releases, "second", 8);
    let keys = tempfile::tempdir().unwrap();
    let write = |name: &str, key: &SigningKey| {
        let path = keys.path().join(name);
        key.write(&path).unwrap();
        path.display().to_string()
    };
    let (first_key, second_key) = (write("first", &signed.key), write("second", &second));
    let server = signed.serve(&keys.path().join("data"), &["--promotion-second-key"]);
    let refused = promote(&server.data, OTHER, &[]).refused();
    assert!(
        refused.contains("has no approval by a second key"),
        "{refused}"
    );
    let folder = signed.releases.path().display().to_string();
    let approve = |key: &str| {
        run([
            "release",
            "approve",
            OTHER,
            "--sign-with",
            key,
            "--releases",
            &folder,
        ])
    };
    let refused = approve(&first_key).refused();
    assert!(refused.contains("signed its check report too"), "{refused}");
    promote(&server.data, OTHER, &[]).refused();
    approve(&second_key).ok();
    promote(&server.data, OTHER, &[]).ok();
    let ledger = history(&server.data, &[]);
    assert_eq!(ledger[0]["approved_by"], second.public().to_string());
}
