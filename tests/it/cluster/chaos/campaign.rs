//! One fault after another, and the proof after each.

use crate::chaos::faults::{ChaosFault, Store};
use crate::chaos::load::Load;
use crate::chaos::nginx;
use crate::chaos::record::{Proved, Record};
use crate::chaos::rig::{Rig, TENANTS};
use crate::chaos::usage::{Comparison, UsageEntries};
use crate::common::client::Client;
use crate::common::seed::SeededRandom;
use crate::crash::expected::read;
use crate::crash::harness::{lock_suite, setting};
use crate::crash::verify::prove;
use std::time::{Duration, Instant};

/// The seed of the few faults of the default tier, and how many those are.
const FIXED_SEED: u64 = 1_086;
const FEW: usize = 3;
/// The longest recovery where every fault comes, and where other tests have the machine too.
const RECOVERY: Duration = Duration::from_secs(30);
const RECOVERY_BESIDE_OTHERS: Duration = Duration::from_secs(90);
/// The longest time until jobs have ended and units are settled, once the service is well.
const SETTLED: Duration = Duration::from_secs(60);

/// The counters at a moment at which nobody works.
#[derive(Debug, Clone, Copy, Default)]
struct Counters {
    answered: u64,
    refused: u64,
    unknown: u64,
    used: u64,
    jobs: usize,
    /// Of all answers so far.
    compared: Comparison,
}

/// Inflicts the faults of a store that were not proved yet.
pub fn run(store: Store) {
    if !nginx::is_installed() {
        println!("skipped: chaos needs Debian's nginx");
        return;
    }
    let _alone = lock_suite();
    let each = setting("DOMESDAY_CHAOS_EACH");
    let seed = setting("DOMESDAY_CHAOS_SEED").unwrap_or_else(|| match each {
        Some(_) => getrandom::u32().unwrap().into(),
        None => FIXED_SEED,
    });
    println!("chaos on {store:?}: DOMESDAY_CHAOS_SEED={seed}");
    let mut plan = plan(store, each.unwrap_or(1), seed);
    if each.is_none() {
        plan.truncate(FEW);
    }
    let mut record = Record::open(store, each.map(|_| seed));
    let bound = each.map_or(RECOVERY_BESIDE_OTHERS, |_| RECOVERY);
    let earlier = record.len();
    if earlier < plan.len() {
        inflict(store, &plan, seed, bound, &mut record);
    }
    record.print(store, seed, earlier);
}

/// Returns every kind as often as that, in an order of this seed.
fn plan(store: Store, each: u64, seed: u64) -> Vec<ChaosFault> {
    let mut random = SeededRandom::new(seed);
    let mut plan = Vec::new();
    for _ in 0..each {
        let mut kinds: Vec<ChaosFault> = ChaosFault::of(store).collect();
        while !kinds.is_empty() {
            plan.push(kinds.swap_remove(random.count(kinds.len()) - 1));
        }
    }
    plan
}

/// Inflicts what the record lacks of a plan.
fn inflict(store: Store, plan: &[ChaosFault], seed: u64, bound: Duration, record: &mut Record) {
    let mut rig = Rig::start(store);
    let (load, mut random) = (Load::default(), SeededRandom::new(seed));
    let (client, keys) = (rig.prober(), rig.keys.clone());
    load.during(&client, &keys, &mut random, || {
        let mut before = Counters::default();
        let done = record.len();
        for (number, &fault) in plan.iter().enumerate().skip(done) {
            if fault == ChaosFault::FullDisk
                && rig
                    .database
                    .as_ref()
                    .is_some_and(|it| !it.has_separate_disk())
            {
                println!("skipped: chaos with a full disk of PostgreSQL needs to mount one");
                continue;
            }
            load.assert_going();
            let mut random = SeededRandom::new(seed.wrapping_mul(1_000_003) + number as u64);
            std::thread::sleep(Duration::from_millis(random.within(200..=800)));
            println!("{number}: {fault:?}");
            let end = fault.inflict(&mut rig, &mut random);
            let recovery = rig.await_well(end.at, bound);
            let after = load.still(SETTLED, || settle(&rig, &load, fault, before));
            record.add(&Proved {
                kind: fault,
                recovery_millis: recovery.as_millis(),
                answered: after.answered - before.answered,
                unknown: after.unknown - before.unknown,
                unknown_used: after.used - before.used - (after.answered - before.answered),
                jobs: after.jobs - before.jobs,
                compared: Comparison {
                    answers: after.compared.answers - before.compared.answers,
                    ..after.compared
                },
                said: end.said,
            });
            before = after;
        }
        load.finish(SETTLED);
    });
    let client = Client::new(rig.front.address, &rig.keys[1]);
    prove(&load.ledger, &[client]);
}

/// Waits until the counters are those of the answers, and returns them.
fn settle(rig: &Rig, load: &Load, fault: ChaosFault, before: Counters) -> Counters {
    let ledger = &load.ledger;
    let begun = Instant::now();
    loop {
        let now = Counters {
            answered: read(&ledger.units),
            refused: read(&ledger.not_kept),
            unknown: read(&ledger.unanswered),
            used: rig.used(TENANTS[0]),
            jobs: ledger.jobs.lock().unwrap().len(),
            compared: Comparison::default(),
        };
        let answered = now.answered - before.answered;
        let mut unknown = now.unknown - before.unknown;
        if fault == ChaosFault::KilledHost {
            // A host that is killed gives back nothing more.
            unknown += now.refused - before.refused;
        }
        let (used, of_jobs) = (now.used.saturating_sub(before.used), ledger.units_of_jobs());
        let used_by_jobs = rig.used(TENANTS[1]);
        let mut found = "the entries were not compared".to_owned();
        if (answered..=answered + unknown).contains(&used) && used_by_jobs == of_jobs {
            // Requests of unknown outcome leave room in the sums, and none in the entries.
            let export = rig.usage_export();
            let [values, jobs] = [TENANTS[0], TENANTS[1]].map(|it| UsageEntries::of(it, &export));
            let compared = values.compare(&ledger.executions.lock().unwrap());
            let compared = compared.plus(jobs.compare(&ledger.units_by_job()));
            let sums = [(values.units(), now.used), (jobs.units(), used_by_jobs)];
            let is_whole = sums
                .iter()
                .all(|&(sum, used)| u64::try_from(sum) == Ok(used));
            if compared.is_exact() && is_whole {
                return Counters { compared, ..now };
            }
            found = format!("{compared}; sums of entries and counters {sums:?}");
        }
        assert!(
            begun.elapsed() < SETTLED,
            "after {fault:?}: {used} units used, {answered} answered and {unknown} of unknown \
             outcome; jobs used {used_by_jobs} of {of_jobs}; {found}: {}",
            rig.logs()
        );
        std::thread::sleep(Duration::from_millis(200));
    }
}
