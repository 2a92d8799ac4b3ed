use super::*;
use crate::line::tests::about;
use crate::{Expected, TenantKey, prepare, verify};
use std::fs::OpenOptions;
use std::io::Write;

fn now() -> Now {
    Arc::new(|| 1_700_000_000_000)
}

fn open(folder: &Path) -> Journal {
    Journal::open_with(folder, [9; 32], now(), 4_096).unwrap()
}

fn receipt(name: &str) -> Prepared {
    prepare(&about(name), &TenantKey::new([1; 32]), &[7; 300]).unwrap()
}

async fn keep(journal: &Journal, names: std::ops::Range<u32>) {
    let tickets: Vec<_> = names
        .map(|name| journal.append(receipt(&name.to_string())).unwrap())
        .collect();
    journal
        .kept(tickets[0], tickets[tickets.len() - 1])
        .await
        .unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    verify(folder, &Expected::default(), |receipt| {
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
        journal.kept(from, to).await.unwrap();
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
    let proof = verify(dir.path(), &Expected::default(), |_| {}).unwrap();
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

#[tokio::test]
async fn a_journal_that_was_cut_short_is_not_continued() {
    let dir = tempfile::tempdir().unwrap();
    keep(&open(dir.path()), 0..3).await;
    for (_, path) in crate::segment::list(dir.path()).unwrap() {
        let text = std::fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap();
        std::fs::write(&path, format!("{first}\n")).unwrap();
    }
    let opened = Journal::open(dir.path(), [9; 32], now());
    assert!(matches!(
        opened,
        Err(JournalError::CutShort { last: 1, signed: 3 })
    ));
}

/// A full disk is the plainest failure: here, a file's place is taken by a folder.
#[tokio::test]
async fn what_cannot_be_written_is_refused_until_it_can_and_the_chain_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    keep(&journal, 0..12).await;
    let next = crate::segment::path(dir.path(), journal.sequence() + 1);
    std::fs::create_dir_all(next.join("in the way")).unwrap();
    let ticket = journal.append(receipt("lost")).unwrap();
    assert!(journal.kept(ticket, ticket).await.is_err());
    assert!(journal.well().is_err());
    assert!(journal.append(receipt("refused")).is_err());
    std::fs::remove_dir_all(&next).unwrap();
    let until = Instant::now() + Duration::from_secs(10);
    while journal.well().is_err() && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    keep(&journal, 12..14).await;
    drop(journal);
    let expected: Vec<_> = (0..14).map(|name: u32| name.to_string()).collect();
    assert_eq!(names(dir.path()), expected);
}

#[test]
fn heads_that_are_kept_for_ever_are_far_apart() {
    let dir = tempfile::tempdir().unwrap();
    let key = SigningKey::from_seed([1; 32]);
    let mut kept = Vec::new();
    for sequence in (0..60_000).step_by(700) {
        let digest = domesday_package::Sha256Digest::of(b"line");
        add_head(dir.path(), &mut kept, Head::sign(&key, sequence, digest, 0)).unwrap();
    }
    assert_eq!(heads(dir.path()).unwrap(), kept);
    assert_eq!(kept.last().unwrap().sequence, 59_500);
    assert!(kept.len() < 8, "{}", kept.len());
}
