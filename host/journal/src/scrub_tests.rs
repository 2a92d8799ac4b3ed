use std::fs;
use std::sync::Arc;

use tempfile::TempDir;

use super::*;
use crate::line::tests::about;
use crate::open_files::HEADS;
use crate::{Expectations, Journal, SealedReceipt, TenantKey, prepare, segment, verify};

/// Bytes of a file before another is begun: some four receipts.
const FILE_BYTES: u64 = 4_096;
/// Receipts of a journal whose first files are not followed before the start.
const RECEIPTS: u32 = 42;
/// The newest files, whose lines a host follows before it starts.
const NEWEST: usize = 5;
/// A time of the file system is as old as this.
const CLOCK_TICK: Duration = Duration::from_millis(20);
/// Time limit of a wait for the thread.
const LIMIT: Duration = Duration::from_secs(20);

fn receipt(name: &str) -> SealedReceipt {
    prepare(&about(name), &TenantKey::new([1; 32]), &[7; 300]).unwrap()
}

fn open(folder: &Path) -> Journal {
    Journal::open_with(folder, [9; 32], Arc::new(|| 0), FILE_BYTES.into()).unwrap()
}

async fn keep(journal: &Journal, names: std::ops::Range<u32>) {
    for name in names {
        let ticket = journal.append(receipt(&name.to_string())).unwrap();
        journal.wait_until_durable(ticket, ticket).await.unwrap();
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let files = segment::list(folder).unwrap();
    assert!(files.len() > NEWEST + 2, "{files:?}");
    files.into_iter().map(|(_, path)| path).collect()
}

/// A closed journal of several files.
async fn closed_journal() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    keep(&open(dir.path()), 0..RECEIPTS).await;
    dir
}

/// Alters a line of a file, counted from 1, and returns the file as it was.
fn alter_line(path: &Path, line: usize) -> String {
    let sound = fs::read_to_string(path).unwrap();
    let mut lines: Vec<_> = sound.split_inclusive('\n').map(str::to_owned).collect();
    lines[line - 1] = alter(&lines[line - 1]);
    fs::write(path, lines.concat()).unwrap();
    sound
}

/// Waits until the journal can be written, or cannot, and returns the error.
#[track_caller]
fn await_error(journal: &Journal, is_expected: impl Fn(Option<&JournalError>) -> bool) {
    let began = Instant::now();
    loop {
        let found = journal.check_writable().err();
        if is_expected(found.as_ref()) {
            return;
        }
        assert!(began.elapsed() < LIMIT, "{found:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Gives every later file a later change. A disk that loses bits changes no time.
fn touch_later_files(folder: &Path, path: &Path) {
    std::thread::sleep(CLOCK_TICK);
    for later in files(folder).iter().filter(|later| **later > path) {
        let permissions = fs::metadata(later).unwrap().permissions();
        fs::set_permissions(later, permissions).unwrap();
    }
}

#[tokio::test]
async fn an_earlier_file_that_was_altered_is_refused_at_the_start_with_its_place() {
    let dir = closed_journal().await;
    let files = files(dir.path());
    for path in &files[..files.len() - NEWEST] {
        let sound = alter_line(path, 2);
        let place = format!("{}, line 2: receipt", path.display());
        let refused = open_error(dir.path());
        assert!(refused.contains(&place), "{place} {refused}");
        fs::write(path, sound).unwrap();
    }
    // It is read again where it was put back, and found whole.
    drop(open(dir.path()));
}

#[tokio::test]
async fn a_damaged_earlier_file_degrades_the_journal_with_its_place_until_it_is_put_back() {
    let dir = closed_journal().await;
    for at in 0..2 {
        let path = &files(dir.path())[at];
        let sound = alter_line(path, 2);
        touch_later_files(dir.path(), path);
        let altered = fs::read_to_string(path).unwrap();
        let journal = open(dir.path());
        await_error(&journal, |error| {
            let place = format!("{}, line 2: receipt", path.display());
            matches!(error, Some(JournalError::DamagedFile { .. }))
                && error.is_some_and(|error| error.to_string().contains(&place))
        });
        assert!(journal.append(receipt("refused")).is_err());
        assert_eq!(fs::read_to_string(path).unwrap(), altered);
        fs::write(path, sound).unwrap();
        await_error(&journal, |error| error.is_none());
    }
    let journal = open(dir.path());
    keep(&journal, RECEIPTS..RECEIPTS + 1).await;
    drop(journal);
    let proof = verify(dir.path(), &Expectations::default(), |_| {}).unwrap();
    assert_eq!(proof.last, u64::from(RECEIPTS) + 1);
}

#[tokio::test]
async fn damage_in_one_of_the_newest_five_files_is_refused_at_the_start_with_its_place() {
    let dir = closed_journal().await;
    let files = files(dir.path());
    let newest = files.len() - NEWEST;
    for path in &files[newest..] {
        let sound = alter_line(path, 1);
        touch_later_files(dir.path(), path);
        let place = format!("{}, line 1: receipt", path.display());
        let refused = open_error(dir.path());
        assert!(refused.contains(&place), "{place} {refused}");
        fs::write(path, sound).unwrap();
    }
    alter_line(&files[newest - 1], 1);
    touch_later_files(dir.path(), &files[newest - 1]);
    let journal = open(dir.path());
    await_error(&journal, |error| error.is_some());
}

/// The file is full, and the host dies before the head that names a receipt of the next file.
#[tokio::test]
async fn a_file_that_was_finished_just_before_a_crash_is_watched() {
    let dir = closed_journal().await;
    let heads = dir.path().join(HEADS);
    let text = fs::read_to_string(&heads).unwrap();
    let (first, _) = text.split_once('\n').unwrap();
    fs::write(heads, format!("{first}\n")).unwrap();
    let files = files(dir.path());
    let journal = open(dir.path());
    let away = dir.path().join("away");
    for path in [&files[1], &files[files.len() - 2]] {
        fs::rename(path, &away).unwrap();
        await_error(
            &journal,
            |error| matches!(error, Some(JournalError::FileReplaced { path: moved }) if moved == path),
        );
        fs::rename(&away, path).unwrap();
        await_error(&journal, |error| error.is_none());
    }
}

#[tokio::test]
async fn a_file_without_a_receipt_after_the_last_one_is_removed_and_the_host_goes_on() {
    let dir = closed_journal().await;
    let next = u64::from(RECEIPTS) + 1;
    let torn = segment::path(dir.path(), next);
    fs::write(&torn, [0; 512]).unwrap();
    let journal = open(dir.path());
    assert!(!torn.exists());
    let files = files(dir.path()).len();
    keep(&journal, RECEIPTS..RECEIPTS + 1).await;
    // The receipt went into the file before, which nobody watches as one that is closed.
    assert_eq!(segment::list(dir.path()).unwrap().len(), files);
    std::thread::sleep(LOOK_EVERY * 2);
    journal.check_writable().unwrap();
}

#[tokio::test]
async fn an_earlier_file_that_is_moved_cut_or_altered_under_a_running_host_degrades_the_journal() {
    type Change = fn(&Path, &Path);
    let changes: [(&str, Change); 4] = [
        ("moved", |_, _| {}),
        ("cut", |path, away| {
            let text = fs::read_to_string(away).unwrap();
            let end = text.trim_end().rfind('\n').unwrap();
            fs::write(path, &text[..=end]).unwrap();
        }),
        ("altered", |path, away| {
            let text = fs::read_to_string(away).unwrap();
            fs::write(path, text.replacen("acme", "acne", 1)).unwrap();
        }),
        ("a folder", |path, _| fs::create_dir(path).unwrap()),
    ];
    for (case, change) in changes {
        let dir = closed_journal().await;
        let journal = open(dir.path());
        // The first was closed by an earlier host, the second by this one.
        keep(&journal, 50..70).await;
        let all = files(dir.path());
        for path in [&all[0], &all[all.len() - 2]] {
            await_error(&journal, |error| error.is_none());
            let away = dir.path().join("away");
            fs::rename(path, &away).unwrap();
            change(path, &away);
            await_error(&journal, |error| {
                let text = error.map(JournalError::to_string);
                text.is_some_and(|text| text.contains(&path.display().to_string()))
            });
            assert!(journal.append(receipt("refused")).is_err(), "{case}");
            let _ = fs::remove_dir(path);
            // A copy is another file with the same lines.
            fs::copy(&away, path).unwrap();
            await_error(&journal, |error| error.is_none());
        }
        keep(&journal, 70..71).await;
    }
}

#[tokio::test]
async fn an_earlier_file_that_is_missing_cut_or_altered_at_its_end_is_refused_at_the_start() {
    type Change = fn(&mut Vec<String>);
    let changes: [(&str, Change, bool); 4] = [
        ("cut", |lines| drop(lines.pop()), true),
        (
            "altered",
            |lines| *lines.last_mut().unwrap() = alter(lines.last().unwrap()),
            false,
        ),
        (
            "unfinished",
            |lines| {
                let last = lines.last_mut().unwrap();
                last.truncate(last.len() - 1);
            },
            false,
        ),
        ("empty", Vec::clear, true),
    ];
    for (case, change, is_named_by_the_next) in changes {
        let dir = closed_journal().await;
        let all = files(dir.path());
        let text = fs::read_to_string(&all[1]).unwrap();
        let mut lines: Vec<_> = text.split_inclusive('\n').map(str::to_owned).collect();
        let count = lines.len();
        change(&mut lines);
        fs::write(&all[1], lines.concat()).unwrap();
        let refused = open_error(dir.path());
        let place = match is_named_by_the_next {
            true => format!("{}, line 1:", all[2].display()),
            false => format!("{}, line {count}:", all[1].display()),
        };
        assert!(refused.contains(&place), "{case}: {refused}");
        fs::remove_file(&all[1]).unwrap();
        let refused = self::open_error(dir.path());
        let place = format!("{}, line 1: expected receipt", all[2].display());
        assert!(refused.contains(&place), "{case}: {refused}");
    }
}

fn alter(line: &str) -> String {
    line.replace("acme", "acne")
}

#[track_caller]
fn open_error(folder: &Path) -> String {
    let opened = Journal::open_with(folder, [9; 32], Arc::new(|| 0), FILE_BYTES.into());
    match opened {
        Ok(_) => panic!("the journal resumed"),
        Err(error) => error.to_string(),
    }
}

/// A line of 100 kB is longer than the end that is read first.
#[tokio::test]
async fn the_last_line_of_an_earlier_file_may_be_long() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    for name in ["0", "1"] {
        let receipt = prepare(&about(name), &TenantKey::new([1; 32]), &vec![7; 80_000]).unwrap();
        let ticket = journal.append(receipt).unwrap();
        journal.wait_until_durable(ticket, ticket).await.unwrap();
    }
    keep(&journal, 2..3).await;
    drop(journal);
    assert_eq!(segment::list(dir.path()).unwrap().len(), 3);
    assert_eq!(open(dir.path()).sequence(), 3);
}

fn scrubber(files: Vec<WatchedFile>) -> (Scrub, Scrubber) {
    let (send, receive) = channel();
    let scrubber = Scrubber {
        removed_below: Arc::default(),
        host: domesday_package::SigningKey::from_seed([9; 32]).public(),
        files,
        receive,
        error: watch::channel(None).0,
        missing: None,
        look_at: Instant::now() + LOOK_EVERY,
        worked_since: Instant::now(),
        bytes: 0,
    };
    (Scrub(send), scrubber)
}

#[test]
fn the_thread_rests_nine_tenths_of_its_time_and_ends_with_the_writer() {
    let (writer, mut scrubber) = scrubber(Vec::new());
    let work = Duration::from_millis(20);
    scrubber.worked_since = Instant::now().checked_sub(work).unwrap();
    let began = Instant::now();
    scrubber.pace(PIECE - 1).unwrap();
    assert!(began.elapsed() < work);
    scrubber.pace(1).unwrap();
    assert!(began.elapsed() >= work * REST);
    drop(writer);
    assert!(matches!(scrubber.pace(PIECE), Err(JournalError::Closed)));
    scrubber.run();
}
