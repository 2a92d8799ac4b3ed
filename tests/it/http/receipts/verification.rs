//! `domesday replay --journal`: what it proves, and how it names what was altered.

use crate::common::demo::RELEASE;
use crate::common::program::{releases, run};
use crate::common::server::start;
use crate::receipts::{batch, files, keys, replay, report, value};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The data of a host that has ended, its keys, and a head that was kept elsewhere.
pub struct StoppedHost {
    temporary: TempDir,
    valuation: String,
}

impl StoppedHost {
    pub fn new() -> StoppedHost {
        let temporary = tempfile::tempdir().unwrap();
        let data = temporary.path().join("data");
        let server = start().data(&data).with(&["--receipts", "all"]).go();
        let client = server.demo();
        let valuation = value(&client);
        assert_eq!(
            client.post("/v3/simple-batch-value", &batch(20)).status,
            200
        );
        server.stop();
        keys(&data, None);
        let head = run(["journal", "head", "--data", data.to_str().unwrap()]).ok();
        std::fs::write(temporary.path().join("head.json"), head.stdout).unwrap();
        StoppedHost {
            temporary,
            valuation,
        }
    }

    pub fn data(&self) -> PathBuf {
        self.temporary.path().join("data")
    }

    pub fn keys(&self) -> String {
        self.data().join("receipt-keys.json").display().to_string()
    }

    pub fn head(&self) -> String {
        self.temporary
            .path()
            .join("head.json")
            .display()
            .to_string()
    }
}

/// Rewrites the lines of a journal's first file.
fn change(data: &Path, with: impl FnOnce(&mut Vec<String>)) {
    let path = &files(data)[0];
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    with(&mut lines);
    let text: String = lines.into_iter().map(|line| line + "\n").collect();
    std::fs::write(path, text).unwrap();
}

#[test]
fn one_valuation_is_proved_and_shown() {
    let past = StoppedHost::new();
    let (keys, valuation) = (past.keys(), past.valuation.as_str());
    let ran = replay(&past.data(), &["--keys", &keys, "--valuation", valuation]).ok();
    assert!(
        ran.stdout.contains("1 of 1 receipts identical to the bit"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains(r#""estimate""#), "{}", ran.stdout);
    assert!(ran.stdout.contains("QA1 1AF"), "{}", ran.stdout);
    let unknown = uuid::Uuid::nil().to_string();
    let ran = replay(&past.data(), &["--keys", &keys, "--valuation", &unknown]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stdout.contains("no receipt matches the options"),
        "{}",
        ran.stdout
    );
    let found = report(&past.data(), &["--keys", &keys, "--valuation", &unknown]);
    assert_eq!(found["nothing_proved"], "no receipt matches the options");
}

#[test]
fn receipts_become_fixtures_that_a_release_is_replayed_on() {
    let past = StoppedHost::new();
    let out = past
        .temporary
        .path()
        .join("fixtures.jsonl")
        .display()
        .to_string();
    replay(&past.data(), &["--keys", &past.keys(), "--export", &out]).ok();
    let releases = releases();
    let ran = run([
        "replay",
        RELEASE,
        &out,
        "--releases",
        releases.to_str().unwrap(),
    ])
    .ok();
    assert!(
        ran.stdout.starts_with("21 of 21 rows identical"),
        "{}",
        ran.stdout
    );
}

#[test]
fn an_export_needs_keys_and_leaves_the_older_file_where_none_opens_a_receipt() {
    let past = StoppedHost::new();
    let at = |name: &str| past.temporary.path().join(name).display().to_string();
    let (out, none) = (at("fixtures.jsonl"), at("none.json"));
    std::fs::write(&out, "an older file").unwrap();
    std::fs::write(&none, "[]").unwrap();
    let ran = replay(&past.data(), &["--export", &out]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.stderr.contains("--keys"), "{}", ran.stderr);
    let ran = replay(&past.data(), &["--keys", &none, "--export", &out]);
    assert!(
        ran.stdout.contains("21 sealed under keys"),
        "{}",
        ran.stdout
    );
    let refused = ran.refused();
    assert!(refused.contains("no receipt was proved"), "{refused}");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "an older file");
}

#[test]
fn without_keys_the_chain_alone_is_proved() {
    let past = StoppedHost::new();
    let found = report(&past.data(), &[]);
    assert_eq!(found["proved"], true);
    assert_eq!(found.get("nothing_proved"), Some(&Value::Null));
    assert_eq!(
        (&found["sealed"], &found["identical"]),
        (&21.into(), &0.into())
    );
}

#[test]
fn an_altered_receipt_is_named_by_its_file_and_line() {
    let past = StoppedHost::new();
    change(&past.data(), |lines| {
        lines[4] = lines[4].replace(r#""tenant":"demo""#, r#""tenant":"dema""#);
    });
    let ran = replay(&past.data(), &["--keys", &past.keys()]);
    assert_eq!(ran.code, Some(1));
    let broken = "receipts-000000000001.jsonl, line 5: receipt 5 was altered";
    assert!(ran.stdout.contains(broken), "{}", ran.stdout);
    // What was altered also no longer opens.
    assert!(ran.stdout.contains("receipt 5, "), "{}", ran.stdout);
}

/// No later receipt and no head vouch for the last one, so its own check has to.
#[test]
fn a_changed_place_of_the_last_receipt_is_found_without_a_head() {
    let past = StoppedHost::new();
    change(&past.data(), |lines| {
        let durable = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["durable"].as_u64().unwrap()
        };
        let [.., before, last] = lines.as_mut_slice() else {
            panic!("too few receipts");
        };
        // A receipt begins a group or is of the group before it: the other of the two.
        let other = match durable(last) {
            20 => durable(before),
            _ => 20,
        };
        let field = |count| format!(r#""durable":{count},"#);
        *last = last.replace(&field(durable(last)), &field(other));
    });
    std::fs::remove_file(past.data().join("journal/heads.jsonl")).unwrap();
    let found = report(&past.data(), &[]);
    let broken = found["broken"].as_str().unwrap();
    assert!(
        broken.contains("line 21: receipt 21 was altered"),
        "{broken}"
    );
}

#[test]
fn a_receipt_taken_out_is_named() {
    let past = StoppedHost::new();
    change(&past.data(), |lines| drop(lines.remove(9)));
    let found = report(&past.data(), &[]);
    assert_eq!(found["proved"], false);
    let broken = found["broken"].as_str().unwrap();
    assert!(
        broken.ends_with("line 10: expected receipt 10, found receipt 11"),
        "{broken}"
    );
}

#[test]
fn a_truncated_journal_contradicts_a_head_stored_elsewhere() {
    let past = StoppedHost::new();
    change(&past.data(), |lines| lines.truncate(12));
    let found = report(&past.data(), &[]);
    let short =
        "the journal ends with receipt 12, but its host signed receipt 21: it was cut short";
    assert_eq!(found["broken"], short);
    std::fs::remove_file(past.data().join("journal/heads.jsonl")).unwrap();
    assert_eq!(
        report(&past.data(), &[])["proved"],
        true,
        "by itself it looks sound"
    );
    let ran = replay(&past.data(), &["--head", &past.head()]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains(short), "{}", ran.stdout);
    let wrong = replay(&past.data(), &["--tenant", "dmo"]);
    assert_eq!(wrong.code, Some(1), "nothing was selected");
    // Nor does a host go on with a journal whose own heads say that it was longer.
    std::fs::copy(past.head(), past.data().join("journal/heads.jsonl")).unwrap();
    let refused = start()
        .data(&past.data())
        .with(&["--receipts", "all"])
        .refused();
    assert!(refused.contains("it was cut short"), "{refused}");
}

#[test]
fn another_hosts_journal_fails() {
    let (past, other) = (StoppedHost::new(), StoppedHost::new());
    let found = report(&other.data(), &["--head", &past.head()]);
    assert_eq!(found["proved"], false);
    assert!(
        found["broken"]
            .as_str()
            .unwrap()
            .contains("does not have the signature of"),
        "{found:#}"
    );
    let key = std::fs::read_to_string(past.data().join("journal/host.pub")).unwrap();
    let key = key.split_whitespace().next().unwrap();
    assert_eq!(report(&past.data(), &["--host", key])["proved"], true);
    assert_eq!(report(&other.data(), &["--host", key])["proved"], false);
}

#[test]
fn a_missing_release_proves_nothing() {
    let past = StoppedHost::new();
    let empty = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(empty.path().join("valuation")).unwrap();
    std::fs::create_dir_all(empty.path().join("keys")).unwrap();
    let journal = past.data().join("journal");
    let ran = run([
        "replay",
        "--journal",
        journal.to_str().unwrap(),
        "--keys",
        &past.keys(),
        "--releases",
        empty.path().to_str().unwrap(),
    ]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("there is no release"), "{}", ran.stdout);
    assert!(ran.stdout.contains("21 not proved"), "{}", ran.stdout);
}

#[test]
fn keys_that_open_nothing_prove_nothing() {
    let (past, other) = (StoppedHost::new(), StoppedHost::new());
    let ran = replay(&past.data(), &["--keys", &other.keys()]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stdout.contains("no key that was given opens any"),
        "{}",
        ran.stdout
    );
    let ran = replay(&past.data(), &["--host", "ed25519-private:00"]);
    assert!(!ran.refused().contains("private:00"));
}

/// A restart would sign what was altered.
#[test]
fn an_altered_journal_is_not_continued() {
    let past = StoppedHost::new();
    change(&past.data(), |lines| {
        lines[20] = lines[20].replace(r#""tenant":"demo""#, r#""tenant":"dema""#);
    });
    let refused = start()
        .data(&past.data())
        .with(&["--receipts", "all"])
        .refused();
    assert!(refused.contains("it was rewritten"), "{refused}");
}

#[test]
fn a_folder_without_a_journal_fails() {
    let empty = tempfile::tempdir().unwrap();
    let ran = replay(empty.path(), &[]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stdout.contains("there is no journal in"),
        "{}",
        ran.stdout
    );
}
