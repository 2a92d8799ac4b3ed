//! A disk that fails at any moment of a job's life.

use std::time::{Duration, Instant};

use uuid::Uuid;

use super::EmbeddedState;
use super::test_disk::{Disk, DiskFault, Files};
use crate::test_support::{REQUEST, claimant, read_ledger};
use crate::*;

pub(super) const NOW: UnixMillis = UnixMillis(1_800_000_000_000);
pub(super) const JUNE: Month = Month {
    year: 2031,
    month: 6,
};

pub(super) fn open(disk: &Disk) -> EmbeddedState {
    EmbeddedState::open_source(disk.source()).unwrap()
}

pub(super) fn acme() -> TenantId {
    "acme".parse().unwrap()
}

pub(super) fn outcome<T>(reply: Reply<T>) -> Result<T, StateError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(reply)
}

/// The contents of the state, as one value to compare.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StateView {
    pub(super) used: u64,
    pub(super) known: Option<Submission>,
    pub(super) job: Option<Job>,
    pub(super) outputs: Vec<Option<Vec<u8>>>,
    pub(super) waiting: u64,
    pub(super) tenants: usize,
    pub(super) paused: bool,
}

pub(super) const JOB: Uuid = Uuid::from_u128(1);

fn key() -> Idempotency {
    Idempotency {
        key: "k".into(),
        digest: [1; 32],
    }
}

pub(super) fn see(state: &EmbeddedState) -> StateView {
    let entries = read_ledger(state, &acme(), JUNE);
    let attributed = |entry: &UsageEntry| entry.source.kind != UsageKind::Unattributed;
    assert!(entries.iter().all(attributed), "{entries:?}");
    let output = |chunk| outcome(state.output(acme(), JOB, chunk, NOW)).unwrap();
    StateView {
        used: outcome(state.used_units(acme(), JUNE)).unwrap(),
        known: outcome(state.find_submission(acme(), key(), NOW)).unwrap(),
        job: outcome(state.job(acme(), JOB, NOW)).unwrap(),
        outputs: (0..2).map(output).collect(),
        waiting: outcome(state.waiting()).unwrap(),
        tenants: state.tenants().unwrap().len(),
        paused: state.jobs_paused(),
    }
}

pub(super) fn charge(state: &EmbeddedState) -> Reply<ChargeOutcome> {
    state.charge(Charge {
        tenant: acme(),
        month: JUNE,
        units: 5,
        allowance: 1_000,
        source: REQUEST,
    })
}

pub(super) fn new_job() -> NewJob {
    let chunk = NewChunk {
        rows: 2,
        units: 2,
        input: vec![7; 20_000],
    };
    NewJob {
        id: JOB,
        tenant: acme(),
        mode: JobMode::Simple,
        release_id: "release".into(),
        shared: b"shared".to_vec(),
        chunks: vec![chunk.clone(), chunk],
        idempotency: Some(key()),
        month: JUNE,
        allowance: 1_000,
        queued_jobs: 5,
        stored_bytes: 1 << 20,
        now: NOW,
    }
}

/// Runs one step of a job's life among other changes, or returns the store's error.
pub(super) fn step(
    state: &EmbeddedState,
    number: u32,
    lease: &mut Option<Lease>,
) -> Result<(), StateError> {
    let finish = |lease: Option<Lease>, chunk| match lease {
        Some(lease) => {
            let results = ChunkResults {
                chunk,
                output: vec![8; 9_000],
                tally: Tally::default(),
                refund: 1,
            };
            outcome(state.finish_chunk(lease, results, NOW, 60_000)).map(drop)
        }
        None => Ok(()),
    };
    match number {
        0 => outcome(charge(state)).map(drop),
        1 => outcome(state.submit(new_job())).map(drop),
        2 => {
            let other: TenantId = "other".parse().unwrap();
            match state.create_tenant(&other, &Plan::default(), NOW) {
                Err(StateError::TenantExists { .. }) | Ok(_) => Ok(()),
                Err(error) => Err(error),
            }
        }
        3 => outcome(state.claim(claimant(), NOW, 60_000)).map(|claim| {
            *lease = claim.map(|claim| claim.lease);
        }),
        4 => finish(*lease, 0),
        5 => state.pause_jobs(true),
        6 => finish(*lease, 1),
        _ => outcome(charge(state)).map(drop),
    }
}

const STEPS: u32 = 8;

pub(super) fn until_it_recovers(state: &EmbeddedState) {
    let begun = Instant::now();
    while let Some(reason) = state.degradation() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{reason}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Runs the steps without any fault, and returns the view after each.
fn expected_views() -> Vec<StateView> {
    let disk = Disk::new(1);
    let state = open(&disk);
    state.create_tenant(&acme(), &Plan::default(), NOW).unwrap();
    let mut lease = None;
    let mut views = vec![see(&state)];
    for number in 0..STEPS {
        step(&state, number, &mut lease).unwrap();
        views.push(see(&state));
    }
    let last = views.last().unwrap();
    assert_eq!((last.used, last.waiting, last.tenants), (12, 0, 2));
    views
}

/// Begins the fault at the n-th write or sync, for every n until it comes too late. The step that
/// meets the fault fails at once, and the state reports that it is degraded. The state heals by
/// itself once the fault is over. It then holds all of that step or nothing of it, as it does after
/// a crash at that moment.
fn every_fault(files: Files, fault: DiskFault, least: u32) {
    let expected = expected_views();
    let mut met = 0;
    for after in 0.. {
        let disk = Disk::new(u64::from(after) * 7_919 + 3);
        let state = open(&disk);
        state.create_tenant(&acme(), &Plan::default(), NOW).unwrap();
        disk.arm_on(files, fault, after);
        let (mut lease, mut failed_step) = (None, None);
        for number in 0..STEPS {
            let before = &expected[number as usize];
            let then = &expected[number as usize + 1];
            let Err(error) = step(&state, number, &mut lease) else {
                assert_eq!(&see(&state), then, "{fault:?} {after}");
                continue;
            };
            assert!(matches!(error, StateError::Storage { .. }), "{error}");
            assert!(state.degradation().is_some(), "{fault:?} {after}");
            assert!(outcome(charge(&state)).is_err());
            let crashed = see(&open(&disk.after_a_crash()));
            assert!(crashed == *before || crashed == *then, "{crashed:?}");
            disk.lift();
            until_it_recovers(&state);
            let healed = see(&state);
            assert!(
                healed == *before || healed == *then,
                "{fault:?} {after}: {healed:?}"
            );
            // The steps that charge alone.
            let is_charge = number == 0 || number == STEPS - 1;
            assert!(!is_charge || healed == *before, "{fault:?} {after}");
            if healed == *before {
                step(&state, number, &mut lease).unwrap();
                assert_eq!(&see(&state), then, "{fault:?} {after}");
            } else if number == 3 {
                // The claim took effect without a reply, and was given back.
                step(&state, number, &mut lease).unwrap();
                assert!(lease.is_some(), "{fault:?} {after}");
            }
            failed_step = Some(number);
        }
        let last = see(&state);
        let mut expected_last = expected[STEPS as usize].clone();
        // Times of a claim that was repeated are its own.
        if let (Some(expected), Some(last)) = (&mut expected_last.job, &last.job) {
            expected.updated_at = last.updated_at;
        }
        assert_eq!(last, expected_last, "{fault:?} {after}");
        drop(state);
        assert_eq!(see(&open(&disk.after_a_crash())), last);
        if failed_step.is_none() {
            break;
        }
        met += 1;
    }
    assert!(met >= least, "only {met} faults were met");
}

#[test]
fn a_disk_that_is_full_at_any_moment_loses_nothing() {
    every_fault(Files::Both, DiskFault::Full, 6);
}

#[test]
fn a_sync_that_fails_at_any_moment_loses_nothing() {
    every_fault(Files::Both, DiskFault::Sync, 6);
}

/// The disk has the step that failed.
#[test]
fn a_sync_that_fails_though_the_disk_has_its_writes_loses_nothing() {
    every_fault(Files::Both, DiskFault::Unconfirmed, 6);
    every_fault(Files::Log, DiskFault::Unconfirmed, 2);
    every_fault(Files::State, DiskFault::Unconfirmed, 6);
}

/// The two steps that charge alone write a block each.
#[test]
fn a_log_that_fails_at_any_moment_loses_nothing() {
    every_fault(Files::Log, DiskFault::Full, 2);
    every_fault(Files::Log, DiskFault::Sync, 2);
}

#[test]
fn a_state_that_fails_at_any_moment_under_a_sound_log_loses_nothing() {
    every_fault(Files::State, DiskFault::Full, 6);
    every_fault(Files::State, DiskFault::Sync, 6);
}
