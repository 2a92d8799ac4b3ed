//! Which instances are kept, and what they hold.

use super::probe::{
    FUEL, MEMORY, PROBE, Program, Step, admit_with_image, engine_with, engine_without_tracking,
    keeping_engine, keeping_probe, probe, read_tracked_memory,
};
use super::write_tracking;
use crate::config::Allocation;
use crate::kept_instance::MAX_ROWS;
use crate::kept_instance::page_map::MAX_PAGES;
use crate::outcome::RowFailure;
use crate::tests::sandbox::common::subject;
use crate::{KernelFeature, Limits, Release};
use rustix::param::page_size;
use std::sync::{Arc, Barrier};
use std::time::Duration;

fn run(release: &Release, steps: &[Step]) -> Option<RowFailure> {
    let evidence = Arc::new(Program(steps.to_vec()));
    let row = release.value(&Arc::new(subject(3)), evidence);
    row.outcome.err()
}

/// Counts the idle instances of a release, and the rows of the last one.
fn idle(release: &Release) -> (usize, Option<u32>) {
    let instances = release.kept.as_ref().unwrap();
    let all: Vec<_> = std::iter::from_fn(|| instances.take()).collect();
    let found = (all.len(), all.first().map(|instance| instance.rows));
    for instance in all.into_iter().rev() {
        instances.all.idle.add(instances.key, instance);
    }
    found
}

#[test]
fn rows_one_after_another_share_an_instance() {
    let Some(release) = keeping_probe() else {
        return;
    };
    for rows in 1..=5 {
        assert_eq!(run(&release, &[Step::Write(8, 1.0)]), None);
        assert_eq!(idle(&release), (1, Some(rows)));
    }
}

#[test]
fn a_failed_row_ends_its_instance() {
    let Some(release) = keeping_probe() else {
        return;
    };
    for step in [
        Step::Trap,
        Step::LoopForEver,
        Step::Dig,
        Step::CallElement(0),
        Step::Grow(1_000),
        Step::AnswerBesideMemory,
        Step::AnswerNonsense,
    ] {
        assert_eq!(run(&release, &[]), None);
        assert!(run(&release, &[step]).is_some(), "{step:?}");
        assert_eq!(idle(&release), (0, None), "{step:?}");
    }
    let limits = Limits::new(u64::MAX / 2, MEMORY);
    let runtime = keeping_engine().unwrap();
    let release = admit_with_image(&runtime, &PROBE, limits);
    assert_eq!(run(&release, &[]), None);
    assert_eq!(idle(&release).0, 1);
    let endless = Arc::new(Program(vec![Step::LoopForEver]));
    let time = Duration::from_millis(30);
    let row = release.value_within(&Arc::new(subject(3)), endless, time);
    assert_eq!(row.outcome, Err(RowFailure::OutOfTime));
    assert_eq!(idle(&release), (0, None));
}

#[test]
fn a_row_that_grew_its_memory_or_wrote_much_of_it_ends_its_instance() {
    let Some(release) = keeping_probe() else {
        return;
    };
    assert_eq!(run(&release, &[]), None);
    assert_eq!(run(&release, &[Step::Grow(1)]), None);
    assert_eq!(idle(&release), (0, None));
    let most = i32::try_from(MAX_PAGES * page_size()).unwrap();
    assert_eq!(run(&release, &[Step::Fill(7, most / 2)]), None);
    assert_eq!(idle(&release), (1, Some(1)));
    assert_eq!(run(&release, &[Step::Fill(7, most)]), None);
    assert_eq!(idle(&release), (0, None));
}

#[test]
fn an_instance_ends_after_its_most_rows() {
    let Some(release) = keeping_probe() else {
        return;
    };
    let instances = release.kept.as_ref().unwrap();
    assert_eq!(run(&release, &[]), None);
    let mut instance = instances.take().unwrap();
    instance.rows = MAX_ROWS - 2;
    instances.all.idle.add(instances.key, instance);
    assert_eq!(run(&release, &[]), None);
    assert_eq!(idle(&release), (1, Some(MAX_ROWS - 1)));
    assert_eq!(run(&release, &[]), None);
    assert_eq!(idle(&release), (0, None));
}

/// To copy a memory maps all its pages, which each later look at it would find.
#[test]
fn the_instance_whose_memory_was_copied_serves_one_row() {
    let Some(runtime) = keeping_engine() else {
        return;
    };
    let release = runtime.admit(&PROBE, Limits::new(FUEL, MEMORY)).unwrap();
    assert_eq!(run(&release, &[]), None);
    assert_eq!(idle(&release), (0, None));
    assert_eq!(run(&release, &[]), None);
    assert_eq!(idle(&release), (1, Some(1)));
}

/// Earlier resets look at the whole memory, and later ones at what was written since.
#[test]
fn the_writes_to_an_instance_are_tracked_after_some_rows() {
    let (Some(release), Some(_)) = (keeping_probe(), write_tracking::open()) else {
        return;
    };
    let written = [20, 30, 40].map(|page| {
        let address = i32::try_from(page * page_size()).unwrap();
        assert_eq!(run(&release, &[Step::Write(address, 1.0)]), None);
        let map = &release.kept.as_ref().unwrap().all.page_map;
        let runs = read_tracked_memory(&release, |memory| map.tracked_pages(memory)).unwrap();
        [20, 30, 40].map(|page| {
            let first = page * page_size();
            runs.iter().any(|run| run.bytes.contains(&first))
        })
    });
    let expected = [[false; 3], [false, true, false], [false, true, true]];
    assert_eq!(written, expected);
}

#[test]
fn an_instance_that_serves_few_rows_is_not_tracked() {
    let runtime = engine_with(2, |kept| {
        assert_eq!(kept.tracked_from, 1);
        kept.tracked_from = 3;
    });
    let Some(runtime) = runtime else { return };
    let release = admit_with_image(&runtime, &PROBE, Limits::new(FUEL, MEMORY));
    let instances = release.kept.as_ref().unwrap();
    let tracked = [1, 2, 3, 4].map(|_| {
        assert_eq!(run(&release, &[]), None);
        let instance = instances.take().unwrap();
        let is_tracked = instance.is_tracked;
        instances.all.idle.add(instances.key, instance);
        is_tracked
    });
    let can_track = instances.all.tracks_writes();
    assert_eq!(tracked, [false, false, can_track, can_track]);
}

#[test]
fn an_idle_instance_holds_no_home_and_no_evidence() {
    let Some(release) = keeping_probe() else {
        return;
    };
    let (subject, evidence) = (Arc::new(subject(3)), Arc::new(Program(Vec::new())));
    assert!(release.value(&subject, evidence.clone()).outcome.is_ok());
    assert_eq!(idle(&release).0, 1);
    assert_eq!(Arc::strong_count(&subject), 1);
    assert_eq!(Arc::strong_count(&evidence), 1);
}

#[test]
fn a_release_takes_its_instances_along_when_it_goes() {
    let Some(runtime) = keeping_engine() else {
        return;
    };
    let admit = || admit_with_image(&runtime, &PROBE, Limits::new(FUEL, MEMORY));
    let (first, second) = (admit(), admit());
    for release in [&first, &second] {
        assert_eq!(run(release, &[]), None);
    }
    let (all, key) = {
        let instances = first.kept.as_ref().unwrap();
        (instances.all.clone(), instances.key)
    };
    drop(first);
    assert!(all.idle.take(key).is_none());
    assert_eq!(idle(&second), (1, Some(1)));
}

/// More releases than there are slots take turns, and none is refused one.
#[test]
fn idle_instances_leave_each_release_its_slots() {
    let Some(runtime) = keeping_engine() else {
        return;
    };
    let limits = Limits::new(FUEL, MEMORY);
    let releases: Vec<_> = (0..5)
        .map(|_| runtime.admit(&PROBE, limits).unwrap())
        .collect();
    let together = Barrier::new(2);
    let rows = || {
        let releases = releases.iter().cycle().take(40);
        let ends = releases.map(|release| {
            together.wait();
            run(release, &[])
        });
        ends.collect::<Vec<_>>()
    };
    let ends = std::thread::scope(|scope| {
        let threads = [scope.spawn(rows), scope.spawn(rows)];
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(ends.concat(), vec![None; 80]);
}

#[test]
fn an_engine_names_the_feature_of_the_kernel_that_it_lacks() {
    let (Some(mut runtime), Some(_)) = (keeping_engine(), write_tracking::open()) else {
        return;
    };
    assert_eq!(runtime.find_missing_feature(), None);
    runtime = engine_without_tracking().unwrap();
    let missing = Some(KernelFeature::WriteTracking);
    assert_eq!(runtime.find_missing_feature(), missing);
    runtime.kept = None;
    assert_eq!(runtime.find_missing_feature(), Some(KernelFeature::PageMap));
}

#[test]
fn only_an_engine_with_slots_keeps_instances() {
    let Some(release) = keeping_probe() else {
        return;
    };
    assert!(release.kept.is_some());
    assert!(probe(Allocation::OnDemand).kept.is_none());
}
