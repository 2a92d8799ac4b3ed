//! Rows of random programs, each with all that a guest can observe before it.

use super::probe::{
    FUEL, MEMORY, PROBE, Program, SMALL_PROBE, Step, admit_on, admit_with_image, engine_with,
    keeping_probes, probe, read_tracked_memory,
};
use crate::config::Allocation;
use crate::outcome::{Outcome, Row, RowFailure};
use crate::tests::sandbox::common::subject;
use crate::{Limits, Release};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns a number below a bound.
fn below(random: &mut ChaCha8Rng, bound: u32) -> i32 {
    i32::try_from(random.next_u32() % bound).unwrap()
}

fn random_step(random: &mut ChaCha8Rng) -> Step {
    let memory = u32::try_from(MEMORY).unwrap();
    match random.next_u32() % 42 {
        // Some lie beside the memory.
        0..=19 => Step::Write(below(random, 1_320_000), f64::from(random.next_u32())),
        20 => Step::Write(786_424, f64::NAN),
        21 => Step::Write(4_092, -1.0),
        22 => Step::Grow(below(random, 4)),
        23 => Step::Grow(below(random, memory)),
        24 => Step::Trap,
        25 => Step::LoopForEver,
        26..=28 => Step::SetGlobals(f64::from(random.next_u32()) - 2e9),
        29 => Step::Fill(7, below(random, 1_400_000)),
        30..=32 => Step::WriteSegment(below(random, 262_144)),
        33..=35 => Step::Copy,
        36 => Step::Dig,
        37..=38 => Step::CallElement(below(random, 5)),
        39 => Step::AnswerNonsense,
        40 => Step::Fill(9, below(random, 20_000)),
        _ => Step::AnswerBesideMemory,
    }
}

fn value(release: &Release, bedrooms: u32, program: &[Step]) -> Row {
    let evidence = Arc::new(Program(program.to_vec()));
    release.value(&Arc::new(subject(bedrooms)), evidence)
}

/// What a row shows to its caller.
fn observation(row: &Row) -> (Result<f64, RowFailure>, u64, u64, u32) {
    let outcome = match &row.outcome {
        Ok(Outcome::Valued(valuation)) => Ok(valuation.estimate),
        Ok(other) => panic!("{other:?}"),
        Err(failure) => Err(failure.clone()),
    };
    let cost = row.cost;
    (outcome, cost.fuel, cost.memory_bytes, cost.questions)
}

/// The memory, the globals and the tables of a kept instance are those of a new one, whatever ran
/// before. Its rows have the same fuel and the same failures.
#[test]
fn no_guest_can_tell_a_kept_instance_from_a_new_one() {
    let fresh = probe(Allocation::OnDemand);
    for kept in keeping_probes() {
        let (ends, kept_rows) = compare_random_rows(&[(&kept, &fresh)]);
        // The programs end in all ways, and most instances served several rows.
        for end in [
            "valued",
            "Trapped",
            "FuelSpent",
            "LimitReached",
            "InvalidOutcome",
        ] {
            assert!(ends.contains_key(end), "{end}: {ends:?}");
        }
        assert!(kept_rows > 200, "{kept_rows}");
    }
}

/// Four releases take turns in the three slots of one engine, which keeps one instance.
#[test]
fn no_guest_can_tell_a_slot_of_another_release_from_a_new_one() {
    let Some(runtime) = engine_with(1, |_| {}) else {
        return;
    };
    let limits = Limits::new(FUEL, MEMORY);
    let components = [&*PROBE, &*SMALL_PROBE];
    let fresh = components.map(|component| admit_on(Allocation::OnDemand, component));
    let kept = [0, 1, 0, 1].map(|one| admit_with_image(&runtime, components[one], limits));
    let pairs: Vec<_> = kept.iter().zip(fresh.iter().cycle()).collect();
    let (_, kept_rows) = compare_random_rows(&pairs);
    assert!(kept_rows > 20, "{kept_rows}");
    if !runtime.kept.is_some_and(|kept| kept.tracks_writes()) {
        return;
    }
    // A release that runs alone leaves its slot tracked, and another one takes it over.
    let mut places = Vec::new();
    for release in kept.iter().chain(&kept) {
        for _ in 0..2 {
            let row = value(release, 3, &[]);
            assert!(row.outcome.is_ok(), "{:?}", row.outcome);
        }
        places.push(read_tracked_memory(release, |memory| {
            memory.as_ptr().addr()
        }));
    }
    places.sort_unstable();
    places.dedup();
    assert!(places.len() < kept.len(), "{places:?}");
}

/// Runs rows of random programs, each in one of some releases that keep instances, and in one that
/// does not. Returns how often they ended in each way, and the rows in kept instances.
fn compare_random_rows(pairs: &[(&Release, &Release)]) -> (BTreeMap<String, u32>, u32) {
    let (mut ends, mut kept_rows) = (BTreeMap::new(), 0);
    for seed in 0..60 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for row in 0..12 {
            let (kept, fresh) = pairs[random.next_u32() as usize % pairs.len()];
            let steps = random.next_u32() % 7;
            let program: Vec<_> = (0..steps).map(|_| random_step(&mut random)).collect();
            let bedrooms = random.next_u32() % 6;
            let (found, expected) = (
                observation(&value(kept, bedrooms, &program)),
                observation(&value(fresh, bedrooms, &program)),
            );
            assert_eq!(found, expected, "seed {seed}, row {row}: {program:?}");
            let end = match &found.0 {
                Ok(_) => "valued".to_owned(),
                Err(failure) => format!("{failure:?}")
                    .split([' ', '{'])
                    .next()
                    .unwrap()
                    .to_owned(),
            };
            *ends.entry(end).or_insert(0) += 1;
            let instances = kept.kept.as_ref().unwrap();
            if let Some(instance) = instances.take() {
                kept_rows += u32::from(instance.rows > 1);
                instances.all.idle.add(instances.key, instance);
            }
        }
    }
    println!("{ends:?}, {kept_rows} rows in kept instances");
    (ends, kept_rows)
}

/// Without the reset a guest would see it: the probe observes what a row wrote.
#[test]
fn the_probe_observes_each_kind_of_change() {
    for release in keeping_probes() {
        observe_each_kind_of_change(&release);
    }
}

fn observe_each_kind_of_change(release: &Release) {
    let instances = release.kept.as_ref().unwrap();
    let observed = |row: Row| observation(&row).0.unwrap();
    let first = observed(value(release, 3, &[]));
    for change in [
        Step::Write(786_424, 1.0),
        Step::SetGlobals(1.0),
        Step::WriteSegment(200_000),
        Step::Copy,
    ] {
        assert_eq!(observed(value(release, 3, &[change])), first);
        assert_eq!(observed(value(release, 3, &[])), first, "{change:?}");
        // The same rows in an instance that is not set back.
        let mut instance = instances.take().unwrap();
        let evidence = Arc::new(Program(vec![change]));
        let mut run = |evidence: Arc<Program>| {
            let subject = Arc::new(subject(3));
            let state = release.row_state(&subject, evidence, release.row_time());
            release.limit(&mut instance.store, release.row_time());
            instance.begin(state, release.limits.fuel_per_row).unwrap();
            let answer = release.call(&mut instance.store, instance.value, &subject);
            observed(release.end_row(&mut instance.store, answer))
        };
        assert_eq!(run(evidence), first);
        assert_ne!(run(Arc::new(Program(Vec::new()))), first, "{change:?}");
    }
}
