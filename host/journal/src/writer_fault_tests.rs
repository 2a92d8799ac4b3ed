//! A writer whose files are taken away, whose writes fail, or whose disk does not answer.

use super::tests::{keep, names, open, receipt};
use super::*;
use crate::line::tests::about;
use crate::{TenantKey, prepare};

/// Returns bytes that do not compress.
fn noise(count: usize) -> Vec<u8> {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    let states = std::iter::successors(Some(1), next);
    states
        .map(|state| state.to_be_bytes()[0])
        .take(count)
        .collect()
}

#[tokio::test]
async fn a_journal_that_is_taken_away_is_degraded() {
    for gone in ["folder", "file", "cut"] {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("journal");
        let journal = open(&folder);
        keep(&journal, 0..3).await;
        let file = crate::segment::path(&folder, 1);
        match gone {
            "folder" => std::fs::rename(&folder, dir.path().join("elsewhere")).unwrap(),
            "file" => std::fs::remove_file(&file).unwrap(),
            _ => std::fs::write(&file, "").unwrap(),
        }
        let until = Instant::now() + Duration::from_secs(10);
        while journal.check_writable().is_ok() && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(journal.append(receipt("lost")).is_err(), "{gone}");
    }
}

/// Waits until the journal can be written, or until it cannot.
async fn wait_until_writable(journal: &Journal, writable: bool) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    while journal.check_writable().is_ok() != writable && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    journal.check_writable().is_ok() == writable
}

fn link_all(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::hard_link(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[tokio::test]
async fn a_folder_that_is_moved_or_replaced_degrades_the_journal_before_the_first_receipt() {
    type Replace = fn(&Path, &Path);
    let replacements: [(&str, Replace); 3] = [
        ("moved", |_, _| {}),
        ("empty", |folder, _| std::fs::create_dir(folder).unwrap()),
        ("linked", |folder, away| link_all(away, folder)),
    ];
    for (case, replace) in replacements {
        for receipts in [0, 3] {
            let dir = tempfile::tempdir().unwrap();
            let (folder, away) = (dir.path().join("journal"), dir.path().join("away"));
            let journal = open(&folder);
            if receipts > 0 {
                keep(&journal, 0..receipts).await;
            }
            std::fs::rename(&folder, &away).unwrap();
            replace(&folder, &away);
            let before = folder.read_dir().map_or(0, Iterator::count);
            assert!(wait_until_writable(&journal, false).await, "{case}");
            assert!(journal.append(receipt("lost")).is_err(), "{case}");
            assert_eq!(folder.read_dir().map_or(0, Iterator::count), before);
            // The folder is put back.
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::rename(&away, &folder).unwrap();
            assert!(wait_until_writable(&journal, true).await, "{case}");
            keep(&journal, receipts..receipts + 1).await;
            drop(journal);
            assert_eq!(names(&folder).len(), receipts as usize + 1, "{case}");
        }
    }
}

#[tokio::test]
async fn a_file_beside_the_receipts_that_is_gone_or_replaced_degrades_the_journal() {
    for name in ["lock", "host.key", "host.pub", "heads.jsonl"] {
        for replaced in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let journal = open(dir.path());
            keep(&journal, 0..1).await;
            let (file, away) = (dir.path().join(name), dir.path().join("away"));
            let until = Instant::now() + Duration::from_secs(10);
            while !file.exists() && Instant::now() < until {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            std::fs::rename(&file, &away).unwrap();
            if replaced {
                std::fs::copy(&away, &file).unwrap();
            }
            let case = format!("{name}, replaced: {replaced}");
            assert!(wait_until_writable(&journal, false).await, "{case}");
            let error = journal.check_writable().unwrap_err();
            assert!(
                matches!(&error, JournalError::FileReplaced { path } if *path == file),
                "{error}"
            );
            std::fs::rename(&away, &file).unwrap();
            assert!(wait_until_writable(&journal, true).await, "{case}");
            keep(&journal, 1..2).await;
        }
    }
}

#[tokio::test]
async fn heads_that_are_cut_in_place_degrade_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    keep(&open(dir.path()), 0..1).await;
    let journal = open(dir.path());
    std::fs::write(dir.path().join("heads.jsonl"), "").unwrap();
    assert!(wait_until_writable(&journal, false).await);
}

/// The host is killed after the group that fills a file, and before it signs the head.
#[tokio::test]
async fn a_start_signs_the_end_of_a_full_file_before_it_begins_the_next() {
    let dir = tempfile::tempdir().unwrap();
    keep(&open(dir.path()), 0..1).await;
    let heads = dir.path().join("heads.jsonl");
    let before = std::fs::read(&heads).unwrap();
    let journal = open(dir.path());
    let large = prepare(&about("1"), &TenantKey::new([1; 32]), &noise(5_000)).unwrap();
    let ticket = journal.append(large).unwrap();
    journal.wait_until_durable(ticket, ticket).await.unwrap();
    drop(journal);
    std::fs::write(&heads, before).unwrap();
    keep(&open(dir.path()), 2..3).await;
    assert_eq!(crate::segment::list(dir.path()).unwrap().len(), 2);
    let heads = crate::heads(dir.path()).unwrap();
    let signed: Vec<_> = heads.iter().map(|head| head.sequence).collect();
    assert_eq!(signed, [1, 2, 3]);
}

/// An append fails while a folder stands in the place of a file, which imitates a full disk.
#[tokio::test]
async fn failed_writes_are_refused_until_repaired_and_the_chain_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    keep(&journal, 0..12).await;
    // It fills the file, however the receipts before it were grouped.
    let large = prepare(&about("12"), &TenantKey::new([1; 32]), &noise(5_000)).unwrap();
    let ticket = journal.append(large).unwrap();
    journal.wait_until_durable(ticket, ticket).await.unwrap();
    let next = crate::segment::path(dir.path(), journal.sequence() + 1);
    std::fs::create_dir_all(next.join("in the way")).unwrap();
    let ticket = journal.append(receipt("lost")).unwrap();
    assert!(journal.wait_until_durable(ticket, ticket).await.is_err());
    assert!(journal.check_writable().is_err());
    assert!(journal.append(receipt("refused")).is_err());
    std::fs::remove_dir_all(&next).unwrap();
    let until = Instant::now() + Duration::from_secs(10);
    while journal.check_writable().is_err() && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    keep(&journal, 13..15).await;
    drop(journal);
    let expected: Vec<_> = (0..15).map(|name: u32| name.to_string()).collect();
    assert_eq!(names(dir.path()), expected);
}

#[tokio::test]
async fn a_disk_that_does_not_answer_ends_every_wait() {
    // A queue of one, and a thread that reads nothing.
    let queue = Arc::new(Queue::new(1, GROUP_BYTES));
    let (stop, stopped) = std::sync::mpsc::sync_channel::<()>(0);
    let (_state, writer_state) = watch::channel(WriterState::default());
    let journal = Journal {
        queue: queue.clone(),
        writer_state,
        scrub_error: watch::channel(None).1,
        disk_work: DiskWork::default(),
        host: SigningKey::from_seed([9; 32]).public(),
        thread: Some(std::thread::spawn(move || {
            let _stopped = stopped.recv_timeout(Duration::from_secs(30));
        })),
    };
    let waiting = journal.append(receipt("1")).unwrap();
    let begun = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds));
    journal.disk_work.set(begun(2));
    assert_eq!(
        journal
            .check_writable()
            .err()
            .map(|error| error.to_string()),
        None
    );
    let error = std::thread::scope(|scope| {
        let appending = scope.spawn(|| journal.append(receipt("2")));
        journal.disk_work.set(begun(4));
        appending.join().unwrap().unwrap_err()
    });
    assert!(
        error.to_string().contains("has not answered for 4 s"),
        "{error}"
    );
    let error = journal
        .wait_until_durable(waiting, waiting)
        .await
        .unwrap_err();
    assert!(matches!(error, JournalError::Stalled { .. }), "{error}");
    // It goes on.
    journal.disk_work.set(None);
    assert!(matches!(queue.take(Duration::ZERO), Work::Group(_)));
    journal.append(receipt("3")).unwrap();
    drop(stop);
}
