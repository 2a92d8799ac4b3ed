//! A process that writes a journal is killed at random points, and one byte of a receipt is altered
//! or not. The next process resumes an undamaged journal with every acknowledged receipt, and
//! refuses a damaged one with the place of the damage.
//!
//! The child is this test binary itself. The seed is printed; `DOMESDAY_JOURNAL_SEED` repeats a run
//! as far as threads and the clock allow.

use domesday_journal::{
    Expectations, Journal, JournalError, ReceiptHeader, SealedReceipt, TenantKey, prepare, verify,
};
use domesday_package::Sha256Digest;
use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROUNDS: u32 = 200;
/// The test that the child runs.
const CHILD: &str = "tests::aborts::child";
const FOLDER: &str = "DOMESDAY_JOURNAL_CHILD_FOLDER";
const CHILD_SEED: &str = "DOMESDAY_JOURNAL_CHILD_SEED";
const CHILD_FILE_BYTES: &str = "DOMESDAY_JOURNAL_CHILD_FILE_BYTES";
/// The child aborts after at most this many receipts, unless the parent kills it earlier.
const MOST: u32 = 60;
/// Stands before the name of each acknowledged receipt in the child's output.
const ACKNOWLEDGED: &str = "acknowledged ";

fn random(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

fn receipt(name: &str, bytes: usize) -> SealedReceipt {
    let about = ReceiptHeader {
        at: 1_700_000_000_000,
        tenant: "acme".to_owned(),
        release_id: "r-1".to_owned(),
        package: Sha256Digest::of(b"package"),
        snapshot: Sha256Digest::of(b"snapshot"),
        engine: "an engine".to_owned(),
        execution_id: "e".to_owned(),
        valuation_id: name.to_owned(),
        form: 1,
    };
    prepare(&about, &TenantKey::new([1; 32]), &vec![7; bytes]).unwrap()
}

fn open(folder: &Path, file_bytes: u64) -> Result<Journal, JournalError> {
    Journal::open_with(
        folder,
        [9; 32],
        Arc::new(|| 1_700_000_000_000),
        file_bytes.into(),
    )
}

/// Appends bursts of receipts, acknowledges each burst once it is durable, and aborts.
#[tokio::test]
#[ignore = "the child process of the test below"]
async fn child() {
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let seed: u64 = std::env::var(CHILD_SEED).unwrap().parse().unwrap();
    let mut random = random(seed);
    let file_bytes = std::env::var(CHILD_FILE_BYTES).unwrap().parse().unwrap();
    let journal = open(&folder, file_bytes).unwrap();
    let end: u32 = random.random_range(1..=MOST);
    let mut appended = 0;
    loop {
        let mut burst = Vec::new();
        for _ in 0..random.random_range(1..=6) {
            let name = format!("{seed}-{appended}");
            let bytes = random.random_range(0..5_000);
            let ticket = journal.append(receipt(&name, bytes)).unwrap();
            burst.push((ticket, name));
            appended += 1;
            if appended >= end {
                // The journal's thread may be anywhere in its work.
                std::thread::sleep(Duration::from_micros(random.random_range(0..1_500)));
                std::process::abort();
            }
        }
        let (from, to) = (burst[0].0, burst[burst.len() - 1].0);
        journal.wait_until_durable(from, to).await.unwrap();
        let names: String = burst
            .iter()
            .map(|(_, name)| format!("\n{ACKNOWLEDGED}{name}\n"))
            .collect();
        print!("{names}");
    }
}

fn start(folder: &Path, file_bytes: u64, seed: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", CHILD, "--nocapture"])
        .env(FOLDER, folder)
        .env(CHILD_SEED, seed.to_string())
        .env(CHILD_FILE_BYTES, file_bytes.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Lets a child write until it aborts or is killed, and collects the names that it acknowledged.
fn live(folder: &Path, file_bytes: u64, random: &mut TestRng, acknowledged: &mut BTreeSet<String>) {
    let mut child = start(folder, file_bytes, random.random());
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let kill_after = random.random_bool(0.5).then(|| random.random_range(1..20));
    let delay = Duration::from_micros(random.random_range(0..2_000));
    let mut here = 0;
    for line in lines {
        // A line that the kill cut short acknowledges nothing.
        let Ok(line) = line else { break };
        let Some(name) = line.strip_prefix(ACKNOWLEDGED) else {
            continue;
        };
        acknowledged.insert(name.to_owned());
        here += 1;
        if kill_after == Some(here) {
            std::thread::sleep(delay);
            child.kill().unwrap();
        }
    }
    assert!(!child.wait().unwrap().success(), "the child did not die");
}

/// An altered line: its file, and its number there.
struct Damage {
    path: PathBuf,
    line: u64,
}

/// Alters one byte of one receipt, at most of the last acknowledged one.
fn alter(folder: &Path, random: &mut TestRng, acknowledged: &BTreeSet<String>) -> Option<Damage> {
    if acknowledged.is_empty() {
        return None;
    }
    let files = receipt_files(folder);
    // Of each line its file, its number there and its bytes.
    let (mut lines, mut last) = (Vec::new(), 0);
    for (file, (_, bytes)) in files.iter().enumerate() {
        let mut at = 0;
        for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            lines.push((file, number, at..at + line.len()));
            at += line.len();
            let text = String::from_utf8_lossy(line);
            let name = text.split(r#""valuation_id":""#).nth(1);
            let name = name.and_then(|rest| rest.split('"').next());
            if name.is_some_and(|name| acknowledged.contains(name)) {
                last = lines.len();
            }
        }
    }
    assert!(last > 0, "no acknowledged receipt is there");
    let (file, number, range) = lines.swap_remove(random.random_range(0..last));
    let (path, mut bytes) = files[file].clone();
    bytes[random.random_range(range)] ^= random.random_range(1..=u8::MAX);
    std::fs::write(&path, bytes).unwrap();
    Some(Damage {
        path,
        line: number as u64 + 1,
    })
}

/// Returns the error of a damaged journal, which the refusal does not change.
fn refusal(folder: &Path, file_bytes: u64, round: u32) -> String {
    let before = contents(folder);
    let Err(error) = open(folder, file_bytes) else {
        panic!("round {round}: a damaged journal was resumed");
    };
    assert_eq!(contents(folder), before, "the refusal changed a file");
    error.to_string()
}

/// Proves the journal, and returns the names of all its receipts.
fn names(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    verify(folder, &Expectations::default(), |receipt| {
        names.insert(receipt.about.valuation_id.clone());
    })
    .unwrap();
    names
}

/// Returns the files of receipts in order.
fn receipt_files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = contents(folder);
    files.retain(|(path, _)| path.extension().is_some_and(|it| it == "jsonl"));
    files.retain(|(path, _)| !path.ends_with("heads.jsonl"));
    files
}

fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

/// Aborts 200 journals with files of this many bytes.
async fn abort_journals(file_bytes: u64) {
    let given = std::env::var("DOMESDAY_JOURNAL_SEED").ok();
    let seed = given.map_or_else(
        || RandomState::new().hash_one(0),
        |seed| seed.parse().unwrap(),
    );
    println!("DOMESDAY_JOURNAL_SEED={seed}");
    let mut random = random(seed);
    let began = Instant::now();
    let (mut receipts, mut files, mut resumed, mut extra) = (0, 0, 0, 0);
    let mut refused = 0;
    for round in 0..ROUNDS {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("data/journal");
        let mut acknowledged = BTreeSet::new();
        for _ in 0..random.random_range(1..=2) {
            live(&folder, file_bytes, &mut random, &mut acknowledged);
        }
        receipts += acknowledged.len();
        files += receipt_files(&folder).len();
        let damage = match random.random_bool(0.5) {
            true => alter(&folder, &mut random, &acknowledged),
            false => None,
        };
        if let Some(damage) = damage {
            let error = refusal(&folder, file_bytes, round);
            let place = format!("{}, line {}:", damage.path.display(), damage.line);
            assert!(error.contains(&place), "round {round}: {place} {error}");
            refused += 1;
            continue;
        }
        let journal = open(&folder, file_bytes).unwrap();
        let ticket = journal.append(receipt("after", 300)).unwrap();
        journal.wait_until_durable(ticket, ticket).await.unwrap();
        drop(journal);
        let names = names(&folder);
        assert!(names.contains("after"));
        let lost: Vec<_> = acknowledged.difference(&names).collect();
        assert!(lost.is_empty(), "round {round}: {lost:?}");
        extra += names.len() - 1 - acknowledged.len();
        resumed += 1;
    }
    println!(
        "counts: {ROUNDS} aborts in {:.1?}: {receipts} receipts acknowledged in {files} files; \
         {resumed} undamaged journals resumed, with {extra} receipts beyond those acknowledged; \
         {refused} damaged ones refused",
        began.elapsed()
    );
    assert!(resumed > 60 && refused > 60, "{resumed} {refused}");
}

#[tokio::test]
async fn an_aborted_journal_resumes_with_every_acknowledged_receipt_or_refuses_damage() {
    abort_journals(64 << 20).await;
}

#[tokio::test]
async fn an_aborted_journal_of_several_files_resumes_or_is_refused_for_damage_in_any_file() {
    abort_journals(4 << 10).await;
}
