//! Journals that somebody with the host's key and the tenants' wrote anew: every chain in them
//! holds.

use super::verification::StoppedHost;
use crate::receipts::{replay, report};
use domesday_engine::fixture::Fixture;
use domesday_journal::{Expectations, Journal, Receipt, ReceiptHeader, TenantKey, prepare, verify};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Reads the only key of a file of keys.
fn only_key(file: &str) -> TenantKey {
    let listed: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut secret = [0; 32];
    hex::decode_to_slice(listed[0]["secret"].as_str().unwrap(), &mut secret).unwrap();
    TenantKey::new(secret)
}

/// Writes the journal anew with its host's key; `change` is shown each receipt's number.
fn rewrite_journal(past: &StoppedHost, change: impl Fn(u64, &mut ReceiptHeader, &mut Value)) {
    let journal = past.data().join("journal");
    let mut receipts: Vec<Receipt> = Vec::new();
    verify(&journal, &Expectations::default(), |receipt| {
        receipts.push(receipt.clone());
    })
    .unwrap();
    for entry in std::fs::read_dir(&journal).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !name.starts_with("host.") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let key = only_key(&past.keys());
    let anew = Journal::open(Path::new(&journal), [9; 32], Arc::new(|| 0)).unwrap();
    for receipt in receipts {
        let mut about = receipt.about.clone();
        let fixture: Fixture = rmp_serde::from_slice(&receipt.open(&key).unwrap()).unwrap();
        let mut fixture = serde_json::to_value(fixture).unwrap();
        change(receipt.sequence, &mut about, &mut fixture);
        let fixture: Fixture = serde_json::from_value(fixture).unwrap();
        let record = rmp_serde::to_vec(&fixture).unwrap();
        anew.append(prepare(&about, &key, &record).unwrap())
            .unwrap();
    }
}

#[test]
fn a_changed_outcome_is_found() {
    let past = StoppedHost::new();
    rewrite_journal(&past, |receipt, _, fixture| {
        if receipt == 5 {
            let estimate = fixture.pointer_mut("/result/outcome/estimate").unwrap();
            *estimate = (estimate.as_f64().unwrap() + 1.0).into();
        }
    });
    let found = report(&past.data(), &["--keys", &past.keys()]);
    assert_eq!(found["proved"], true, "{found:#}");
    assert_eq!(
        (&found["identical"], &found["failed"]),
        (&20.into(), &1.into())
    );
    let problem = &found["problems"][0];
    assert_eq!(problem["receipt"], 5);
    assert!(
        problem["problem"].as_str().unwrap().contains("estimate"),
        "{problem}"
    );
    let ran = replay(&past.data(), &["--keys", &past.keys()]);
    assert_eq!(ran.code, Some(1));
}

#[test]
fn a_release_of_the_same_id_with_other_bytes_fails() {
    let past = StoppedHost::new();
    rewrite_journal(&past, |_, about, _| {
        about.package = domesday_package::Sha256Digest::of(b"another");
    });
    let found = report(&past.data(), &["--keys", &past.keys()]);
    assert_eq!(
        (&found["proved"], &found["failed"]),
        (&true.into(), &21.into())
    );
    let problem = found["problems"][0]["problem"].as_str().unwrap();
    assert!(problem.contains("is not the one that made it"), "{problem}");
}

#[test]
fn a_head_stored_elsewhere_contradicts_a_rewritten_journal() {
    let past = StoppedHost::new();
    rewrite_journal(&past, |receipt, about, _| {
        if receipt == 5 {
            about.at += 1;
        }
    });
    assert_eq!(
        report(&past.data(), &[])["proved"],
        true,
        "by itself it looks sound"
    );
    let found = report(&past.data(), &["--head", &past.head()]);
    assert_eq!(found["proved"], false);
    let broken = found["broken"].as_str().unwrap();
    assert!(broken.contains("it was written anew"), "{broken}");
}
