use std::sync::atomic::AtomicI64;
use std::time::Instant;

use super::*;
use crate::line::tests::about;
use crate::{
    Expectations, Flaw, Journal, ReceiptHeader, TenantKey, VerifyError, needed_packages, prepare,
    verify,
};
use domesday_package::Sha256Digest;

/// A day in milliseconds.
const DAY: i64 = 86_400_000;

struct Host {
    folder: tempfile::TempDir,
    now: Arc<AtomicI64>,
}

impl Host {
    fn new() -> Host {
        Host {
            folder: tempfile::tempdir().unwrap(),
            now: Arc::new(AtomicI64::new(1_700_000_000_000)),
        }
    }

    fn open(&self, retention: Retention) -> Journal {
        let now = self.now.clone();
        let limits = Limits {
            padding: 1 << 12,
            file_bytes: 4_096,
            retention,
        };
        let now = Arc::new(move || now.load(Ordering::SeqCst));
        Journal::open_with(self.folder.path(), [9; 32], now, limits).unwrap()
    }

    fn files(&self) -> Vec<u64> {
        let listed = segment::list(self.folder.path()).unwrap();
        listed.into_iter().map(|(first, _)| first).collect()
    }

    fn verify_from(&self, begins_at: u64) -> Result<crate::Proof, VerifyError> {
        let expected = Expectations {
            begins_at,
            ..Expectations::default()
        };
        verify(self.folder.path(), &expected, |_| {})
    }
}

async fn keep(journal: &Journal, count: u32) {
    for name in 0..count {
        let about = about(&name.to_string());
        let receipt = prepare(&about, &TenantKey::new([1; 32]), &[7; 300]).unwrap();
        let ticket = journal.append(receipt.bind_to_snapshot(&about)).unwrap();
        journal.wait_until_durable(ticket, ticket).await.unwrap();
    }
}

fn find(folder: &Path, retention: Retention) -> RetainedFiles {
    RetainedFiles::find(folder, retention, AgeClock::start(&[], 0)).unwrap()
}

#[track_caller]
fn wait_until(is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "it did not happen"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[tokio::test]
async fn the_oldest_files_go_once_the_journal_is_too_large_and_the_rest_is_proved() {
    let host = Host::new();
    let limit = 20_000;
    let journal = host.open(Retention {
        max_bytes: Some(limit),
        ..Retention::default()
    });
    keep(&journal, 60).await;
    wait_until(|| journal.space().bytes <= limit && host.files()[0] > 1);
    // The thread that watches files has looked twice.
    std::thread::sleep(Duration::from_millis(2_200));
    journal.check_writable().unwrap();
    assert!(journal.space().free.unwrap() > 0);
    keep(&journal, 1).await;
    drop(journal);
    let first = host.files()[0];
    let removed = removed_files(host.folder.path()).unwrap();
    let ends: Vec<u64> = removed.iter().map(|file| file.last + 1).collect();
    let begins: Vec<u64> = removed.iter().map(|file| file.first).collect();
    assert_eq!((begins[0], ends.last()), (1, Some(&first)));
    assert_eq!(
        begins[1..],
        ends[..ends.len() - 1],
        "oldest first, without a gap"
    );
    assert!(
        removed
            .iter()
            .all(|file| file.because == Limit::Size && file.bytes > 4_000)
    );
    let proof = host.verify_from(first).unwrap();
    assert_eq!((proof.last, proof.signed), (61, 61));
    assert!(host.verify_from(1).is_err(), "nothing proves what is gone");
    // A host without limits resumes what is there.
    let journal = host.open(Retention::default());
    assert_eq!(journal.sequence(), 61);
    assert_eq!(host.files()[0], first);
}

#[tokio::test]
async fn a_file_goes_once_its_last_receipt_is_too_old_and_the_last_file_stays() {
    let host = Host::new();
    let retention = Retention {
        max_age: Some(Duration::from_millis(30 * DAY.unsigned_abs())),
        ..Retention::default()
    };
    let journal = host.open(retention);
    // Another receipt fits into the last of the files.
    keep(&journal, 18).await;
    let before = host.files();
    host.now.fetch_add(30 * DAY, Ordering::SeqCst);
    keep(&journal, 1).await;
    drop(journal);
    // A start finds a head of that day.
    let journal = host.open(retention);
    std::thread::sleep(Duration::from_millis(1_200));
    assert_eq!(host.files(), before, "none is older than thirty days");
    host.now.fetch_add(DAY, Ordering::SeqCst);
    wait_until(|| host.files().len() == 1);
    let last = *before.last().unwrap();
    assert_eq!(host.files(), [last]);
    let removed = removed_files(host.folder.path()).unwrap();
    assert!(removed.iter().all(|file| file.because == Limit::Age));
    drop(journal);
    assert_eq!(host.verify_from(last).unwrap().last, 19);
}

/// No file is older than the journal itself shows, and the time that the host runs.
#[tokio::test]
async fn a_clock_that_is_a_month_ahead_removes_nothing() {
    for jumps_while_running in [true, false] {
        let host = Host::new();
        let retention = Retention {
            max_age: Some(Duration::from_millis(30 * DAY.unsigned_abs())),
            ..Retention::default()
        };
        let mut journal = host.open(retention);
        keep(&journal, 18).await;
        let before = host.files();
        assert!(before.len() > 2, "{before:?}");
        if !jumps_while_running {
            drop(journal);
            host.now.fetch_add(31 * DAY, Ordering::SeqCst);
            journal = host.open(retention);
        }
        host.now.fetch_add(31 * DAY, Ordering::SeqCst);
        keep(&journal, 1).await;
        std::thread::sleep(Duration::from_millis(2_200));
        assert_eq!(host.files(), before, "{jumps_while_running}");
        drop(journal);
        assert_eq!(host.verify_from(1).unwrap().last, 19);
    }
}

/// The head of the last removed file's end is kept.
#[tokio::test]
async fn an_altered_receipt_behind_the_removed_ones_is_found() {
    let host = Host::new();
    let journal = host.open(Retention {
        max_bytes: Some(20_000),
        ..Retention::default()
    });
    keep(&journal, 40).await;
    wait_until(|| host.files()[0] > 1 && journal.space().bytes <= 20_000);
    drop(journal);
    let first = host.files()[0];
    let path = segment::path(host.folder.path(), first);
    let text = fs::read_to_string(&path).unwrap();
    let line = text.find(r#""previous":""#).unwrap() + 12;
    let digit = if text.as_bytes()[line] == b'0' {
        "1"
    } else {
        "0"
    };
    let altered = format!("{}{digit}{}", &text[..line], &text[line + 1..]);
    fs::write(&path, altered).unwrap();
    let found = host.verify_from(first).unwrap_err();
    let is_link = |sequence: u64, line: u64| sequence == first && line == 1;
    assert!(
        matches!(&found, VerifyError::At { line, flaw: Flaw::Link { sequence, .. }, .. } if is_link(*sequence, *line)),
        "{found}"
    );
}

#[tokio::test]
async fn a_snapshot_is_needed_as_long_as_a_file_has_receipts_of_it() {
    let host = Host::new();
    let journal = host.open(Retention::default());
    let receipt = prepare(&about("whole"), &TenantKey::new([1; 32]), &[7; 300]).unwrap();
    let ticket = journal.append(receipt).unwrap();
    journal.wait_until_durable(ticket, ticket).await.unwrap();
    assert_eq!(needed_packages(host.folder.path()).unwrap().snapshots, []);
    keep(&journal, 20).await;
    drop(journal);
    let needed = needed_packages(host.folder.path()).unwrap().snapshots;
    let [needed] = &needed[..] else {
        panic!("{needed:?}")
    };
    assert_eq!(needed.snapshot, about("").snapshot);
    assert_eq!((needed.release_id.as_str(), needed.first_file), ("r-1", 1));
    // A torn line of a crash hides none.
    let path = host.folder.path().join("snapshots.jsonl");
    let lines = fs::read_to_string(&path).unwrap();
    assert_eq!(lines.lines().count(), host.files().len());
    fs::write(&path, lines + "{\"file\":").unwrap();
    for first in host.files() {
        assert_eq!(
            needed_packages(host.folder.path()).unwrap().snapshots.len(),
            1
        );
        fs::remove_file(segment::path(host.folder.path(), first)).unwrap();
    }
    assert_eq!(needed_packages(host.folder.path()).unwrap().snapshots, []);
}

/// Releases may share a snapshot, and a receipt that holds its evidence needs its release alone.
#[tokio::test]
async fn each_release_is_needed_as_long_as_a_file_has_receipts_of_it() {
    let host = Host::new();
    let journal = host.open(Retention::default());
    for release in ["r-1", "r-2", "r-3", "r-2"] {
        let about = ReceiptHeader {
            release_id: release.to_owned(),
            ..about("v")
        };
        let receipt = prepare(&about, &TenantKey::new([1; 32]), &[7; 300]).unwrap();
        let receipt = match release {
            "r-3" => receipt.bind_to_release(&about),
            _ => receipt.bind_to_snapshot(&about),
        };
        let ticket = journal.append(receipt).unwrap();
        journal.wait_until_durable(ticket, ticket).await.unwrap();
    }
    drop(journal);
    let folder = host.folder.path();
    assert_eq!(needed_packages(folder).unwrap().snapshots.len(), 1);
    let needed = needed_packages(folder).unwrap().releases.into_iter();
    let ids: Vec<String> = needed.map(|needed| needed.release_id).collect();
    assert_eq!(ids, ["r-1", "r-2", "r-3"]);
    for first in host.files() {
        fs::remove_file(segment::path(folder, first)).unwrap();
    }
    assert_eq!(needed_packages(folder).unwrap().releases, []);
}

/// A crash between the record and the removal leaves one record.
#[test]
fn a_removal_is_recorded_once_and_a_torn_record_is_passed_over() {
    let host = Host::new();
    drop(host.open(Retention::default()));
    let key = domesday_package::SigningKey::from_seed([9; 32]);
    let removed = RemovedFile {
        first: 1,
        last: 9,
        bytes: 7,
        removed_at: 5,
        because: Limit::Age,
        head: Head::sign(&key, 9, domesday_package::Sha256Digest::of(b"line"), 4),
    };
    let folder = host.folder.path();
    for _ in 0..2 {
        let mut files = find(folder, Retention::default());
        files.record(&removed).unwrap();
    }
    assert_eq!(
        removed_files(folder).unwrap(),
        std::slice::from_ref(&removed)
    );
    let path = folder.join(REMOVED);
    fs::write(&path, fs::read_to_string(&path).unwrap() + "{\"first\":10,").unwrap();
    let next = RemovedFile {
        first: 10,
        last: 12,
        ..removed.clone()
    };
    let mut files = find(folder, Retention::default());
    files.record(&next).unwrap();
    assert_eq!(removed_files(folder).unwrap(), [removed, next]);
}

/// A disk without space may keep the host from beginning the next file.
#[test]
fn the_last_file_stays_where_the_next_could_not_be_begun() {
    let folder = tempfile::tempdir().unwrap();
    let max_age = Some(Duration::from_secs(1));
    let retention = Retention {
        max_age,
        ..Retention::default()
    };
    let mut files = find(folder.path(), retention);
    files.add(1, 5, 4_000);
    let key = domesday_package::SigningKey::from_seed([9; 32]);
    let digest = domesday_package::Sha256Digest::of(b"line");
    let heads = [Head::sign(&key, 5, digest, 0)];
    assert!(files.limit_of_oldest(&heads, 0, DAY).is_none());
    assert!(files.limit_of_oldest(&heads, 1, DAY).is_some());
}

/// Another package may be promoted under the id of a release.
#[tokio::test]
async fn each_package_of_a_release_is_needed_and_a_note_without_a_manifest_counts_as_the_next() {
    let host = Host::new();
    let journal = host.open(Retention::default());
    let [first, second] = [b"package", b"another"].map(|bytes| Sha256Digest::of(bytes));
    for package in [first, second, first] {
        let about = ReceiptHeader {
            package,
            ..about("v")
        };
        let receipt = prepare(&about, &TenantKey::new([1; 32]), &[7; 300]).unwrap();
        let ticket = journal.append(receipt.bind_to_release(&about)).unwrap();
        journal.wait_until_durable(ticket, ticket).await.unwrap();
    }
    drop(journal);
    let folder = host.folder.path();
    let packages = || {
        let needed = needed_packages(folder).unwrap().releases.into_iter();
        needed.map(|needed| needed.package).collect::<Vec<_>>()
    };
    assert_eq!(packages(), [Some(first), Some(second)]);
    let path = folder.join("snapshots.jsonl");
    let notes = fs::read_to_string(&path).unwrap();
    let older = "{\"file\":1,\"release\":\"r-1\"}\n";
    fs::write(&path, format!("{older}{notes}{older}")).unwrap();
    assert_eq!(packages(), [Some(first), Some(second)]);
    fs::write(&path, older).unwrap();
    assert_eq!(packages(), [None]);
}
