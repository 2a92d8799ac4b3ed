use super::*;
use crate::embedded::counts::{StoredEntry, difference};
use crate::embedded::file;
use crate::embedded::group_commit::{GroupTask, apply};
use crate::embedded::operation::{Operation, Work};
use crate::embedded::test_disk::{Disk, DiskFault, Files};
use crate::embedded::usage_entries::read_entries;
use crate::test_support::capture_log;
use crate::{Month, TenantId, UnixMillis, UsageKind, UsageQuery, UsageSource};
use uuid::Uuid;

const JUNE: Month = Month {
    year: 2031,
    month: 6,
};

fn tenant(number: u64) -> TenantId {
    format!("tenant-{number}").parse().unwrap()
}

/// An open state without its threads.
struct TestStore {
    files: OpenFiles,
    wal: UsageWal,
}

fn open(disk: &Disk) -> Result<TestStore, StateError> {
    let source = disk.source();
    let database = file::open(&source)?;
    let found = FoundLog::read(&source, open_writable_log(&source)?, &database)?;
    let (wal, _) = found.take_over(&database, "openings")?;
    Ok(TestStore {
        files: OpenFiles::new(database, LogCounts::begin(wal.position().epoch)),
        wal,
    })
}

impl TestStore {
    /// Sets the counts of as many tenants, and says whether the log took them.
    fn set(&mut self, tenants: u64, used: u64) -> bool {
        self.set_with(UsageSource::without_request(JUNE), tenants, used)
    }

    /// Sets the counts as [`TestStore::set`] does, with entries of this source.
    fn set_with(&mut self, source: UsageSource, tenants: u64, used: u64) -> bool {
        let run = move |tables: &mut Tables<'_>| {
            for number in 0..tenants {
                let before = tables.used_units(&tenant(number), JUNE)?;
                let units = difference(used, before);
                let entry = StoredEntry::new(source, units);
                tables.change_used(&tenant(number), JUNE, used, entry);
            }
            Ok(())
        };
        let work = Box::new(Operation::new(run, drop));
        self.apply(&mut [work], GroupTask::Nothing);
        !self.wal.log.is_empty()
    }

    fn apply(&mut self, group: &mut [Box<dyn Work>], task: GroupTask) {
        apply(&self.files, &mut self.wal, group, task, 1).unwrap();
    }
}

fn query(number: u64) -> UsageQuery {
    UsageQuery {
        month: JUNE,
        tenant: Some(tenant(number)),
        after: None,
        limit: usize::MAX,
    }
}

/// Returns the units that the next opening finds.
fn used_units(disk: &Disk, number: u64) -> u64 {
    let hand = open(&disk.after_a_crash()).unwrap();
    let used = hand.files.used_units(tenant(number), JUNE).unwrap();
    let page = read_entries(&hand.files, query(number)).unwrap();
    let entries: i64 = page.entries.iter().map(|entry| entry.units).sum();
    assert_eq!(entries, difference(used, 0));
    used
}

#[test]
fn a_full_log_is_taken_over() {
    let disk = Disk::new(1);
    let mut hand = open(&disk).unwrap();
    let mut in_file = Vec::new();
    for number in 1..=600 {
        if !hand.set(1, number) {
            in_file.push(number);
            assert_eq!(used_units(&disk.without_log(), 0), number);
        }
        if number % 50 == 0 {
            assert_eq!(used_units(&disk, 0), number);
        }
    }
    assert_eq!(in_file, [257, 514]);
    assert_eq!(used_units(&disk, 0), 600);
}

#[test]
fn each_unit_of_the_log_has_its_entry_after_a_crash() {
    let disk = Disk::new(7);
    let mut hand = open(&disk).unwrap();
    for request in 1..=3 {
        let source = UsageSource {
            kind: UsageKind::Value,
            id: Uuid::from_u128(request.into()),
            at: UnixMillis(1_900_000_000_000),
        };
        assert!(hand.set_with(source, 1, request));
        let page = read_entries(&open(&disk.after_a_crash()).unwrap().files, query(0)).unwrap();
        let ids: Vec<u128> = (page.entries.iter())
            .map(|entry| entry.source.id.as_u128())
            .collect();
        assert_eq!(ids, (1..=u128::from(request)).collect::<Vec<_>>());
    }
}

#[test]
fn a_group_of_more_tenants_than_a_block_holds_goes_to_the_file() {
    let disk = Disk::new(2);
    let mut hand = open(&disk).unwrap();
    assert!(hand.set(10, 1));
    assert!(!hand.set(4_000, 2));
    assert_eq!(used_units(&disk.without_log(), 3_999), 2);
    assert_eq!(used_units(&disk, 5), 2);
    // Earlier blocks of the log count no more.
    assert!(hand.set(1, 3));
    assert_eq!((used_units(&disk, 0), used_units(&disk, 5)), (3, 2));
}

/// The fault begins at the n-th write or sync of an opening, for every n. Whatever the opening had
/// done by then, the next one finds every count once. This holds after a loss of power at that
/// moment, too.
#[test]
fn an_opening_that_fails_at_any_moment_loses_nothing() {
    let begun = Disk::new(3);
    let mut hand = open(&begun).unwrap();
    for used in 1..=3 {
        hand.set(2, used);
    }
    let mut met = 0;
    for fault in [DiskFault::Full, DiskFault::Sync] {
        for files in [Files::Both, Files::State, Files::Log] {
            for after in 0.. {
                let disk = begun.after_a_crash();
                disk.arm_on(files, fault, after);
                let opened = open(&disk).is_ok();
                let crashed = disk.after_a_crash();
                disk.lift();
                for disk_copy in [&crashed, &disk] {
                    assert_eq!(used_units(disk_copy, 1), 3, "{fault:?} {files:?} {after}");
                    // A charge after it adds to the earlier units.
                    let mut hand = open(disk_copy).unwrap();
                    hand.set(1, 9);
                    assert_eq!((used_units(disk_copy, 0), used_units(disk_copy, 1)), (9, 3));
                }
                if opened {
                    break;
                }
                met += 1;
            }
        }
    }
    assert!(met > 10, "{met}");
}

/// A backup of the file alone, put back beside the log of later days, keeps its own counts.
#[test]
fn an_older_file_beside_a_later_log_keeps_its_counts() {
    let disk = Disk::new(4);
    for day in 1..=3 {
        let mut hand = open(&disk).unwrap();
        hand.set(1, day * 10);
        hand.apply(&mut [], GroupTask::TakeOver);
        assert!(hand.wal.log.is_empty());
    }
    let backup = disk.after_a_crash();
    for day in 4..=6 {
        let mut hand = open(&disk).unwrap();
        assert!(hand.set(1, day * 10));
        assert!(hand.set(1, day * 10 + 1));
    }
    let mixed = backup.with_log_of(&disk);
    for _ in 0..5 {
        // Each opening begins an epoch, and none of them meets the later days.
        assert_eq!(used_units(&mixed, 0), 30);
        drop(open(&mixed).unwrap());
    }
    let mut hand = open(&mixed).unwrap();
    assert!(hand.set(1, 31));
    assert_eq!(used_units(&mixed, 0), 31);
}

#[test]
fn jobs_can_be_read_aside_without_the_log() {
    let disk = Disk::new(5);
    let mut hand = open(&disk).unwrap();
    for used in 1..=3 {
        hand.set(1, used);
    }
    let whole = open_read_only(&disk.after_a_crash().source()).unwrap();
    assert_eq!(whole.used_units(tenant(0), JUNE).unwrap(), 3);
    let damaged = disk.after_a_crash();
    damaged.damage_log();
    let files = open_read_only(&damaged.source()).unwrap();
    let error = files.used_units(tenant(0), JUNE).unwrap_err();
    assert!(error.to_string().contains("simulated.usage"), "{error}");
    assert!(files.database.begin_read().is_ok());
    let error = open(&damaged).err().unwrap();
    assert!(matches!(error, StateError::DamagedLog { block: 0, .. }));
}

/// A new state has no log yet. One that was used before may have lost the units of its log.
#[test]
fn an_opening_warns_of_a_log_that_is_missing() {
    let disk = Disk::new(6);
    let warns = |disk: &Disk| {
        let messages = capture_log(|| drop(open(disk).unwrap()));
        let mut messages = messages.iter();
        messages.any(|message| message.contains("missing or cut short"))
    };
    assert!(!warns(&disk));
    assert!(!warns(&disk));
    assert!(warns(&disk.without_log()));
}
