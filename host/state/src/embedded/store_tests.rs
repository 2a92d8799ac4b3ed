//! The rows that operations leave, and the threads and files of the store.

use std::fs;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use redb::ReadableTableMetadata;

use super::error::{reading, writing};
use super::fault_injection_tests::{JUNE, NOW, acme, charge, new_job, open, outcome};
use super::readers::THREADS;
use super::source::Source;
use super::store::Store;
use super::tables::{IDEMPOTENCY, INPUTS, JOB_ENDS, JOBS, KEY_ENDS, LOADS, OUTPUTS, QUEUE, SHARED};
use super::test_disk::{Disk, DiskFault, Files};
use super::usage_wal::replay::open_read_only;
use super::{EmbeddedState, read_now};
use crate::test_support::{REQUEST, claimant};
use crate::*;

/// Works on one of the job's two chunks.
fn work_on(state: &EmbeddedState, job: NewJob) {
    outcome(state.submit(job)).unwrap();
    let claim = outcome(state.claim(claimant(), NOW, 60_000))
        .unwrap()
        .unwrap();
    let results = ChunkResults {
        chunk: 0,
        output: b"result".to_vec(),
        tally: Tally::default(),
        refund: 0,
    };
    outcome(state.finish_chunk(claim.lease, results, NOW, 60_000)).unwrap();
}

/// Counts the rows of all tables that hold something of a job, that of keys last.
fn job_rows(state: &EmbeddedState) -> Vec<u64> {
    let rows = read_now(&state.shared, |transaction| {
        let counts = [
            transaction.open_table(JOBS).map_err(reading)?.len(),
            transaction.open_table(SHARED).map_err(reading)?.len(),
            transaction.open_table(INPUTS).map_err(reading)?.len(),
            transaction.open_table(OUTPUTS).map_err(reading)?.len(),
            transaction.open_table(QUEUE).map_err(reading)?.len(),
            transaction.open_table(LOADS).map_err(reading)?.len(),
            transaction.open_table(JOB_ENDS).map_err(reading)?.len(),
            transaction.open_table(KEY_ENDS).map_err(reading)?.len(),
            transaction.open_table(IDEMPOTENCY).map_err(reading)?.len(),
        ];
        let counts: Result<Vec<u64>, redb::StorageError> = counts.into_iter().collect();
        counts.map_err(reading)
    });
    rows.unwrap()
}

#[test]
fn a_purged_job_leaves_its_tombstone_alone() {
    let state = open(&Disk::new(1));
    work_on(&state, new_job());
    let end = UnixMillis(NOW.0 + IDEMPOTENCY_RETENTION_MILLIS);
    outcome(state.purge(end)).unwrap();
    assert_eq!(job_rows(&state), [0, 0, 0, 0, 0, 0, 0, 0, 1]);
}

/// A call is one transaction, so that maintenance never keeps a thread of the readers.
#[test]
fn a_purge_and_a_removal_of_entries_need_no_reader_and_say_that_there_are_more() {
    let state = open(&Disk::new(1));
    for number in 0..40 {
        let job = NewJob {
            id: uuid::Uuid::from_u128(number),
            idempotency: None,
            queued_jobs: u32::MAX,
            chunks: vec![NewChunk {
                rows: 1,
                units: 0,
                input: vec![7],
            }],
            ..new_job()
        };
        outcome(state.submit(job)).unwrap();
    }
    let written = state.blocking(|tables| {
        let rows = tables.usage_entries.edit()?;
        for epoch in 0..40 {
            let bytes: &[u8] = &[0];
            rows.insert((1, "acme", epoch), bytes).map_err(writing)?;
        }
        Ok(())
    });
    written.unwrap();
    let mut releases = Vec::new();
    for _ in 0..THREADS {
        let (release, released) = channel::<()>();
        let wait = move |_: &Store| released.recv().is_err();
        assert!(state.readers.as_ref().unwrap().begin(wait));
        releases.push(release);
    }
    let end = UnixMillis(NOW.0 + JOB_RETENTION_MILLIS);
    for (removed, more) in [(32, true), (8, false), (0, false)] {
        let purged = PurgeCounts {
            jobs: removed,
            documents: 0,
            more,
        };
        assert_eq!(outcome(state.purge(end)).unwrap(), purged);
        let rows = removed.into();
        let removed = outcome(state.remove_usage_entries(JUNE)).unwrap();
        assert_eq!(removed, RemovedEntries { rows, more });
    }
    for release in releases {
        release.send(()).unwrap();
    }
}

#[test]
fn a_withdrawn_job_leaves_no_row() {
    let state = open(&Disk::new(1));
    let job = NewJob {
        idempotency: None,
        ..new_job()
    };
    let id = job.id;
    work_on(&state, job);
    outcome(state.withdraw(acme(), id)).unwrap();
    assert_eq!(job_rows(&state), [0; 9]);
}

#[test]
fn a_charge_of_no_units_writes_nothing() {
    let disk = Disk::new(3);
    let state = open(&disk);
    disk.arm_on(Files::Log, DiskFault::Full, 0);
    let nothing = Charge {
        tenant: acme(),
        month: JUNE,
        units: 0,
        allowance: 0,
        source: REQUEST,
    };
    let granted = outcome(state.charge(nothing)).unwrap();
    assert_eq!(granted, ChargeOutcome::Granted { used: 0 });
}

#[test]
fn a_disk_that_fails_is_tried_again_with_growing_pauses() {
    let disk = Disk::new(5);
    let state = open(&disk);
    disk.arm_on(Files::Log, DiskFault::Full, 0);
    assert!(outcome(charge(&state)).is_err());
    let before = disk.failures();
    std::thread::sleep(Duration::from_millis(100));
    // The pauses are 10, 20, 40 and 80 milliseconds.
    let attempts = disk.failures() - before;
    assert!(attempts <= 5, "{attempts}");
}

#[test]
fn a_panic_of_the_committing_thread_is_reported() {
    let state = open(&Disk::new(7));
    let lost: Result<(), StateError> = state.blocking(|_| panic!("on purpose"));
    assert!(matches!(lost, Err(StateError::Storage { .. })), "{lost:?}");
    let begun = Instant::now();
    let reason = loop {
        if let Some(reason) = state.degradation() {
            break reason;
        }
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(1));
    };
    assert!(reason.contains("the committing thread stopped"), "{reason}");
    assert!(outcome(charge(&state)).is_err());
}

/// The read-only fallback reads the files themselves, and the state's file alone where there is no
/// log.
#[test]
fn a_real_file_is_read_and_left_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.redb");
    let state = EmbeddedState::open(&path).unwrap();
    outcome(charge(&state)).unwrap();
    drop(state);
    let before = fs::read(&path).unwrap();
    let used = || {
        let files = open_read_only(&Source::new(&path)).unwrap();
        files.used_units(acme(), JUNE).unwrap()
    };
    assert_eq!(used(), 5);
    fs::remove_file(path.with_extension("usage")).unwrap();
    assert_eq!(used(), 5);
    assert_eq!(fs::read(&path).unwrap(), before);
}
