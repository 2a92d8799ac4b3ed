//! Journals that somebody with the host's key and the tenants' wrote anew: every chain in them
//! holds.

use super::verification::StoppedHost;
use crate::receipts::{replay, report};
use domesday_engine::digest_record::DigestRecord;
use domesday_engine::outcome::Outcome;
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
fn rewrite_journal(
    past: &StoppedHost,
    change: impl Fn(u64, &mut ReceiptHeader, &mut DigestRecord<'_>),
) {
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
        let opened = receipt.open(&key).unwrap();
        let mut record: DigestRecord<'_> = rmp_serde::from_slice(&opened).unwrap();
        change(receipt.sequence, &mut about, &mut record);
        let record = rmp_serde::to_vec(&record).unwrap();
        anew.append(prepare(&about, &key, &record).unwrap())
            .unwrap();
    }
}

#[test]
fn a_changed_outcome_is_found() {
    let past = StoppedHost::new();
    rewrite_journal(&past, |receipt, _, record| {
        if receipt != 5 {
            return;
        }
        let outcome = record.result.as_mut().unwrap().to_mut();
        let Outcome::Valued(valuation) = outcome else {
            panic!("{outcome:?}")
        };
        valuation.estimate += 1.0;
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
    assert!(broken.contains("it was rewritten"), "{broken}");
}

/// The only problem of a journal that somebody wrote anew, as its receipt and its text.
#[track_caller]
fn problem(past: &StoppedHost) -> (u64, String) {
    let found = report(&past.data(), &["--keys", &past.keys()]);
    assert_eq!(found["proved"], true, "{found:#}");
    assert_eq!(found["problems"].as_array().unwrap().len(), 1, "{found:#}");
    let problem = &found["problems"][0];
    let text = problem["problem"].as_str().unwrap().to_owned();
    (problem["receipt"].as_u64().unwrap(), text)
}

#[test]
fn a_changed_sale_or_digest_or_question_is_named_by_its_place() {
    let past = StoppedHost::new();
    rewrite_journal(&past, |receipt, _, record| {
        let exchanges = record.evidence.to_mut();
        if receipt == 7 {
            let answer = exchanges.iter_mut().find(|it| it.sales.0.len() > 2);
            answer.unwrap().sales.0[2] ^= 1;
        }
    });
    let (receipt, text) = problem(&past);
    assert_eq!(receipt, 7);
    assert!(
        text.contains("/evidence/") && text.contains("/sales/2 was"),
        "{text}"
    );

    let past = StoppedHost::new();
    rewrite_journal(&past, |receipt, _, record| {
        if receipt == 8 {
            let exchanges = record.evidence.to_mut();
            let other = exchanges[1].digest;
            assert_ne!(exchanges[0].digest, other);
            exchanges[0].digest = other;
        }
    });
    let (receipt, text) = problem(&past);
    assert_eq!(receipt, 8);
    assert!(text.contains("/evidence/0/digest was"), "{text}");

    let past = StoppedHost::new();
    rewrite_journal(&past, |receipt, _, record| {
        if receipt == 9 {
            record.evidence.to_mut().swap(0, 1);
        }
    });
    let (receipt, text) = problem(&past);
    assert_eq!(receipt, 9);
    // The release asks otherwise than the record says, so nothing answers it.
    assert!(text.contains("/result/outcome was"), "{text}");
}

#[test]
fn a_receipt_that_names_another_snapshot_than_its_release_fails() {
    let past = StoppedHost::new();
    rewrite_journal(&past, |receipt, about, _| {
        if receipt == 4 {
            about.snapshot = domesday_package::Sha256Digest::of(b"another");
        }
    });
    let (receipt, text) = problem(&past);
    assert_eq!(receipt, 4);
    assert!(text.contains("is pinned to the snapshot"), "{text}");
}
