//! Changes that were answered with an error, on a disk that may have taken them.

use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use super::fault_injection_tests::{
    JOB, JUNE, NOW, acme, charge, new_job, open, outcome, until_it_recovers,
};
use super::test_disk::{Disk, DiskFault, Files};
use crate::test_support::{REQUEST, claimant, read_ledger};
use crate::*;

fn refund(state: &EmbeddedState, units: u32) -> Reply<()> {
    state.refund(acme(), JUNE, units, REQUEST)
}

fn used_units(state: &EmbeddedState) -> u64 {
    outcome(state.used_units(acme(), JUNE)).unwrap()
}

/// Asserts that a state that recovered has used these units, and that a crash loses none.
#[track_caller]
fn assert_used(disk: &Disk, state: &EmbeddedState, units: u64) {
    assert_eq!(used_units(state), units);
    let entries = read_ledger(state, &acme(), JUNE);
    let attributed = |entry: &UsageEntry| entry.source.kind != UsageKind::Unattributed;
    assert!(entries.iter().all(attributed), "{entries:?}");
    assert_eq!(used_units(&open(&disk.after_a_crash())), units);
}

/// The first refund meets the failure, and the others a store that failed.
#[test]
fn refunds_that_a_failing_disk_refuses_are_made_once_it_works() {
    for fault in [DiskFault::Full, DiskFault::Sync] {
        for round in 0..8 {
            let disk = Disk::new(round * 7_919 + 3);
            let state = open(&disk);
            for _ in 0..4 {
                outcome(charge(&state)).unwrap();
            }
            disk.arm_on(Files::Log, fault, 0);
            for units in 1..=3 {
                assert!(outcome(refund(&state, units)).is_err());
            }
            disk.lift();
            until_it_recovers(&state);
            assert_used(&disk, &state, 14);
            // Once alone.
            outcome(charge(&state)).unwrap();
            assert_used(&disk, &state, 19);
        }
    }
}

/// The sync of the log fails, and its block is there or not.
#[test]
fn charges_that_are_refused_are_undone_though_they_reached_the_disk() {
    for (fault, found) in [(DiskFault::Sync, 5), (DiskFault::Unconfirmed, 10)] {
        let disk = Disk::new(1);
        let state = open(&disk);
        outcome(charge(&state)).unwrap();
        disk.arm_on(Files::Log, fault, 0);
        assert!(outcome(charge(&state)).is_err());
        assert_eq!(used_units(&open(&disk.after_a_crash())), found);
        assert!(outcome(refund(&state, 2)).is_err());
        disk.lift();
        until_it_recovers(&state);
        assert_used(&disk, &state, 3);
    }
}

/// An attempt to open the files fails at the n-th write or sync of the state's file, which the disk
/// has. So it moved the log's position.
#[test]
fn a_group_that_failed_is_judged_by_the_first_look_at_the_files() {
    for after in 0..60 {
        let disk = Disk::new(1);
        let state = open(&disk);
        outcome(charge(&state)).unwrap();
        disk.arm_on(Files::Log, DiskFault::Sync, 0);
        assert!(outcome(charge(&state)).is_err());
        let before = disk.failures();
        disk.arm_on(Files::State, DiskFault::Unconfirmed, after);
        let begun = Instant::now();
        while disk.failures() == before && state.degradation().is_some() {
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(1));
        }
        disk.lift();
        until_it_recovers(&state);
        assert_used(&disk, &state, 5);
    }
}

/// Occupies the committing thread until the returned sender is used. Operations that arrive
/// meanwhile are the next group.
fn occupy(state: &EmbeddedState) -> (Reply<()>, Sender<()>) {
    let (begin, begun) = channel();
    let (release, released) = channel::<()>();
    let first = state.durable(move |_| {
        begin.send(()).unwrap();
        released.recv().unwrap();
        Ok(())
    });
    begun.recv().unwrap();
    (first, release)
}

/// A charge, a refund and a job fail in one group, whose units go to the file. The units of the job
/// are there exactly where the job is.
#[test]
fn units_of_a_group_of_the_file_that_fails_are_exact() {
    for (fault, jobs) in [(DiskFault::Sync, 0), (DiskFault::Unconfirmed, 1)] {
        for is_log_empty in [false, true] {
            let disk = Disk::new(1);
            let state = open(&disk);
            outcome(charge(&state)).unwrap();
            if is_log_empty {
                state.pause_jobs(false).unwrap();
            }
            let (first, release) = occupy(&state);
            let (charged, refunded) = (charge(&state), refund(&state, 3));
            let submitted = state.submit(job_without_key());
            disk.arm_on(Files::State, fault, 0);
            release.send(()).unwrap();
            outcome(first).unwrap();
            assert!(outcome(charged).is_err());
            assert!(outcome(refunded).is_err());
            assert!(outcome(submitted).is_err());
            disk.lift();
            until_it_recovers(&state);
            assert_eq!(outcome(state.waiting()).unwrap(), jobs, "{fault:?}");
            assert_used(&disk, &state, 5 - 3 + 4 * jobs);
        }
    }
}

/// A refund that found no place in the queue is owed too.
#[test]
fn a_refund_of_a_store_that_is_too_busy_is_made_later() {
    let disk = Disk::new(21);
    let state = open(&disk);
    outcome(charge(&state)).unwrap();
    disk.arm_on(Files::Log, DiskFault::Stall, 0);
    let stalled = charge(&state);
    // The committing thread has the charge alone before the queue fills.
    std::thread::sleep(Duration::from_secs(2));
    let waiting: Vec<_> = (0..10_000).map(|_| refund(&state, 0)).collect();
    let error = outcome(refund(&state, 2)).unwrap_err();
    assert!(error.to_string().contains("too many"), "{error}");
    disk.lift();
    outcome(stalled).unwrap();
    drop(waiting);
    let begun = Instant::now();
    while used_units(&state) != 8 {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn job_without_key() -> NewJob {
    NewJob {
        idempotency: None,
        ..new_job()
    }
}

/// The withdrawal is behind the submission that it is of.
#[test]
fn a_job_whose_submission_stalls_is_withdrawn() {
    let disk = Disk::new(15);
    let state = open(&disk);
    disk.arm(DiskFault::Stall, 0);
    let submitted = state.submit(job_without_key());
    let withdrawn = state.withdraw(acme(), JOB);
    disk.lift();
    let submitted = outcome(submitted).unwrap();
    assert!(matches!(submitted, Submission::Accepted(_)));
    outcome(withdrawn).unwrap();
    assert_eq!(outcome(state.job(acme(), JOB, NOW)).unwrap(), None);
    assert_eq!(outcome(state.used_units(acme(), JUNE)).unwrap(), 0);
}

/// A job whose submission failed may be there or not.
#[test]
fn a_job_whose_submission_fails_is_withdrawn() {
    for (fault, jobs) in [(DiskFault::Sync, 0), (DiskFault::Unconfirmed, 1)] {
        let disk = Disk::new(1);
        let state = open(&disk);
        outcome(charge(&state)).unwrap();
        disk.arm_on(Files::State, fault, 0);
        assert!(outcome(state.submit(job_without_key())).is_err());
        assert!(outcome(state.withdraw(acme(), JOB)).is_err());
        disk.lift();
        until_it_recovers(&state);
        assert_eq!(outcome(state.waiting()).unwrap(), jobs, "{fault:?}");
        outcome(state.withdraw(acme(), JOB)).unwrap();
        assert_eq!(outcome(state.waiting()).unwrap(), 0);
        assert_eq!(used_units(&state), 5);
    }
}

/// Claims a job at a time after [`NOW`], and returns its attempts.
fn attempts(state: &EmbeddedState, later_millis: i64) -> Option<u32> {
    let now = UnixMillis(NOW.0 + later_millis);
    let claim = outcome(state.claim(claimant(), now, LEASE_MILLIS)).unwrap();
    claim.map(|claim| claim.attempts)
}

const LEASE_MILLIS: i64 = 30_000;

/// The runner gives up each claim, and the lease of each would end before the next.
#[test]
fn claims_that_wait_behind_a_stall_are_not_made_for_callers_that_gave_up() {
    let state = open(&Disk::new(1));
    outcome(state.submit(job_without_key())).unwrap();
    let (first, release) = occupy(&state);
    for number in 0..5 {
        let now = UnixMillis(NOW.0 + number * (LEASE_MILLIS + 3_000));
        drop(state.claim(claimant(), now, LEASE_MILLIS));
    }
    release.send(()).unwrap();
    outcome(first).unwrap();
    assert_eq!(attempts(&state, 200_000), Some(1));
}

/// The commit of the claim itself stalls, so that the job is claimed for nobody.
#[test]
fn a_claim_whose_caller_gives_up_during_its_commit_is_given_back() {
    let disk = Disk::new(1);
    let state = open(&disk);
    outcome(state.submit(job_without_key())).unwrap();
    let before = disk.failures();
    disk.arm_on(Files::State, DiskFault::Stall, 0);
    let claimed = state.claim(claimant(), NOW, LEASE_MILLIS);
    let begun = Instant::now();
    while disk.failures() == before {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(claimed);
    disk.lift();
    assert_eq!(attempts(&state, 0), Some(1));
    // The one that was answered holds the job.
    assert_eq!(attempts(&state, 0), None);
}

/// The claim is on the disk or not.
#[test]
fn a_claim_whose_commit_fails_is_given_back() {
    for fault in [DiskFault::Sync, DiskFault::Unconfirmed] {
        for is_log_empty in [false, true] {
            let disk = Disk::new(1);
            let state = open(&disk);
            outcome(state.submit(job_without_key())).unwrap();
            if !is_log_empty {
                outcome(charge(&state)).unwrap();
            }
            disk.arm_on(Files::State, fault, 0);
            assert!(outcome(state.claim(claimant(), NOW, LEASE_MILLIS)).is_err());
            disk.lift();
            until_it_recovers(&state);
            assert_eq!(attempts(&state, 0), Some(1), "{fault:?}");
        }
    }
}

/// The runner gives up each operation, and they are made in their order.
#[test]
fn a_chunk_and_a_lease_that_wait_behind_a_stall_are_finished_and_released() {
    let state = open(&Disk::new(1));
    outcome(state.submit(job_without_key())).unwrap();
    let claim = outcome(state.claim(claimant(), NOW, LEASE_MILLIS))
        .unwrap()
        .unwrap();
    let (first, release) = occupy(&state);
    let results = ChunkResults {
        chunk: 0,
        output: vec![8],
        tally: Tally::default(),
        refund: 1,
    };
    let later = UnixMillis(NOW.0 + 10_000);
    drop(state.renew(claim.lease, NOW, LEASE_MILLIS));
    drop(state.finish_chunk(claim.lease, results, later, LEASE_MILLIS));
    for _ in 0..2 {
        drop(state.release_lease(claim.lease));
    }
    release.send(()).unwrap();
    outcome(first).unwrap();
    let claim = outcome(state.claim(claimant(), NOW, LEASE_MILLIS))
        .unwrap()
        .unwrap();
    assert_eq!((claim.next, claim.attempts), (1, 1));
    assert_eq!(used_units(&state), 3);
}
