//! A writer that appends, and a journal that is opened again.

use super::*;
use crate::line::tests::about;
use crate::{Expectations, TenantKey, prepare, verify};
use std::fs::OpenOptions;
use std::io::Write;

fn now() -> Now {
    Arc::new(|| 1_700_000_000_000)
}

pub(super) fn open(folder: &Path) -> Journal {
    Journal::open_with(folder, [9; 32], now(), 4_096.into()).unwrap()
}

pub(super) fn receipt(name: &str) -> SealedReceipt {
    prepare(&about(name), &TenantKey::new([1; 32]), &[7; 300]).unwrap()
}

pub(super) async fn keep(journal: &Journal, names: std::ops::Range<u32>) {
    let tickets: Vec<_> = names
        .map(|name| journal.append(receipt(&name.to_string())).unwrap())
        .collect();
    journal
        .wait_until_durable(tickets[0], tickets[tickets.len() - 1])
        .await
        .unwrap();
}

pub(super) fn names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    verify(folder, &Expectations::default(), |receipt| {
        names.push(receipt.about.valuation_id.clone());
    })
    .unwrap();
    names
}

#[tokio::test]
async fn a_journal_goes_on_where_it_ended_over_many_files() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("journal");
    for round in 0..4 {
        let journal = open(&folder);
        assert_eq!(journal.sequence(), u64::from(round) * 25);
        keep(&journal, round * 25..round * 25 + 12).await;
        keep(&journal, round * 25 + 12..round * 25 + 25).await;
    }
    let expected: Vec<_> = (0..100).map(|name: u32| name.to_string()).collect();
    assert_eq!(names(&folder), expected);
    assert!(crate::segment::list(&folder).unwrap().len() > 3);
    assert_eq!(crate::heads(&folder).unwrap().last().unwrap().sequence, 100);
}

#[tokio::test]
async fn many_threads_append_and_every_receipt_is_kept_once() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Arc::new(open(dir.path()));
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let journal = journal.clone();
            std::thread::spawn(move || {
                let tickets: Vec<_> = (0..200)
                    .map(|n| journal.append(receipt(&format!("{thread}-{n}"))).unwrap())
                    .collect();
                (tickets[0], tickets[199])
            })
        })
        .collect();
    for thread in threads {
        let (from, to) = thread.join().unwrap();
        journal.wait_until_durable(from, to).await.unwrap();
    }
    drop(journal);
    let mut found = names(dir.path());
    assert_eq!(found.len(), 800);
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 800);
}

#[tokio::test]
async fn a_receipt_that_was_not_finished_is_removed_and_the_chain_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    keep(&open(dir.path()), 0..3).await;
    let (_, last) = crate::segment::list(dir.path()).unwrap().pop().unwrap();
    let mut file = OpenOptions::new().append(true).open(&last).unwrap();
    file.write_all(br#"{"sequence":4,"prev"#).unwrap();
    let proof = verify(dir.path(), &Expectations::default(), |_| {}).unwrap();
    assert_eq!((proof.last, proof.unfinished), (3, 19));
    keep(&open(dir.path()), 3..5).await;
    assert_eq!(names(dir.path()), ["0", "1", "2", "3", "4"]);
}

#[tokio::test]
async fn a_journal_has_one_writer() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let second = Journal::open(dir.path(), [9; 32], now());
    assert!(matches!(second, Err(JournalError::AlreadyOpen { .. })));
    drop(journal);
    assert!(Journal::open(dir.path(), [9; 32], now()).is_ok());
}

/// Rewrites the lines of the journal's first file.
fn change(folder: &Path, with: impl FnOnce(&mut Vec<String>)) {
    let (_, path) = crate::segment::list(folder).unwrap().remove(0);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    with(&mut lines);
    let text: String = lines.into_iter().map(|line| line + "\n").collect();
    std::fs::write(path, text).unwrap();
}

#[track_caller]
fn open_error(folder: &Path) -> String {
    match Journal::open(folder, [9; 32], now()) {
        Ok(_) => panic!("it goes on"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_journal_that_contradicts_its_head_is_not_gone_on_with() {
    let altered = |lines: &mut Vec<String>| {
        let last = lines.len() - 1;
        lines[last] = lines[last].replace("acme", "acne");
    };
    let cut = |lines: &mut Vec<String>| lines.truncate(1);
    let taken_out = |lines: &mut Vec<String>| drop(lines.remove(1));
    type Change = fn(&mut Vec<String>);
    let changes: [(Change, &str); 3] = [
        (altered, "it was rewritten"),
        (cut, "cut short"),
        (taken_out, "expected receipt 2, found receipt 3"),
    ];
    for (with, why) in changes {
        let dir = tempfile::tempdir().unwrap();
        keep(&open(dir.path()), 0..3).await;
        change(dir.path(), with);
        let refused = open_error(dir.path());
        assert!(refused.contains(why), "{refused}");
    }
}

#[tokio::test]
async fn a_journal_without_its_hosts_key_is_not_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    keep(&open(dir.path()), 0..3).await;
    std::fs::remove_file(dir.path().join("host.key")).unwrap();
    assert!(open_error(dir.path()).contains("key is gone"));
    SigningKey::from_seed([8; 32])
        .write(&dir.path().join("host.key"))
        .unwrap();
    assert!(open_error(dir.path()).contains("does not belong"));
    // Receipts without a head and a key are a journal that another key may not continue.
    for name in ["host.key", "host.pub", "heads.jsonl"] {
        std::fs::remove_file(dir.path().join(name)).unwrap();
    }
    assert!(open_error(dir.path()).contains("key is gone"));
}

#[tokio::test]
async fn each_file_keeps_its_closing_head_and_verifies_alone() {
    let dir = tempfile::tempdir().unwrap();
    for round in 0..3 {
        keep(&open(dir.path()), round * 20..round * 20 + 20).await;
    }
    let firsts: Vec<_> = crate::segment::list(dir.path())
        .unwrap()
        .into_iter()
        .map(|(first, _)| first)
        .collect();
    let heads = heads(dir.path()).unwrap();
    for first in &firsts[1..] {
        let end = |head: &Head| head.sequence == first - 1;
        assert!(heads.iter().any(end), "{first}: {heads:?}");
        let (begins_at, ends_at) = (*first, Some(first - 1));
        let later = Expectations {
            begins_at,
            ..Expectations::default()
        };
        assert_eq!(verify(dir.path(), &later, |_| {}).unwrap().last, 60);
        // The files before it, in another folder with the heads.
        let elsewhere = tempfile::tempdir().unwrap();
        for name in ["host.pub", "heads.jsonl"] {
            std::fs::copy(dir.path().join(name), elsewhere.path().join(name)).unwrap();
        }
        for earlier in firsts.iter().filter(|other| *other < first) {
            let path = crate::segment::path(dir.path(), *earlier);
            std::fs::copy(&path, elsewhere.path().join(path.file_name().unwrap())).unwrap();
        }
        let earlier = Expectations {
            ends_at,
            ..Expectations::default()
        };
        let proof = verify(elsewhere.path(), &earlier, |_| {}).unwrap();
        assert_eq!(proof.last, first - 1);
        assert!(verify(elsewhere.path(), &Expectations::default(), |_| {}).is_err());
    }
}

#[tokio::test]
async fn a_journal_whose_earlier_files_are_elsewhere_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    for round in 0..3 {
        keep(&open(dir.path()), round * 20..round * 20 + 20).await;
    }
    let files = crate::segment::list(dir.path()).unwrap();
    std::fs::remove_file(&files[0].1).unwrap();
    let journal = open(dir.path());
    assert_eq!(journal.sequence(), 60);
    keep(&journal, 60..62).await;
    drop(journal);
    let later = Expectations {
        begins_at: files[1].0,
        ..Expectations::default()
    };
    assert_eq!(verify(dir.path(), &later, |_| {}).unwrap().last, 62);
}

/// Returns the bytes behind the last line of a journal's last file.
fn bytes_behind_the_last_line(folder: &Path) -> Vec<u8> {
    let (_, path) = crate::segment::list(folder).unwrap().pop().unwrap();
    let bytes = std::fs::read(path).unwrap();
    let end = bytes.iter().rposition(|byte| *byte == b'\n').unwrap();
    bytes[end + 1..].to_vec()
}

#[tokio::test]
async fn zeros_stand_behind_the_last_receipt_until_its_file_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    keep(&journal, 0..1).await;
    let length = || {
        let (_, path) = crate::segment::list(dir.path()).unwrap().pop().unwrap();
        std::fs::metadata(path).unwrap().len()
    };
    let before = length();
    keep(&journal, 1..2).await;
    assert_eq!(length(), before, "a group goes in the place of zeros");
    let padding = bytes_behind_the_last_line(dir.path());
    assert!(!padding.is_empty() && padding.iter().all(|byte| *byte == 0));
    // A reader beside the host takes them for nothing.
    let proof = verify(dir.path(), &Expectations::default(), |_| {}).unwrap();
    assert_eq!((proof.last, proof.unfinished), (2, 0));
    // One by one, so that a file gets full in the place of its zeros.
    for name in 2..26 {
        keep(&journal, name..name + 1).await;
    }
    let files = crate::segment::list(dir.path()).unwrap();
    let (_, closed) = files.split_last().unwrap();
    assert!(!closed.is_empty());
    for (_, path) in closed {
        assert!(std::fs::read(path).unwrap().ends_with(b"\n"));
    }
    drop(journal);
    assert!(bytes_behind_the_last_line(dir.path()).is_empty());
}

#[tokio::test]
async fn a_journal_whose_host_was_killed_loses_its_zeros_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    for file_is_empty in [false, true] {
        let sequence = {
            let journal = open(dir.path());
            keep(&journal, 0..2).await;
            journal.sequence()
        };
        let path = match file_is_empty {
            // A file that was begun for a group of which nothing reached the disk.
            true => crate::segment::path(dir.path(), sequence + 1),
            false => crate::segment::list(dir.path()).unwrap().pop().unwrap().1,
        };
        let text = std::fs::read(&path).unwrap_or_default();
        std::fs::write(&path, [text.as_slice(), &[0; 700]].concat()).unwrap();
        assert_eq!(open(dir.path()).sequence(), sequence);
        assert_eq!(std::fs::read(&path).unwrap_or_default(), text);
        assert_eq!(path.exists(), !file_is_empty);
    }
}
