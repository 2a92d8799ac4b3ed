//! A degraded state: its answers from memory and the file, and its recovery.

use std::time::{Duration, Instant};

use super::EmbeddedState;
use super::fault_injection_tests::{
    JOB, JUNE, NOW, StateView, acme, charge, new_job, open, outcome, see, step, until_it_recovers,
};
use super::test_disk::{Disk, DiskFault, Files};
use crate::test_support::claimant;
use crate::*;

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
        let used = outcome(state.used_units(acme(), JUNE)).unwrap();
        assert_eq!(used, granted, "{round}");
        drop(state);
        let recovered = outcome(open(&disk.after_a_crash()).used_units(acme(), JUNE)).unwrap();
        assert_eq!(recovered, used);
    }
}

/// Nobody waits for the file to take over the log, and where it cannot, no operation fails.
#[test]
fn a_log_that_cannot_be_taken_over_is_kept() {
    for fault in [DiskFault::Full, DiskFault::Sync] {
        let disk = Disk::new(11);
        let mut source = disk.source();
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
        assert_eq!(outcome(crashed.used_units(acme(), JUNE)).unwrap(), 5);
        disk.lift();
        until_it_recovers(&state);
        assert_eq!(outcome(state.used_units(acme(), JUNE)).unwrap(), 5);
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
    let claim = outcome(state.claim(claimant(), NOW, 60_000))
        .unwrap()
        .unwrap();
    state.shared.close();
    let refused = outcome(charge(&state));
    assert!(matches!(refused, Err(StateError::Storage { .. })));
    until_it_recovers(&state);
    assert_eq!(outcome(state.used_units(acme(), JUNE)).unwrap(), 4);
    // The process is the same, so that its lease goes on.
    assert_eq!(outcome(state.claim(claimant(), NOW, 60_000)).unwrap(), None);
    let lease = outcome(state.renew(claim.lease, NOW, 60_000)).unwrap();
    assert_eq!(lease, LeaseStatus::Held);
}

/// A read that fails is enough to have the file opened anew.
#[test]
fn a_failed_read_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let state = EmbeddedState::open(&directory.path().join("state.redb")).unwrap();
    state.shared.close();
    assert!(outcome(state.used_units(acme(), JUNE)).is_err());
    let begun = Instant::now();
    while outcome(state.used_units(acme(), JUNE)).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A sync neither ends nor fails: the state reports it without asking the disk. A blocking caller
/// learns that the outcome of its change is unknown. All goes on when the disk does.
#[test]
fn a_disk_that_stalls_degrades_the_store_until_it_goes_on() {
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
