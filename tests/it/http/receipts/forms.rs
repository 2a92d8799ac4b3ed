//! The two forms of a receipt: with its evidence, and with digests of it.

use crate::common::demo::RELEASE;
use crate::common::metrics::{metric, metrics_client};
use crate::common::program::{releases, run};
use crate::common::server::start;
use crate::receipts::{batch, keys, lines, report, value};
use serde_json::Value;
use std::path::Path;

/// Values 40 homes with these settings, and returns the bytes of a line and its form.
fn recorded(data: &Path, settings: &[&str]) -> (usize, Value) {
    let server = start().data(data).with(settings).go();
    let client = server.demo();
    assert_eq!(
        client.post("/v3/simple-batch-value", &batch(40)).status,
        200
    );
    server.stop();
    keys(data, None);
    let line = lines(data).remove(0);
    (line.to_string().len(), line["about"]["form"].clone())
}

/// Copies the releases without their snapshots.
fn without_snapshots(to: &Path) {
    for folder in ["valuation", "keys"] {
        copy(&releases().join(folder), &to.join(folder));
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// Replays a journal where no snapshot is.
fn replay_without_snapshots(data: &Path, more: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    without_snapshots(folder.path());
    let (journal, keys) = (data.join("journal"), data.join("receipt-keys.json"));
    let mut arguments = vec!["replay", "--json"];
    arguments.extend(["--releases", folder.path().to_str().unwrap()]);
    arguments.extend(["--journal", journal.to_str().unwrap()]);
    arguments.extend(["--keys", keys.to_str().unwrap()]);
    arguments.extend(more);
    serde_json::from_str(&run(arguments).stdout).unwrap()
}

#[test]
fn a_receipt_of_everything_takes_a_fifth_and_its_snapshot_proves_it() {
    let folder = tempfile::tempdir().unwrap();
    let (small, whole) = (folder.path().join("small"), folder.path().join("whole"));
    let (small_bytes, form) = recorded(&small, &["--receipts", "all"]);
    assert_eq!(form, 2);
    let settings = ["--receipts", "all", "--receipts-self-contained"];
    let (whole_bytes, form) = recorded(&whole, &settings);
    assert_eq!(form, 1);
    assert!(small_bytes * 5 < whole_bytes, "{small_bytes} {whole_bytes}");
    for data in [&small, &whole] {
        let keys = data.join("receipt-keys.json");
        let found = report(data, &["--keys", keys.to_str().unwrap()]);
        assert_eq!(found["identical"], 40, "{found:#}");
    }
}

#[test]
fn a_sample_and_an_export_need_no_snapshot_and_a_receipt_of_form_2_names_the_one_that_it_needs() {
    let folder = tempfile::tempdir().unwrap();
    let (sample, all) = (folder.path().join("sample"), folder.path().join("all"));
    let settings = ["--receipts", "sampled", "--receipts-share", "1"];
    assert_eq!(recorded(&sample, &settings).1, 1);
    assert_eq!(replay_without_snapshots(&sample, &[])["identical"], 40);

    recorded(&all, &["--receipts", "all"]);
    let found = replay_without_snapshots(&all, &[]);
    let counts = [&found["proved"], &found["identical"], &found["failed"]];
    assert_eq!(
        counts,
        [&true.into(), &Value::from(0), &40.into()],
        "{found:#}"
    );
    let digest = lines(&all)[0]["about"]["snapshot"]
        .as_str()
        .unwrap()
        .to_owned();
    let problem = found["problems"][0]["problem"].as_str().unwrap();
    assert!(problem.contains(&digest), "{problem}");

    // A receipt that needs no snapshot is replayed beside those that do.
    recorded(&all, &settings);
    let found = replay_without_snapshots(&all, &[]);
    assert_eq!([&found["identical"], &found["failed"]], [40, 40]);

    // While the snapshot is there, the receipts become ones that need none.
    let out = folder.path().join("fixtures.jsonl");
    let (out, keys) = (out.to_str().unwrap(), all.join("receipt-keys.json"));
    let export = ["--keys", keys.to_str().unwrap(), "--export", out];
    assert_eq!(report(&all, &export)["identical"], 80);
    without_snapshots(&folder.path().join("releases"));
    let releases = folder.path().join("releases");
    let ran = run([
        "replay",
        RELEASE,
        out,
        "--releases",
        releases.to_str().unwrap(),
    ])
    .ok();
    assert!(
        ran.stdout.starts_with("80 of 80 rows identical"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_host_without_a_package_that_receipts_need_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    recorded(&data, &["--receipts", "all"]);
    let server = start().data(&data).with(&["--receipts", "all"]).go();
    assert!(
        !status(&data).contains("lack"),
        "the demo's snapshot is there"
    );
    server.stop();

    let notes = data.join("journal/snapshots.jsonl");
    let noted = std::fs::read_to_string(&notes).unwrap();
    assert!(noted.contains(RELEASE), "{noted}");
    let gone = "5".repeat(64);
    let line = format!(r#"{{"file":1,"snapshot":"{gone}","release":"gone-2026-01"}}"#);
    std::fs::write(&notes, format!("{noted}{line}\n")).unwrap();
    // Receipts may be off by then.
    for receipts in ["all", "off"] {
        let settings = ["--receipts", receipts, "--metrics-listen", "127.0.0.1:0"];
        let server = start().data(&data).with(&settings).go();
        let told = status(&data);
        assert!(told.contains("lack") && told.contains(&gone), "{told}");
        assert!(told.contains("lack the release gone-2026-01"), "{told}");
        let page = metrics_client(&server);
        assert_eq!(metric(&page, "domesday_journal_snapshots_missing "), 2.0);
        if receipts == "all" {
            assert!(metric(&page, "domesday_journal_bytes ") > 40_000.0);
            assert!(metric(&page, "domesday_journal_disk_free_bytes ") > 0.0);
        }
        value(&server.demo());
        let log = server.stop();
        assert!(log.contains(&gone), "{log}");
    }
}

fn status(data: &Path) -> String {
    run(["status", "--data", data.to_str().unwrap()])
        .ok()
        .stdout
}

#[test]
fn a_limit_of_the_journal_is_an_age_or_a_size() {
    for limits in ["7", "1GB", "0d", "1MiB"] {
        let ran = run(["serve", "--receipts", "all", "--receipts-retention", limits]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("730d"), "{}", ran.stderr);
    }
}
