//! The state on a disk that fails, and on a real file that is opened anew.

use std::time::{Duration, Instant};

use uuid::Uuid;

use super::EmbeddedState;
use super::disk::{Disk, DiskFault, Files};
use super::source::Source;
use crate::*;

pub(super) const NOW: UnixMillis = UnixMillis(1_800_000_000_000);
pub(super) const JUNE: Month = Month {
    year: 2031,
    month: 6,
};

pub(super) fn open(disk: &Disk) -> EmbeddedState {
    EmbeddedState::open_source(Source::simulated(disk)).unwrap()
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
struct StateView {
    used: u64,
    known: Option<Submission>,
    job: Option<Job>,
    outputs: Vec<Option<Vec<u8>>>,
    waiting: u64,
    tenants: usize,
    paused: bool,
}

pub(super) const JOB: Uuid = Uuid::from_u128(1);

fn key() -> Idempotency {
    Idempotency {
        key: "k".into(),
        digest: [1; 32],
    }
}

fn see(state: &EmbeddedState) -> StateView {
    let output = |chunk| outcome(state.output(acme(), JOB, chunk, NOW)).unwrap();
    StateView {
        used: outcome(state.used(acme(), JUNE)).unwrap(),
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
fn step(state: &EmbeddedState, number: u32, lease: &mut Option<Lease>) -> Result<(), StateError> {
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
        3 => outcome(state.claim(NOW, 60_000)).map(|claim| {
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
fn expected() -> Vec<StateView> {
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
    let expected = expected();
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

/// While nothing can be written, the state still answers from memory.
#[test]
fn a_key_opens_while_the_disk_fails() {
    let disk = Disk::new(5);
    let state = open(&disk);
    state.create_tenant(&acme(), &Plan::default(), NOW).unwrap();
    let new = NewKey {
        tenant: acme(),
        label: String::new(),
        scopes: Scopes::all(),
        requires_metric_selection: false,
        expires_at: None,
    };
    let created = state.create_key(&new, KeySeed::new([1; 40]), NOW).unwrap();
    disk.arm(DiskFault::Sync, 0);
    let lost = state.create_key(&new, KeySeed::new([2; 40]), NOW);
    assert!(matches!(lost, Err(StateError::Storage { .. })));
    let access = state.authenticate(created.secret.expose(), NOW).unwrap();
    assert!(access.into_principal().is_some());
    let reason = state.degradation().unwrap();
    assert!(reason.contains("does not answer"), "{reason}");
    disk.lift();
    until_it_recovers(&state);
    state.create_key(&new, KeySeed::new([3; 40]), NOW).unwrap();
}

/// While nothing can be written, jobs and results that are there can be read.
#[test]
fn a_job_is_read_while_the_disk_fails() {
    let faults = [DiskFault::Full, DiskFault::Sync];
    let files = [Files::Both, Files::State, Files::Log];
    for (fault, files) in faults
        .iter()
        .flat_map(|fault| files.map(|files| (*fault, files)))
    {
        let disk = Disk::new(9);
        let state = open(&disk);
        state.create_tenant(&acme(), &Plan::default(), NOW).unwrap();
        let mut lease = None;
        for number in 0..6 {
            step(&state, number, &mut lease).unwrap();
        }
        // These units are in the log alone, mostly.
        outcome(charge(&state)).unwrap();
        let before = see(&state);
        disk.arm_on(files, fault, 0);
        // The first operation that meets the fault: a charge the log, and a switch the file.
        let granted = outcome(charge(&state)).is_ok();
        assert!(!granted || state.pause_jobs(false).is_err());
        let begun = Instant::now();
        while outcome(state.job(acme(), JOB, NOW)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(20), "{fault:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
        // A charge that failed may be on the disk until it is undone.
        let fallback_view = see(&state);
        let charged = StateView {
            used: before.used + 5,
            ..before.clone()
        };
        assert!(
            fallback_view == charged || (fallback_view == before && !granted),
            "{fault:?} {files:?}: {fallback_view:?}"
        );
        // Over several attempts to open the file for writing.
        for _ in 0..20 {
            assert!(state.degradation().is_some());
            assert_eq!(see(&state), fallback_view, "{fault:?} {files:?}");
            assert!(outcome(charge(&state)).is_err());
            std::thread::sleep(Duration::from_millis(10));
        }
        disk.lift();
        until_it_recovers(&state);
        // Of the switch, nobody knows whether it took effect. Memory reads it from the file now.
        let healed = StateView {
            paused: fallback_view.paused,
            ..see(&state)
        };
        let expected = match granted {
            true => fallback_view,
            false => before,
        };
        assert_eq!(healed, expected, "{fault:?} {files:?}");
        outcome(charge(&state)).unwrap();
    }
}

/// Many charges are in flight while syncs fail now and then. The used units are those granted,
/// although some of the others reached the disk.
#[test]
fn charges_in_flight_are_kept_whole() {
    for round in 0..20 {
        let disk = Disk::new(round);
        let state = open(&disk);
        disk.arm(DiskFault::Sync, u32::try_from(round % 10).unwrap());
        let replies: Vec<_> = (0..200)
            .map(|number| {
                if number % 20 == 0 {
                    std::thread::yield_now();
                }
                charge(&state)
            })
            .collect();
        let granted = replies.into_iter().map(outcome);
        let granted = granted.filter(Result::is_ok).count() as u64 * 5;
        disk.lift();
        until_it_recovers(&state);
        let used = outcome(state.used(acme(), JUNE)).unwrap();
        assert_eq!(used, granted, "{round}");
        drop(state);
        let recovered = outcome(open(&disk.after_a_crash()).used(acme(), JUNE)).unwrap();
        assert_eq!(recovered, used);
    }
}

/// Nobody waits for the file to take over the log, and where it cannot, no operation fails.
#[test]
fn a_log_that_cannot_be_taken_over_is_kept() {
    for fault in [DiskFault::Full, DiskFault::Sync] {
        let disk = Disk::new(11);
        let mut source = Source::simulated(&disk);
        source.take_over_after = Duration::from_millis(50);
        let state = EmbeddedState::open_source(source).unwrap();
        disk.arm_on(Files::State, fault, 0);
        outcome(charge(&state)).unwrap();
        let begun = Instant::now();
        while state.degradation().is_none() {
            assert!(begun.elapsed() < Duration::from_secs(20), "{fault:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(outcome(charge(&state)).is_err());
        let crashed = open(&disk.after_a_crash());
        assert_eq!(outcome(crashed.used(acme(), JUNE)).unwrap(), 5);
        disk.lift();
        until_it_recovers(&state);
        assert_eq!(outcome(state.used(acme(), JUNE)).unwrap(), 5);
        let now = outcome(charge(&state)).unwrap();
        assert_eq!(now, ChargeOutcome::Granted { used: 10 });
    }
}

/// A real file is closed and opened again, and no claim is lost by it.
#[test]
fn a_real_file_is_opened_anew() {
    let directory = tempfile::tempdir().unwrap();
    let state = EmbeddedState::open(&directory.path().join("state.redb")).unwrap();
    outcome(state.submit(new_job())).unwrap();
    let claim = outcome(state.claim(NOW, 60_000)).unwrap().unwrap();
    state.shared.close();
    let refused = outcome(charge(&state));
    assert!(matches!(refused, Err(StateError::Storage { .. })));
    until_it_recovers(&state);
    assert_eq!(outcome(state.used(acme(), JUNE)).unwrap(), 4);
    // The process is the same, so that its lease goes on.
    assert_eq!(outcome(state.claim(NOW, 60_000)).unwrap(), None);
    let lease = outcome(state.renew(claim.lease, NOW, 60_000)).unwrap();
    assert_eq!(lease, LeaseStatus::Held);
}

/// A read that fails is enough to have the file opened anew.
#[test]
fn a_failed_read_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let state = EmbeddedState::open(&directory.path().join("state.redb")).unwrap();
    state.shared.close();
    assert!(outcome(state.used(acme(), JUNE)).is_err());
    let begun = Instant::now();
    while outcome(state.used(acme(), JUNE)).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A sync neither ends nor fails: the state reports it without asking the disk. A blocking caller
/// learns that the outcome of its change is unknown. All goes on when the disk does.
#[test]
fn a_disk_that_stalls_is_trouble_until_it_goes_on() {
    let disk = Disk::new(13);
    let state = open(&disk);
    disk.arm(DiskFault::Stall, 0);
    let begun = Instant::now();
    let charged = charge(&state);
    std::thread::scope(|scope| {
        let switched = scope.spawn(|| state.pause_jobs(true));
        while state.degradation().is_none() {
            assert!(begun.elapsed() < Duration::from_secs(8));
            std::thread::sleep(Duration::from_millis(10));
        }
        let error = switched.join().unwrap().unwrap_err();
        assert!(error.to_string().contains("is unknown"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(15));
    });
    disk.lift();
    assert_eq!(
        outcome(charged).unwrap(),
        ChargeOutcome::Granted { used: 5 }
    );
    until_it_recovers(&state);
    outcome(charge(&state)).unwrap();
}
